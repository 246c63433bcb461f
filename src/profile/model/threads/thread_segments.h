// SPDX-License-Identifier: Apache-2.0
// What a host thread did in a window, as disjoint segments, each with the event that shows it.
#pragma once

#include "profile/model/threads/thread_walk.h"

// In order of precedence if rows of one thread overlap.
enum stk_doing {
    STK_DOING_ALLOC,      // inside a call that allocates or frees
    STK_DOING_BLOCKED,    // inside a blocking call
    STK_DOING_COLLECTIVE, // inside a host collective
    STK_DOING_RUNTIME,    // inside any other runtime call
    STK_DOING_WAITING,    // blocked: a lock, a queue, sleep, poll, a future
    STK_DOING_OTHER,      // inside some other event
    STK_DOING_NOTHING     // no event of the thread
};

struct stk_segment {
    int64_t start_ns, end_ns;
    enum stk_doing doing;
    uint32_t event; // the event that shows it: the call, or the innermost operator; STK_NONE
    // Operator around a blocking or allocating call; if the thread does nothing, the event that
    // ended last; STK_NONE.
    uint32_t around;
};

// Cursors for all threads of a rank, made when a thread is first needed.
struct stk_thread_segments {
    const struct stk_analysis *a;
    struct stk_thread_cursor **rows; // per track
    struct stk_vec used;             // uint32_t: tracks that have one
    struct stk_vec list, other, merged;
    bool failed; // memory ran out
};

bool stk_segments_init(struct stk_thread_segments *s, const struct stk_analysis *a);
void stk_segments_deinit(struct stk_thread_segments *s);
// Segments of [from, to) on a thread (its root track), covering it without holes, in s->list. Per
// thread, windows must not go back in time. False: no memory.
bool stk_segments_collect(struct stk_thread_segments *s, uint32_t thread, int64_t from_ns,
                          int64_t to_ns);
// One operator of the thread that covers at least `percent` of [from, to), or STK_NONE (also
// without memory: `failed` is set). Does not move the thread's cursor.
uint32_t stk_segments_operator(struct stk_thread_segments *s, uint32_t thread, int64_t from_ns,
                               int64_t to_ns, int percent);
