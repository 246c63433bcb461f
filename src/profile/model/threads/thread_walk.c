// SPDX-License-Identifier: Apache-2.0
// Cursor over the nested events of one thread: see thread_walk.h. Events of a track are sorted by
// start, parents first, so opening in order and closing what has ended keeps the stack.

#include "profile/model/threads/thread_walk.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"

#define LOOK_BACK 256         // events, for the operator around one or before it
#define DEPTH_KNOWN 255       // a stored depth of this stands for all deeper ones
#define STRIDE_MAX (1u << 20) // of a search forward

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

uint32_t stk_row_seek(const struct stk_trace *t, uint32_t event, uint32_t end, int64_t t_ns)
{
    uint32_t low = event, stride = 1;
    while (stride < end - low && t->start_ns[low + stride] < t_ns) {
        low += stride;
        stride = stride < STRIDE_MAX ? 2 * stride : stride;
    }
    uint32_t high = end - low > stride ? low + stride : end;
    STK_BISECT(low, high, mid, t->start_ns[mid] < t_ns);
    return low;
}

// The last event in [first, end) that is less deep than `low`; STK_NONE.
static uint32_t last_less_deep(const struct stk_trace *t, uint32_t first, uint32_t end,
                               uint32_t low)
{
    const uint64_t ones = UINT64_MAX / 255, highs = ones * 128;
    for (uint64_t eight; low <= 128 && end - first >= sizeof eight; end -= sizeof eight) {
        memcpy(&eight, &t->depth[end - sizeof eight], sizeof eight);
        if ((eight - ones * low) & ~eight & highs) { // one of them is
            break;
        }
    }
    while (end > first && t->depth[end - 1] >= low) {
        end--;
    }
    return end > first ? end - 1 : STK_NONE;
}

static void open_until(struct stk_thread_cursor *c, uint32_t event, int64_t t_ns)
{
    int64_t end_ns = stk_end_ns(c->a->t, event);
    if (end_ns > t_ns) { // else it is already over
        stk_cursor_open(c, event, end_ns);
    }
}

// Parents precede their children and are less deep. So of the events that are passed, only those
// that are less deep than all after them may be open.
void stk_cursor_jump(struct stk_thread_cursor *c, int64_t t_ns)
{
    const struct stk_trace *t = c->a->t;
    uint32_t passed[DEPTH_KNOWN], count = 0, low = DEPTH_KNOWN + 1;
    uint32_t next = t_ns < INT64_MAX ? stk_row_seek(t, c->next, c->end, t_ns + 1) : c->end;
    for (uint32_t e = next; low > 0 && (e = last_less_deep(t, c->next, e, low)) != STK_NONE;) {
        low = t->depth[e];
        if (low == DEPTH_KNOWN) { // or deeper: one by one
            next = c->next;
            break;
        }
        passed[count++] = e;
    }
    for (c->next = next; count > 0;) {
        open_until(c, passed[--count], t_ns);
    }
    while (c->next < c->end && t->start_ns[c->next] <= t_ns) {
        open_until(c, c->next++, t_ns);
    }
    stk_cursor_close(c, t_ns);
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
