// SPDX-License-Identifier: Apache-2.0
// Cursor over the nested events of one thread: see thread_walk.h. Events of a track are sorted by
// start, parents first, so opening in order and closing what has ended keeps the stack.

#include "profile/model/threads/thread_walk.h"

#include "base/alloc.h"
#include "base/assert.h"

#define LOOK_BACK 256 // events, for the operator around one or before it

struct stk_thread_cursor *stk_cursor_new(uint32_t capacity)
{
    capacity = capacity < STK_WALK_DEPTH ? capacity : STK_WALK_DEPTH;
    struct stk_thread_cursor *c = stk_alloc(sizeof *c + capacity * sizeof c->stack[0]);
    if (c) {
        c->capacity = capacity;
    }
    return c;
}

void stk_cursor_init(struct stk_thread_cursor *c, const struct stk_analysis *a, uint32_t track)
{
    STK_ASSERT(track < a->t->track_count);
    c->a = a;
    c->first = c->next = a->t->tracks[track].first;
    c->end = c->next + a->t->tracks[track].count;
    c->depth = 0;
}

static bool is_operator(const struct stk_analysis *a, uint32_t event)
{
    uint8_t kind = a->t->kind[event];
    return (kind == STK_KIND_HOST_OP || kind == STK_KIND_PYTHON) && !stk_is_step_mark(a, event);
}

void stk_cursor_open(struct stk_thread_cursor *c, uint32_t event, int64_t end_ns)
{
    STK_ASSERT(event < c->a->t->count);
    const struct stk_trace *t = c->a->t;
    stk_cursor_close(c, t->start_ns[event]);
    if (c->depth == c->capacity) {
        return;
    }
    const struct stk_open_event *outer = stk_cursor_top(c);
    uint32_t class = stk_class_of(c->a, event);
    uint32_t around = (outer ? outer->inherited : 0) | (class & ~STK_IN_RUNTIME);
    if (t->kind[event] == STK_KIND_RUNTIME) {
        around |= STK_IN_RUNTIME;
    }
    uint32_t op = is_operator(c->a, event) ? event : outer ? outer->operator_event : STK_NONE;
    c->stack[c->depth++] = (struct stk_open_event){end_ns, event, class, around, op};
}

uint32_t stk_cursor_outermost(const struct stk_thread_cursor *c, uint32_t classes)
{
    for (uint32_t i = 0; i < c->depth; i++) {
        if (c->stack[i].classes & classes) {
            return c->stack[i].event;
        }
    }
    return STK_NONE;
}

uint32_t stk_cursor_innermost(const struct stk_thread_cursor *c, uint32_t classes)
{
    for (uint32_t i = c->depth; i-- > 0;) {
        if (c->stack[i].classes & classes) {
            return c->stack[i].event;
        }
    }
    return STK_NONE;
}

uint32_t stk_cursor_before(const struct stk_thread_cursor *c)
{
    uint32_t open = c->depth ? c->stack[c->depth - 1].event : STK_NONE;
    for (uint32_t e = c->next, steps = 0; e-- > c->first && steps < LOOK_BACK; steps++) {
        if (e == open) {
            return STK_NONE;
        }
        if (c->a->t->depth[e] == c->depth && c->a->t->kind[e] != STK_KIND_MEMORY) {
            return e;
        }
    }
    return STK_NONE;
}

uint32_t stk_operator_around(const struct stk_analysis *a, uint32_t event)
{
    STK_ASSERT(event < a->t->count);
    const struct stk_trace *t = a->t;
    uint32_t track = stk_track_of(t, event), depth = t->depth[event], found = STK_NONE;
    if (track == STK_NONE) {
        return STK_NONE;
    }
    // Parents precede their children, so the last event before it that is less deep is its parent.
    uint32_t first = t->tracks[track].first;
    first = event - first > LOOK_BACK ? event - LOOK_BACK : first;
    for (uint32_t e = event; e-- > first && depth > 0;) {
        if (t->depth[e] >= depth) {
            continue;
        }
        depth = t->depth[e];
        if (!is_operator(a, e)) {
            continue;
        }
        bool reads_back = (stk_class_of(a, e) & STK_NAME_ITEM) != 0;
        if (found != STK_NONE && !reads_back) {
            break;
        }
        found = e;
        if (!reads_back) {
            break;
        }
    }
    return found;
}
