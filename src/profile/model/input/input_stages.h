// SPDX-License-Identifier: Apache-2.0
// The stages of the input pipeline of one rank, over its selected time: tf.data's iterator tree,
// and the fetches and functions of other loaders. Numbers are sums; nothing refers to the trace.
//
// A stage that works on other threads (prefetch, parallel map) is called by a thread that waits for
// them. So the time of a stage is of two sorts: work (self_ns) and waiting for its own workers
// (wait_ns). Together, over all stages, they make up the time of every thread inside the input
// pipeline, each nanosecond once.
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
    bool is_on_consumer; // its work holds up the thread that trains
    uint64_t calls;
    int64_t elements;        // that its calls gave: one each unless recorded; -1 not known
    int64_t total_ns;        // in its calls and workers, nested stages included
    int64_t self_ns;         // its own work, on all threads
    int64_t wait_ns;         // its calls waiting for its workers, or for stages on other threads
    int64_t parallelism;     // threads at work while any was; 0: not known
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
    int64_t kind_ns[STK_INPUT_KINDS]; // work by what it is, whichever stage asked for it
    uint64_t kind_calls[STK_INPUT_KINDS];
};

// *partial: struct stk_input_sums, in the arena.
STK_MUST_CHECK enum stoker_status stk_input_stages_see(const struct stk_analysis *view,
                                                       struct stk_arena *arena, void **partial,
                                                       struct stoker_err *err);

// Stages that work beside the thread that trains: whether there is a pipeline, and how long those
// of other loaders are busy.
struct stk_input_workers {
    bool has_pipeline;
    int64_t wall_ns;
};
struct stk_input_workers stk_input_workers_of(const struct stk_input_sums *sums);
// Is the stage a fetch whose call only waits for stages that are recorded?
bool stk_input_fetch_waits(const struct stk_input_stage *stage,
                           const struct stk_input_workers *workers);
// What the stage adds to the workers' time.
int64_t stk_input_worker_time(const struct stk_input_stage *stage);
// Elements per second if the stage alone worked, at the parallelism seen; below 0: not known.
double stk_input_stage_capacity(const struct stk_input_stage *stage);
// The stage that keeps the others waiting: of the threads that work one after the other those that
// are busy longest, and there the stage with most work. STK_NONE: no stage has any. False: no
// memory.
bool stk_input_stages_limit(const struct stk_input_sums *sums, uint32_t *stage);
// Does one thread run both stages, one after the other?
bool stk_input_takes_turns(const struct stk_input_sums *sums, uint32_t a, uint32_t b);

// Fills sum->slow_stage: that stage, of a rank whose summary is complete but for it.
STK_MUST_CHECK enum stoker_status stk_input_slow_find(struct stk_analysis *a,
                                                      struct stoker_err *err);
