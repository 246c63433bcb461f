// SPDX-License-Identifier: Apache-2.0
// What all iterators of one tree share: options, memory, permits to work, seed, the tuner, the
// recorder, and the list of rings that canceling wakes. Opened and ended by run_open.h.
#pragma once

#include <pthread.h>

#include "engine/graph/dataset.h"
#include "engine/run/permits.h"

struct stk_helper;
struct stk_recorder;
struct stk_ring;
struct stk_tuner;

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
    const char *record_path; // a file for the run's report (engine/run/recorder.h); NULL: none
    struct stk_host *host;   // borrowed while anything of the run lives
    const struct stoker_memory_source *memory; // of large buffers; NULL: the heap
};

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
    struct stk_tuner *tuner; // NULL: nothing to tune
    struct stk_iter *root;   // the iterator with path 0
    bool has_cap;            // options.threads were given: never more
    struct stk_permits permits;
    struct stk_helper *helper;  // with large copies; NULL: none
    pthread_mutex_t short_lock; // held by the worker that found too little memory and tries again
    uint64_t short_refused; // under it: what the pool had refused when memory was looked for last
    pthread_mutex_t rings_lock; // of the list of rings, which canceling wakes
    struct stk_ring *rings;
    pthread_mutex_t tree_lock; // held to exchange an input of an iterator, and to walk the tree
};

static inline struct stk_run *stk_run_hold(struct stk_run *run)
{
    __atomic_add_fetch(&run->refs, 1, __ATOMIC_RELAXED);
    return run;
}
static inline bool stk_run_is_cancelled(const struct stk_run *run)
{
    return __atomic_load_n(&run->is_cancelled, __ATOMIC_ACQUIRE) != 0;
}
