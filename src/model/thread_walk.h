// SPDX-License-Identifier: Apache-2.0
// What a host thread was inside of, for windows that come in increasing time. A cursor keeps the
// stack of open events, so that walking a whole thread is linear however many windows there are.
#ifndef STK_MODEL_THREAD_WALK_H
#define STK_MODEL_THREAD_WALK_H

#include "model/analysis.h"

#define STK_WALK_DEPTH 512 // deeper events are taken for their ancestors

struct stk_open_event {
    int64_t end_ns;
    uint32_t event;
    uint32_t classes;   // of this event
    uint32_t inherited; // of this event and all around it, with STK_IN_* bits
};

// Private bits of `inherited`, where no name class is: kinds matter here.
#define STK_IN_RUNTIME (1u << 27)

struct stk_thread_cursor {
    const struct stk_analysis *a;
    uint32_t first, next, end; // first event of the track, next one to open, end of the track
    uint32_t depth;
    struct stk_open_event stack[STK_WALK_DEPTH];
};

// On one row (track or sub-row) of a thread.
void stk_cursor_init(struct stk_thread_cursor *c, const struct stk_analysis *a, uint32_t track);
// Open and close events so that the stack is that of time t. Times must not decrease.
void stk_cursor_advance(struct stk_thread_cursor *c, int64_t t_ns);
// End of the stretch that begins at t and in which the stack does not change, at most `limit`.
int64_t stk_cursor_stretch(const struct stk_thread_cursor *c, int64_t t_ns, int64_t limit_ns);

static inline const struct stk_open_event *stk_cursor_top(const struct stk_thread_cursor *c)
{
    return c->depth ? &c->stack[c->depth - 1] : NULL;
}
// Outermost and innermost open event that has one of the class bits, STK_NONE if none.
uint32_t stk_cursor_outermost(const struct stk_thread_cursor *c, uint32_t classes);
uint32_t stk_cursor_innermost(const struct stk_thread_cursor *c, uint32_t classes);
// Innermost operator or Python function that is open, markers of steps aside; STK_NONE.
uint32_t stk_cursor_operator(const struct stk_thread_cursor *c);

// The event that ended last before the stretch, at the level of what is open now; STK_NONE.
uint32_t stk_cursor_before(const struct stk_thread_cursor *c);

// The operator or Python function directly around an event, the outermost one of those that read a
// value back (aten::item rather than aten::_local_scalar_dense); STK_NONE. Looks back a bounded
// way.
uint32_t stk_operator_around(const struct stk_analysis *a, uint32_t event);

#endif
