// SPDX-License-Identifier: Apache-2.0
// The events that a host thread was inside of, for windows in increasing time. A cursor keeps the
// stack of open events, so walking a whole thread takes linear time for any number of windows.
#pragma once

#include "profile/model/analysis.h"

#define STK_WALK_DEPTH 512 // deeper events count as their ancestors

struct stk_open_event {
    int64_t end_ns;
    uint32_t event;
    uint32_t classes;        // of this event
    uint32_t inherited;      // of this event and all around it, with STK_IN_* bits
    uint32_t operator_event; // innermost operator or Python function of these; STK_NONE
};

// Private bits of `inherited` in places that no inherited class uses. They are about kinds.
#define STK_IN_RUNTIME (1u << 27)

struct stk_thread_cursor {
    const struct stk_analysis *a;
    uint32_t first, next, end; // first event of the track, next one to open, end of the track
    uint32_t depth, capacity;
    struct stk_open_event stack[]; // STK_WALK_DEPTH of them, or as many as the track has events
};

// A cursor with room for that many open events. It may be used on tracks with no more events, or on
// any track if it is STK_WALK_DEPTH. Freed with stk_free. NULL: no memory.
struct stk_thread_cursor *stk_cursor_new(uint32_t capacity);
// Starts on one row (track or sub-row) of a thread.
void stk_cursor_init(struct stk_thread_cursor *c, const struct stk_analysis *a, uint32_t track);
// Put the next event on the stack; it is open at t.
void stk_cursor_open(struct stk_thread_cursor *c, uint32_t event, int64_t end_ns);

static inline void stk_cursor_close(struct stk_thread_cursor *c, int64_t t_ns)
{
    while (c->depth && c->stack[c->depth - 1].end_ns <= t_ns) {
        c->depth--;
    }
}
// The first event in [event, end), of one row, that begins at or after t; `end`: none. Searches
// forward in growing strides: the time depends on how near it is.
uint32_t stk_row_seek(const struct stk_trace *t, uint32_t event, uint32_t end, int64_t t_ns);
// As stk_cursor_advance, where many events lie before t: looks only at those that may be open.
void stk_cursor_jump(struct stk_thread_cursor *c, int64_t t_ns);

#define STK_CURSOR_NEAR 16 // events that are looked at one by one

// Open and close events so that the stack is that of time t. Times must not decrease.
static inline void stk_cursor_advance(struct stk_thread_cursor *c, int64_t t_ns)
{
    const struct stk_trace *t = c->a->t;
    if (c->next < c->end && t->start_ns[c->next] <= t_ns) { // often nothing begins
        if (c->end - c->next > STK_CURSOR_NEAR && t->start_ns[c->next + STK_CURSOR_NEAR] <= t_ns) {
            stk_cursor_jump(c, t_ns);
            return;
        }
        do {
            uint32_t e = c->next++;
            int64_t end = stk_end_ns(t, e);
            if (end > t_ns) { // else it is already over
                stk_cursor_open(c, e, end);
            }
        } while (c->next < c->end && t->start_ns[c->next] <= t_ns);
    }
    stk_cursor_close(c, t_ns);
}
// End of the stretch from t in which the stack doesn't change, at most `limit`.
static inline int64_t stk_cursor_stretch(const struct stk_thread_cursor *c, int64_t t_ns,
                                         int64_t limit_ns)
{
    int64_t end = limit_ns;
    if (c->depth && c->stack[c->depth - 1].end_ns < end) {
        end = c->stack[c->depth - 1].end_ns;
    }
    if (c->next < c->end && c->a->t->start_ns[c->next] < end) {
        end = c->a->t->start_ns[c->next];
    }
    return end > t_ns ? end : limit_ns;
}

static inline const struct stk_open_event *stk_cursor_top(const struct stk_thread_cursor *c)
{
    return c->depth ? &c->stack[c->depth - 1] : NULL;
}
// Outermost and innermost open event that has one of the class bits, STK_NONE if none.
uint32_t stk_cursor_outermost(const struct stk_thread_cursor *c, uint32_t classes);
uint32_t stk_cursor_innermost(const struct stk_thread_cursor *c, uint32_t classes);
// Innermost open operator or Python function, ignoring step markers; STK_NONE.
static inline uint32_t stk_cursor_operator(const struct stk_thread_cursor *c)
{
    return c->depth ? c->stack[c->depth - 1].operator_event : STK_NONE;
}

// The event that ended last before the stretch, at the level of the open events, ignoring allocator
// events; STK_NONE.
uint32_t stk_cursor_before(const struct stk_thread_cursor *c);

// The operator or Python function directly around an event; of several that read a value back, the
// outermost (aten::item rather than aten::_local_scalar_dense); STK_NONE. Searches back a limited
// number of events.
uint32_t stk_operator_around(const struct stk_analysis *a, uint32_t event);
