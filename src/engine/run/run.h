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
    int threads;              // most over all stages; 0: one per core
    size_t ram_bytes;         // most; 0: half of what is available
    enum stk_on_error on_error;
    // AUTOTUNE: a stage's initial workers (0: one per core, up to STK_INITIAL_WORKERS), its fewest,
    // and whether it stays with them.
    int initial_parallelism, min_parallelism;
    bool is_untuned;
    const char *record_path; // file for the run's recording (engine/run/recorder.h); NULL: none
    struct stk_host *host;   // borrowed; must outlive the run
    const struct stoker_memory_source *memory; // source of large buffers; NULL: the heap
};

struct stk_run {
    int refs;         // atomic
    int is_cancelled; // atomic: ends all waits soon after
    unsigned forks;   // the process's fork count at opening
    struct stk_pool *pool;
    struct stk_recorder
        *recorder; // NULL: not recorded. Owned by the run; its last reference closes it
    struct stk_run_options options;
    uint64_t seed;
    uint64_t failures;       // atomic: elements that failed anywhere
    uint64_t memory_waits;   // atomic: times a stage lacked memory to run ahead
    int root_waits;          // atomic: the consumer is in `next`
    struct stk_tuner *tuner; // NULL: nothing to tune
    struct stk_iter *root;   // the iterator with path 0
    bool has_cap;            // options.threads was set: a hard limit
    struct stk_permits permits;
    struct stk_helper *helper;  // for large copies; NULL: none
    pthread_mutex_t short_lock; // held by the worker that ran short of memory and tries again
    uint64_t short_refused;     // guarded by it: the pool's refusals at the last check for memory
    pthread_mutex_t rings_lock; // guards the list of rings, which canceling wakes
    struct stk_ring *rings;
    pthread_mutex_t tree_lock; // held to exchange an iterator's input and to walk the tree
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
