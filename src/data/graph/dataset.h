// SPDX-License-Identifier: Apache-2.0
// Datasets: an immutable graph of sources and transformations, and the iterators over it. To add a
// kind: one file in sources/ or transformations/ that ends in its descriptor `const struct
// stk_dataset_kind stk_dataset_<name>`, and one line X(<name>) in datasets.def.
//
// An iterator is pulled, block by block: `next` gives 1 to `want` elements; 0 is the end. It is
// called by one thread at a time. Stages that run beside their consumer (prefetch, parallel map,
// interleave) own threads; their inputs are then pulled by those.
//
// Errors are elements: a status other than STK_OK says that the next element could not be made, and
// the call after that goes on behind it (or is the end, where the source cannot go on). A kind's
// `next` may return a block and a status together: the elements before the bad one.
//
// Order and chance. With the same seed the same elements come, whatever the number of threads: a
// random stage takes its bits from (it->seed, index of the element at its input).
//
// Resuming. The state of an iterator is how many elements it has given (and its seed): `skip`
// passes over elements as cheaply as the kind can, which for indexed sources is no work at all.
// Where elements had failed, positions of what is cheaply passed over and of what was given could
// differ: then (run->pulls_to_skip) skipping makes the elements again.
#ifndef STK_DATA_DATASET_H
#define STK_DATA_DATASET_H

#include <pthread.h>

#include "data/graph/arg.h"
#include "data/graph/fn.h"

#define STK_INFINITE (-1)
#define STK_CARDINALITY_UNKNOWN (-2)

struct stk_dataset;
struct stk_iter;
struct stk_run;

struct stk_dataset_kind {
    const char *name, *summary;
    const struct stk_arg_row *args; // ends with a NULL name
    int n_in_min, n_in_max;         // input datasets; -1: any number
    // Checks the arguments and makes ds->specs. Attributes may be BOUND (see attr.h): then take
    // what is unknown for unknown.
    enum stk_status (*infer)(struct stk_dataset *ds, struct stk_err *err);
    int64_t (*cardinality)(const struct stk_dataset *ds);
    size_t state_bytes; // of it->state, zeroed
    bool opens_inputs;  // open does it itself (repeat, concatenate, flat_map); else it->in are open
    enum stk_status (*open)(struct stk_iter *it, struct stk_err *err); // may be NULL
    enum stk_status (*next)(struct stk_iter *it, int64_t want, struct stk_block *out,
                            struct stk_err *err);
    // Passes over up to n elements; *done may be less only at the end. NULL: pulls and drops them.
    enum stk_status (*skip)(struct stk_iter *it, int64_t n, int64_t *done, struct stk_err *err);
    // Random access: elements of the given positions, in that order. NULL: there is none. With
    // `has_at` NULL it is there for every dataset of the kind.
    bool (*has_at)(const struct stk_dataset *ds);
    enum stk_status (*at)(struct stk_iter *it, const int64_t *index, int64_t n,
                          struct stk_block *out, struct stk_err *err);
    void (*close)(struct stk_iter *it);     // after a failed open, too; joins its threads
    void (*forget)(struct stk_dataset *ds); // ends ds->shared; may be NULL
};

struct stk_dataset {
    int refs; // atomic
    const struct stk_dataset_kind *kind;
    struct stk_attrs *attrs;
    int n_in;
    struct stk_dataset **in;
    struct stk_specs *specs; // of its elements
    int64_t seed;            // given by the user, or -1
    char *where;             // source line that made it; NULL: unknown
    void *shared;            // what its iterators share (a cache); the kind's affair; atomic
    // Of what a rewrite made (data/graph/rewrite.h):
    // Stages taken out between it and its first input, which keeps their path. -1 (the attribute
    // "keeps_paths"): it is seen as no stage itself, and what is drawn below it stays the same.
    int hops;
    char *reason; // what was done, a line for each rewrite; NULL: none
    // Its own rewritten form by policy (enum stk_on_error), held once it was asked for; atomic.
    struct stk_dataset *rewritten[2];
};

