// SPDX-License-Identifier: Apache-2.0
// The stages of the input pipeline of one rank, over its selected time: tf.data's iterator tree,
// and the fetches and functions of other loaders. Numbers are sums; nothing refers to the trace.
//
// A stage that works on other threads (prefetch, parallel map) is called by a thread that waits for
// them. So a stage has two kinds of time: work (self_ns) and waiting for its own workers (wait_ns).
// Over all stages they add up to the time of every thread inside the input pipeline, each
// nanosecond once.
#pragma once

#include "profile/model/input/input_kinds.h"
#include "profile/model/view.h"

struct stk_input_stage {
    const char *name, *thread; // thread: where it spent most; NULL: never called
    enum stk_input_kind kind;
    uint32_t parent;  // stage that calls it, STK_NONE; before it in the list
    uint32_t section; // stage whose workers call it, STK_NONE: the thread that trains
    uint32_t threads; // on which it was called or worked
    bool is_pipeline; // an iterator of tf.data
    bool is_async;
    bool is_on_consumer; // its work holds up the training thread
    uint64_t calls;
    int64_t elements;        // that its calls returned: one each unless recorded; -1 not known
    int64_t total_ns;        // in its calls and workers, nested stages included
    int64_t self_ns;         // its own work, on all threads
    int64_t wait_ns;         // its calls waiting for its workers, or for stages on other threads
    int64_t parallelism;     // mean threads at work while at least one was; 0: not known
    int64_t parallelism_set; // as recorded; -1
    int64_t buffer_limit;    // -1
    double buffer_fill;      // mean share of the buffer that was filled when called; -1
    int is_autotuned;        // -1 not known
};

// Fetches that hold up the training, by name.
struct stk_input_fetch {
    const char *name, *thread;
    uint64_t calls;
    int64_t total_ns, mean_ns, median_ns, p95_ns, max_ns;
};

struct stk_input_sums {
    struct stk_input_stage *stages;
    struct stk_input_fetch *fetches;
    uint32_t stage_count, fetch_count;
    int64_t kind_ns[STK_INPUT_KINDS]; // work by kind, for all stages
    uint64_t kind_calls[STK_INPUT_KINDS];
};

// *partial: struct stk_input_sums, in the arena.
STK_MUST_CHECK enum stoker_status stk_input_stages_see(const struct stk_analysis *view,
                                                       struct stk_arena *arena, void **partial,
                                                       struct stoker_err *err);

// Stages that work next to the training thread: whether there is a pipeline, and how long other
// loaders' stages are busy.
struct stk_input_workers {
    bool has_pipeline;
    int64_t wall_ns;
};
struct stk_input_workers stk_input_workers_of(const struct stk_input_sums *sums);
// Is the stage a fetch whose call only waits for recorded stages?
bool stk_input_fetch_waits(const struct stk_input_stage *stage,
                           const struct stk_input_workers *workers);
// The stage's share of the workers' time.
int64_t stk_input_worker_time(const struct stk_input_stage *stage);
// Elements per second if only this stage worked, at the parallelism seen; below 0: not known.
double stk_input_stage_capacity(const struct stk_input_stage *stage);
// The stage that keeps the others waiting: in the section that is busy longest (input_limit.c), the
// stage with the most work. STK_NONE: no stage has any. False: no memory.
bool stk_input_stages_limit(const struct stk_input_sums *sums, uint32_t *stage);
// Does one thread run both stages, one after the other?
bool stk_input_takes_turns(const struct stk_input_sums *sums, uint32_t a, uint32_t b);

// Fills sum->slow_stage with that stage, once the rank's summary is otherwise complete.
STK_MUST_CHECK enum stoker_status stk_input_slow_find(struct stk_analysis *a,
                                                      struct stoker_err *err);
