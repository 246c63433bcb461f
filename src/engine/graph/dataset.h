// SPDX-License-Identifier: Apache-2.0
// Datasets: an immutable graph of sources and transformations. To add a kind: one file in sources/
// or transformations/ that ends in its descriptor `const struct stk_dataset_kind
// stk_dataset_<name>`, and one line X(<name>) in datasets.def. How datasets run: engine/run/iter.h.
#pragma once

#include "engine/graph/arg.h"
#include "engine/graph/fn.h"

#define STK_INFINITE (-1)
#define STK_CARDINALITY_UNKNOWN (-2)

struct stk_dataset;
struct stk_iter;

// A stage's role, for code that needs to know what a stage does (rewrites, reports, the tuner). No
// other code of the engine knows kinds by name.
enum stk_dataset_role {
    STK_DS_NONE,     // not used by any kind
    STK_DS_SOURCE,   // computes elements, or was given them
    STK_DS_FILES,    // reads them from files
    STK_DS_PROGRAM,  // calls the host program; "id" is valid only in this process
    STK_DS_FUNCTION, // runs a function on them
    STK_DS_NESTED,   // runs a function that returns datasets, and emits their elements
    STK_DS_BATCH,    // combines neighbors into one element, values unchanged
    STK_DS_PAD,      // combines neighbors of unequal shapes into one element
    STK_DS_FORM,     // splits, collects or numbers elements
    STK_DS_SEVERAL,  // combines several datasets
    // These pass on their only input's elements unchanged:
    STK_DS_ORDER,  // some of them, in another order, more than once
    STK_DS_AHEAD,  // all of them, made ahead of time; no work of its own
    STK_DS_ERRORS, // those that didn't fail
    STK_DS_CACHE,  // keeps them in memory for later iterators
    STK_DS_STORE,  // keeps them in files
    STK_DS_COUNT
};

struct stk_dataset_kind {
    const char *name, *summary;
    enum stk_dataset_role role;
    // Its name in recorded runs, if its own name doesn't start with a word that
    // profile/model/input/input_kinds.def knows: "range_squares". NULL: its own name.
    const char *called;
    const char *holds_less_with;    // what makes it use less memory: "a smaller buffer_size"; NULL:
                                    // nothing
    bool keeps_blocks;              // passes on whole blocks: its groups are the input's
    const struct stk_arg_row *args; // ends with a NULL name
    // Input datasets of a SEVERAL kind; -1: any number. Sources take none, all others one.
    int n_in_min, n_in_max;
    // Checks the arguments and makes ds->specs. Attributes may be BOUND (see attr.h); treat their
    // values as unknown.
    enum stoker_status (*infer)(struct stk_dataset *ds, struct stoker_err *err);
    int64_t (*cardinality)(const struct stk_dataset *ds);
    size_t state_bytes; // size of it->state, which starts zeroed
    bool opens_inputs;  // open() opens the inputs itself (repeat, concatenate, flat_map); else
                        // it->in are open
    enum stoker_status (*open)(struct stk_iter *it, struct stoker_err *err); // may be NULL
    enum stoker_status (*next)(struct stk_iter *it, int64_t want, struct stk_block *out,
                               struct stoker_err *err);
    // Skips up to n elements; *done is less only at the end. NULL: pulls and drops them.
    enum stoker_status (*skip)(struct stk_iter *it, int64_t n, int64_t *done,
                               struct stoker_err *err);
    // Random access: the elements at the given positions, in that order. NULL: not supported.
    // Without `has_at`, every dataset of the kind supports it.
    bool (*has_at)(const struct stk_dataset *ds);
    enum stoker_status (*at)(struct stk_iter *it, const int64_t *index, int64_t n,
                             struct stk_block *out, struct stoker_err *err);
    void (*close)(struct stk_iter *it);     // also after a failed open; joins its threads
    void (*forget)(struct stk_dataset *ds); // ends ds->shared; may be NULL
};

struct stk_dataset {
    int refs; // atomic
    const struct stk_dataset_kind *kind;
    struct stk_attrs *attrs;
    int n_in;
    struct stk_dataset **in;
    struct stk_specs *specs; // the element's components
    int64_t seed;            // set by the user, or -1
    char *where;             // source line that made it; NULL: unknown
    void *shared;            // what its iterators share (a cache), owned by the kind; atomic
    // If the last run was faster without threads (run/tuner.c): ns per element with threads, and
    // looks since threads were tried. 0: it wasn't, or is unknown. Atomic.
    double inline_ns;
    int inline_looks;
    // Set by rewrites (engine/rewrites/rewrite.h). hops: stages removed between it and its first
    // input, which still count in paths. -1 (attribute "keeps_paths"): it doesn't count as a stage
    // itself, so random draws below it stay the same.
    int hops;
    char *reason; // one line for each rewrite done; NULL: none
    // Its rewritten form for each policy (enum stk_on_error), kept once requested; atomic.
    struct stk_dataset *rewritten[2];
};

#define X(name) extern const struct stk_dataset_kind stk_dataset_##name;
#include "engine/datasets.def"
#undef X
extern const struct stk_dataset_kind *const stk_dataset_kinds[];
extern const int stk_dataset_kind_count;
const struct stk_dataset_kind *stk_dataset_kind_find(const char *name); // NULL: none

// STOKER_EUSAGE: no such kind. STOKER_EINVAL: invalid arguments. Holds inputs and attrs.
STK_MUST_CHECK enum stoker_status stk_dataset_make(struct stk_dataset **out, const char *kind,
                                                   struct stk_dataset *const *in, int n_in,
                                                   struct stk_attrs *attrs, const char *where,
                                                   struct stoker_err *err);
// A buffer that holds the dataset, for the `keep` of a dataset column. NULL: no memory.
struct stk_buf *stk_dataset_buf(struct stk_dataset *ds);
int64_t stk_dataset_cardinality(const struct stk_dataset *ds);
bool stk_dataset_role_hands_on(
    enum stk_dataset_role role); // role ORDER, AHEAD or ERRORS: keeps and makes nothing
bool stk_dataset_has_at(const struct stk_dataset *ds); // it and all its inputs
// A cardinality(): that of the only input.
int64_t stk_dataset_as_many(const struct stk_dataset *ds);
// Sets a dataset's specs to an input's (the usual infer).
enum stoker_status stk_dataset_like_input(struct stk_dataset *ds, struct stoker_err *err);

// What to do with an element that failed.
enum stk_on_error { STK_ON_ERROR_STOP, STK_ON_ERROR_SKIP };