#define X(name) extern const struct stk_dataset_kind stk_dataset_##name;
#include "data/datasets.def"
#undef X
extern const struct stk_dataset_kind *const stk_dataset_kinds[];
extern const int stk_dataset_kind_count;
const struct stk_dataset_kind *stk_dataset_kind_find(const char *name); // NULL: none

// STK_EUSAGE: no such kind. STK_EINVAL: arguments that do not fit. Holds inputs and attrs.
STK_MUST_CHECK enum stk_status stk_dataset_make(struct stk_dataset **out, const char *kind,
                                                struct stk_dataset *const *in, int n_in,
                                                struct stk_attrs *attrs, const char *where,
                                                struct stk_err *err);
// A buffer that holds the dataset, for the `keep` of a column of datasets. NULL: no memory.
struct stk_buf *stk_dataset_buf(struct stk_dataset *ds);
int64_t stk_dataset_cardinality(const struct stk_dataset *ds);
bool stk_dataset_has_at(const struct stk_dataset *ds); // and all it is made of
// A dataset's spec set to that of an input (the usual case of infer).
enum stk_status stk_dataset_like_input(struct stk_dataset *ds, struct stk_err *err);

enum stk_on_error { STK_ON_ERROR_STOP, STK_ON_ERROR_SKIP };

struct stk_run_options { // all zero: defaults
    uint64_t seed;
    bool has_seed, is_sloppy; // sloppy: parallel stages may deliver out of order by default
    int threads;              // cap over all stages; 0: all processors
    size_t ram_bytes;         // cap; 0: half of what is available
    enum stk_on_error on_error;
    // AUTOTUNE: workers of a stage at first (0: as many as processors, up to STK_INITIAL_WORKERS)
    // and at least; whether it stays with them.
    int initial_parallelism, min_parallelism;
    bool is_untuned;
    const char *record_path; // a file for the run's report (data/run/recorder.h); NULL: none
    struct stk_host *host;   // borrowed while anything of the run lives
    const struct stoker_memory_source *memory; // of large buffers; NULL: the heap
};

struct stk_permits { // permits to work at once; see permits.h
    pthread_mutex_t lock;
    pthread_cond_t freed;
    int permits, taken, most;
};

enum stk_binding { // what keeps a run from being faster
    STK_BINDING_UNKNOWN,
    STK_BINDING_CPU,      // all processors are at work
    STK_BINDING_SERIAL,   // a part that one thread at a time can do
    STK_BINDING_CONSUMER, // the consumer takes no more
    STK_BINDING_THREADS,  // threads wait for something else than processors, and may be no more
    STK_BINDING_MEMORY    // the budget is used up: stages wait until some of it is free
};

struct stk_stage_stats { // of one iterator; atomic, read while it runs
    uint64_t elements, blocks, errors, skipped;
    uint64_t busy_ns; // CPU of its own work, on all its threads, inputs on the same thread excluded
    uint64_t held_ns; // wall time of the same
    uint64_t wait_ns; // blocked on its input
    uint64_t starve_ns;                         // its consumer blocked on it
    uint32_t threads;                           // at work for it now
    uint32_t fill, capacity;                    // pieces (blocks) ready, and how many may be
    uint32_t block_max;                         // elements of a piece now
    uint32_t head_ready;                        // its next element needs no wait
    uint32_t binding;                           // enum stk_binding, as the tuner last saw it
    uint64_t predicted_per_ks, achieved_per_ks; // its elements in 1000 s; 0: too short to say
};
#define STK_STAGE_COUNTS 8 // of its fields, those that only grow

// Everything that the iterators of one tree share.
struct stk_run {
    int refs;         // atomic
    int is_cancelled; // atomic: every wait ends soon after
    unsigned forks;   // of the process when it was opened
    struct stk_pool *pool;
    struct stk_recorder
        *recorder; // NULL: the run reports nothing. The run's; closed by its last holder
    struct stk_run_options options;
    uint64_t seed;
    uint64_t failures;       // atomic: elements that failed anywhere
    uint64_t memory_waits;   // atomic: times a stage found too little memory to run ahead
    int root_waits;          // atomic: the consumer is in `next`
    bool pulls_to_skip;      // `skip` makes elements and drops them: after errors, to count alike
    struct stk_tuner *tuner; // NULL: nothing to tune
    struct stk_iter *root;   // the iterator with path 0
    bool has_cap;            // options.threads were given: never more
    struct stk_permits permits;
    pthread_mutex_t short_lock; // held by the worker that found too little memory and tries again
    uint64_t short_refused; // under it: what the pool had refused when memory was looked for last
    pthread_mutex_t rings_lock; // of the list of rings, which cancelling wakes
    struct stk_ring *rings;
    pthread_mutex_t tree_lock; // held to exchange an input of an iterator, and to walk the tree
};

