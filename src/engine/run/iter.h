// SPDX-License-Identifier: Apache-2.0
// An iterator over a dataset: its place in the tree, its seed, what it counted. Opened by
// iter_open.h, pulled by pull.h.
//
// Order and chance. The same seed gives the same elements with any number of threads: a
// random stage takes its bits from (it->seed, index of the element at its input).
#pragma once

#include "engine/run/run.h"

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
    uint64_t starve_ns;      // its consumer blocked on it
    uint64_t inline_ns;      // its consumer did what its threads would have
    uint32_t threads;        // at work for it now
    uint32_t fill, capacity; // pieces (blocks) ready, and how many may be
    uint32_t block_max;      // elements of a piece now
    uint32_t head_ready;     // its next element needs no wait
    uint32_t binding;        // enum stk_binding, as the tuner last saw it
    uint64_t kept_bytes; // of elements that it keeps, or kept when memory was short; not in rings
    uint64_t each_bytes; // of an element in its ring, as last measured
    uint32_t keeps_nothing; // what it was to keep is more than the budget has room for
    uint64_t predicted_per_ks, achieved_per_ks; // its elements in 1000 s; 0: too short to say
};
#define STK_STAGE_COUNTS 9 // of its fields, those that only grow

struct stk_iter {
    const struct stk_dataset_kind *kind;
    struct stk_dataset *ds; // held
    struct stk_run *run;    // held
    struct stk_iter **in;
    int n_in;
    const struct stk_iter *parent; // that pulls it; NULL: the root
    uint64_t path;                 // tells this place of the tree apart from others
    uint64_t place;                // the same for all datasets that one function gives
    uint64_t epoch;                // how often the stages above restarted; below a cache 0
    uint64_t seed;                 // of (run or dataset seed, path, epoch)
    bool is_final;                 // its elements go to the consumer as they are
    bool is_concurrent; // it is in a dataset that is open beside others (engine/run/aggregate.h)
    bool is_aggregate;  // it stands for such, and only counts
    struct stk_iter *concurrent, *concurrent_previous,
        *concurrent_next;            // those open in it; neighbors
    uint64_t told[STK_STAGE_COUNTS]; // is_concurrent: what the aggregate knows
    void *state;
    int64_t passed_over;        // elements that were skipped without being made
    enum stoker_status pending; // an error that comes next
    struct stk_stage_stats stats;
    struct stoker_err pending_err; // last: it is long, and rarely looked at
};

uint64_t stk_path_mix(uint64_t path, uint64_t part);
// The path of input i.
uint64_t stk_iter_input_path(const struct stk_iter *it, int i);
uint64_t stk_iter_seed_at(const struct stk_run *run, uint64_t path, uint64_t epoch, int64_t seed);
// The seed of a stage that lay `hops` inputs below this one before a rewrite, and had a seed of its
// own or -1.
uint64_t stk_iter_seed_below(const struct stk_iter *it, int64_t hops, int64_t seed);
// Of a root, before its first element: it and what it passes on as it comes is final, so that
// batches are made writable there.
void stk_iter_hint_final(struct stk_iter *it);
// The error of a stage that found no memory within the run's budget.
enum stoker_status stk_stage_no_memory(const struct stk_iter *it, struct stoker_err *err);
