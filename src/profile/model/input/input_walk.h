// SPDX-License-Identifier: Apache-2.0
// Private to the stages of the input pipeline: what the walk over the threads (input_walk.c)
// learns, and what input_see.c computes from it.
#pragma once

#include "profile/model/input/input_stages.h"
#include "profile/model/threads/thread_events.h"

#define STK_INPUT_DEPTH 256
#define STK_INPUT_RUNS_HERE 0x80000000u // in `functions`: its starter waits for it

struct stk_input_frame {
    int64_t end_ns;
    int64_t pending_ns; // work before the stage is known
    uint32_t stage;     // STK_NONE: not known yet
    struct stk_input_name name;
};

// A stage while its sums grow.
struct stk_input_growing {
    struct stk_input_stage sum;
    struct stk_spans spans; // of work, where several threads share it
    int64_t spans_ns;       // summed, before they are made a set
    uint64_t fill_count;
    double fill_sum;
    uint32_t last_thread, last_where;
    uint32_t covered_thread;
    int64_t covered_ns; // calls on that thread reach up to here
    bool is_shared, has_functions, has_children;
    bool has_nested; // other stages are called inside its calls, on its thread
};
struct stk_input_where { // time of a stage on a thread
    uint32_t stage, thread;
    int64_t ns;
};

struct stk_input_walk {
    const struct stk_analysis *view;
    struct stk_arena *arena;
    struct stk_input_sums *out;
    struct stk_vec stages; // struct stk_input_growing
    struct stk_vec wheres; // struct stk_input_where
    struct stk_map where_index;
    struct stk_map texts;         // hash of what a stage is called -> stage
    struct stk_map functions;     // number -> stage, with STK_INPUT_RUNS_HERE
    struct stk_map nexts;         // event -> 1, Python's next() that are fetches
    struct stk_input_name *names; // per string id
    uint32_t *stage_of;           // per string id: stage + 1
    uint8_t *asked;               // per string id
    uint8_t *rows;                // per track: bits of what it has (input_walk.c)
    struct stk_spans selected;
    struct stk_thread_events events;
    uint32_t thread; // root track of the one that is walked
    uint32_t depth;
    int64_t at_ns; // the thread's time up to here is assigned
    bool is_first, failed;
    struct stk_input_frame stack[STK_INPUT_DEPTH];
};

static inline struct stk_input_growing *stk_input_stage_at(const struct stk_input_walk *w,
                                                           uint32_t i)
{
    return stk_vec_at(&w->stages, i);
}
void stk_input_add_kind(struct stk_input_walk *w, enum stk_input_kind kind, int64_t ns,
                        uint64_t calls);
// Fills stages, wheres and the kinds of w->out; w->failed: no memory.
void stk_input_walk_all(struct stk_input_walk *w);