struct stk_iter {
    const struct stk_dataset_kind *kind;
    struct stk_dataset *ds; // held
    struct stk_run *run;    // held
    struct stk_iter **in;
    int n_in;
    const struct stk_iter *parent; // that pulls it; NULL: the root
    uint64_t path;                 // tells this place of the tree apart from others
    uint64_t place;                // the same for all datasets that one function gives
    uint64_t epoch;                // how often the part of the tree above began anew
    uint64_t seed;                 // of (run or dataset seed, path, epoch)
    bool is_final;                 // its elements go to the consumer as they are
    bool is_concurrent; // it is in a dataset that is open beside others (data/run/aggregate.h)
    bool is_aggregate;  // it stands for such, and only counts
    struct stk_iter *concurrent, *concurrent_previous,
        *concurrent_next;            // those open in it; neighbours
    uint64_t told[STK_STAGE_COUNTS]; // is_concurrent: what the tally knows
    void *state;
    enum stk_status pending; // an error that comes next
    struct stk_stage_stats stats;
    struct stk_err pending_err; // last: it is long, and rarely looked at
};

STK_MUST_CHECK enum stk_status
stk_run_open(struct stk_run **out, const struct stk_run_options *options, struct stk_err *err);
struct stk_run *stk_run_hold(struct stk_run *run);
void stk_run_drop(struct stk_run *run); // takes NULL
void stk_run_cancel(struct stk_run *run);

// A root. path and epoch: 0 of a run's first.
STK_MUST_CHECK enum stk_status stk_iter_open(struct stk_iter **out, struct stk_dataset *ds,
                                             struct stk_run *run, uint64_t path, uint64_t epoch,
                                             struct stk_err *err);
// Input i, of a stage that opens its inputs itself.
STK_MUST_CHECK enum stk_status stk_iter_open_input(struct stk_iter **out, struct stk_iter *it,
                                                   int i, uint64_t epoch, struct stk_err *err);
// A dataset that the function of `it` gave, the number-th of them. is_concurrent: others are open
// beside it.
STK_MUST_CHECK enum stk_status stk_iter_open_given(struct stk_iter **out, struct stk_iter *it,
                                                   struct stk_dataset *ds, uint64_t number,
                                                   bool is_concurrent, struct stk_err *err);
void stk_iter_close(struct stk_iter *it); // takes NULL
// Input i is `fresh` from now on; the one it was, which may be NULL, is closed, and what it counted
// goes to the new one.
void stk_iter_exchange(struct stk_iter *it, int i, struct stk_iter *fresh);
STK_MUST_CHECK enum stk_status stk_iter_next(struct stk_iter *it, int64_t want,
                                             struct stk_block *out, struct stk_err *err);
STK_MUST_CHECK enum stk_status stk_iter_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                             struct stk_err *err);
STK_MUST_CHECK enum stk_status stk_iter_at(struct stk_iter *it, const int64_t *index, int64_t n,
                                           struct stk_block *out, struct stk_err *err);
uint64_t stk_path_mix(uint64_t path, uint64_t part);
// The path of input i.
uint64_t stk_iter_input_path(const struct stk_iter *it, int i);
// The seed of a stage that lay `hops` inputs below this one before a rewrite, and had a seed of its
// own or -1.
uint64_t stk_iter_seed_below(const struct stk_iter *it, int64_t hops, int64_t seed);
// Of a root, before its first element: it and what it passes on as it comes is final, so that
// batches are made writable there.
void stk_iter_hint_final(struct stk_iter *it);
// Does it concern one element, which may be left out? Memory, cancellation and bugs do not.
bool stk_status_is_of_element(enum stk_status s);

#endif
