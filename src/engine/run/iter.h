// SPDX-License-Identifier: Apache-2.0
// An iterator over a dataset: its place in the tree, its seed, its counts. Opened by iter_open.h,
// pulled by pull.h.
//
// Order and randomness: the same seed gives the same elements with any number of threads. A random
// stage takes its bits from (it->seed, index of the element at its input).
#pragma once

#include "engine/run/run.h"

enum stk_binding { // what limits a run's rate
    STK_BINDING_UNKNOWN,
    STK_BINDING_CPU,      // all cores are busy
    STK_BINDING_SERIAL,   // a part that only one thread at a time can do
    STK_BINDING_CONSUMER, // the consumer takes no more
    STK_BINDING_THREADS,  // threads wait for something other than a core, and there may be no more
                          // of them
    STK_BINDING_MEMORY    // the budget is used up: stages wait for memory
};

struct stk_stage_stats { // of one iterator; atomic, read while it runs
    uint64_t elements, blocks, errors, skipped;
    uint64_t busy_ns; // CPU time of its own work on all threads, without inputs on the same thread
    uint64_t held_ns; // wall time of the same
    uint64_t wait_ns; // blocked on its input
    uint64_t starve_ns;      // its consumer blocked on it
    uint64_t inline_ns;      // its consumer did its threads' work
    uint32_t threads;        // working for it now
    uint32_t fill, capacity; // pieces (blocks) ready; most of them
    uint32_t block_max;      // elements in a piece now
    uint32_t head_ready;     // its next element is ready
    uint32_t binding;        // enum stk_binding, as the tuner last saw it
    uint64_t kept_bytes; // bytes of elements it keeps, or kept when memory ran short; not in rings
    uint64_t each_bytes; // bytes per element in its ring, as last measured
    uint32_t keeps_nothing; // its elements don't fit the budget, so it keeps none
    uint64_t predicted_per_ks, achieved_per_ks; // elements per 1000 s; 0: measured too briefly
};
#define STK_STAGE_COUNTS 9 // its first fields, which only grow

struct stk_iter {
    const struct stk_dataset_kind *kind;
    struct stk_dataset *ds; // a reference
    struct stk_run *run;    // a reference
    struct stk_iter **in;
    int n_in;
    const struct stk_iter *parent; // the stage that pulls it; NULL: the root
    uint64_t path;                 // identifies its place in the tree
    uint64_t place;                // the same for all datasets returned by one function
    uint64_t epoch;                // how often the stages above restarted; 0 below a cache
    uint64_t seed;                 // derived from (run or dataset seed, path, epoch)
    bool is_final;                 // its elements reach the consumer unchanged
    bool is_concurrent; // it is in a dataset that is open next to others (engine/run/aggregate.h)
    bool is_aggregate;  // it stands for such datasets, and only counts
    struct stk_iter *concurrent, *concurrent_previous,
        *concurrent_next;            // those open in it; siblings
    uint64_t told[STK_STAGE_COUNTS]; // is_concurrent: counts already added to the aggregate
    void *state;
    int64_t passed_over;        // elements skipped without being made
    enum stoker_status pending; // an error to return next
    struct stk_stage_stats stats;
    struct stoker_err pending_err; // last: it is long and rarely read
};

uint64_t stk_path_mix(uint64_t path, uint64_t part);
// The path of input i.
uint64_t stk_iter_input_path(const struct stk_iter *it, int i);
uint64_t stk_iter_seed_at(const struct stk_run *run, uint64_t path, uint64_t epoch, int64_t seed);
// The seed of a stage that was `hops` inputs below this one before a rewrite, with its own seed or
// -1.
uint64_t stk_iter_seed_below(const struct stk_iter *it, int64_t hops, int64_t seed);
// For a root, before its first element: marks it, and the stages whose elements it passes on
// unchanged, as final, so that batches are made writable there.
void stk_iter_hint_final(struct stk_iter *it);
// The error of a stage that found no memory in the run's budget.
enum stoker_status stk_stage_no_memory(const struct stk_iter *it, struct stoker_err *err);
