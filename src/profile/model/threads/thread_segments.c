// SPDX-License-Identifier: Apache-2.0
// What a host thread did in a window: see thread_segments.h. A thread has one row, or several if
// its events overlap without nesting. Rows are walked one by one and merged.

#include "profile/model/threads/thread_segments.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

#define MAX_ROWS 16 // of one thread; further sub-rows have little and aren't walked

bool stk_segments_init(struct stk_thread_segments *s, const struct stk_analysis *a)
{
    s->a = a;
    s->failed = false;
    stk_vec_init(&s->used, sizeof(uint32_t), UINT32_MAX);
    stk_vec_init(&s->list, sizeof(struct stk_segment), UINT32_MAX);
    stk_vec_init(&s->other, sizeof(struct stk_segment), UINT32_MAX);
    stk_vec_init(&s->merged, sizeof(struct stk_segment), UINT32_MAX);
    s->rows = stk_alloc_zero((size_t)a->t->track_count + 1, sizeof *s->rows);
    return s->rows != NULL;
}

void stk_segments_deinit(struct stk_thread_segments *s)
{
    for (size_t i = 0; i < s->used.count; i++) {
        stk_free(s->rows[*(const uint32_t *)stk_vec_at(&s->used, i)]);
    }
    stk_free(s->rows);
    stk_vec_deinit(&s->used);
    stk_vec_deinit(&s->list);
    stk_vec_deinit(&s->other);
    stk_vec_deinit(&s->merged);
}

static struct stk_thread_cursor *cursor_of(struct stk_thread_segments *s, uint32_t row)
{
    if (!s->rows[row]) {
        uint32_t *used = stk_vec_push(&s->used);
        s->rows[row] = used ? stk_cursor_new(s->a->t->tracks[row].count) : NULL;
        if (used) {
            *used = row;
        }
        if (s->rows[row]) {
            stk_cursor_init(s->rows[row], s->a, row);
        }
    }
    return s->rows[row];
}

static bool in_blocked_copy(const struct stk_thread_cursor *c, uint32_t inherited)
{
    if (!(inherited & STK_NAME_COPY_CALL)) {
        return false;
    }
    uint32_t call = stk_cursor_innermost(c, STK_NAME_COPY_CALL);
    return call != STK_NONE && c->a->t->kind[call] == STK_KIND_RUNTIME &&
           stk_copy_call_blocked(c->a->t, call);
}

static struct stk_segment describe(const struct stk_thread_cursor *c)
{
    struct stk_segment x = {.doing = STK_DOING_NOTHING, .event = STK_NONE, .around = STK_NONE};
    const struct stk_open_event *top = stk_cursor_top(c);
    if (!top) {
        x.around = stk_cursor_before(c);
        return x;
    }
    bool runtime = (top->inherited & STK_IN_RUNTIME) != 0;
    x.event = top->event;
    if (runtime && (top->inherited & STK_NAME_ALLOC)) {
        x.doing = STK_DOING_ALLOC;
        x.event = stk_cursor_innermost(c, STK_NAME_ALLOC);
        x.around = stk_operator_around(c->a, x.event);
    } else if ((top->inherited & (STK_NAME_SYNC | STK_NAME_BLOCKING_COPY)) ||
               in_blocked_copy(c, top->inherited)) {
        x.doing = STK_DOING_BLOCKED;
        x.event =
            stk_cursor_innermost(c, STK_NAME_SYNC | STK_NAME_BLOCKING_COPY | STK_NAME_COPY_CALL);
        x.around = stk_operator_around(c->a, x.event);
    } else if (top->inherited & STK_NAME_HOST_COLL) {
        x.doing = STK_DOING_COLLECTIVE;
        x.event = stk_cursor_outermost(c, STK_NAME_HOST_COLL);
    } else if (runtime) {
        x.doing = STK_DOING_RUNTIME;
    } else if (top->inherited & STK_NAME_BLOCKED) {
        x.doing = STK_DOING_WAITING;
        x.event = stk_cursor_outermost(c, STK_NAME_BLOCKED);
        x.around = stk_operator_around(c->a, x.event);
    } else {
        uint32_t op = stk_cursor_operator(c);
        bool is_mark = op == STK_NONE && stk_is_step_mark(c->a, top->event);
        x.doing = is_mark ? STK_DOING_NOTHING : STK_DOING_OTHER;
        x.event = is_mark ? STK_NONE : op != STK_NONE ? op : top->event;
        x.around = is_mark ? stk_cursor_before(c) : STK_NONE;
    }
    return x;
}

static bool walk_row(struct stk_thread_segments *s, uint32_t row, int64_t from_ns, int64_t to_ns,
                     struct stk_vec *out)
{
    struct stk_thread_cursor *c = cursor_of(s, row);
    out->count = 0;
    if (!c) {
        return false;
    }
    for (int64_t at = from_ns; at < to_ns;) {
        stk_cursor_advance(c, at);
        int64_t end = stk_cursor_stretch(c, at, to_ns);
        struct stk_segment x = describe(c), *slot = stk_vec_push_raw(out);
        if (!slot) {
            return false;
        }
        x.start_ns = at;
        x.end_ns = end;
        *slot = x;
        at = end;
    }
    return true;
}

// Merges two coverings of one window: the earlier value of enum stk_doing wins.
static bool overlay(const struct stk_vec *a, const struct stk_vec *b, struct stk_vec *out)
{
    const struct stk_segment *x = a->items, *y = b->items;
    size_t i = 0, j = 0;
    out->count = 0;
    while (i < a->count && j < b->count) {
        struct stk_segment *slot = stk_vec_push_raw(out);
        if (!slot) {
            return false;
        }
        *slot = y[j].doing < x[i].doing ? y[j] : x[i];
        slot->start_ns = x[i].start_ns > y[j].start_ns ? x[i].start_ns : y[j].start_ns;
        slot->end_ns = x[i].end_ns < y[j].end_ns ? x[i].end_ns : y[j].end_ns;
        int64_t end = slot->end_ns;
        i += x[i].end_ns <= end;
        j += y[j].end_ns <= end;
    }
    return true;
}

bool stk_segments_collect(struct stk_thread_segments *s, uint32_t thread, int64_t from_ns,
                          int64_t to_ns)
{
    STK_ASSERT(thread < s->a->t->track_count && from_ns <= to_ns);
    if (!walk_row(s, thread, from_ns, to_ns, &s->list)) {
        return false;
    }
    uint32_t row = s->a->threads[thread].next_row;
    for (int n = 1; row != STK_NONE && n < MAX_ROWS; row = s->a->threads[row].next_row, n++) {
        if (!walk_row(s, row, from_ns, to_ns, &s->other) ||
            !overlay(&s->list, &s->other, &s->merged)) {
            return false;
        }
        struct stk_vec swap = s->list;
        s->list = s->merged;
        s->merged = swap;
    }
    return true;
}

uint32_t stk_segments_operator(struct stk_thread_segments *s, uint32_t thread, int64_t from_ns,
                               int64_t to_ns, int percent)
{
    const struct stk_trace *t = s->a->t;
    const struct stk_thread_cursor *at = cursor_of(s, thread);
    struct stk_thread_cursor *c = at ? stk_cursor_new(at->capacity) : NULL;
    uint32_t found = STK_NONE;
    s->failed |= !c;
    if (!c) {
        return STK_NONE;
    }
    memcpy(c, at, sizeof *c + at->depth * sizeof at->stack[0]);
    // An event that covers more than half of the window is open in its middle.
    stk_cursor_advance(c, from_ns + (to_ns - from_ns) / 2);
    for (uint32_t i = c->depth; i-- > 0 && found == STK_NONE;) {
        uint32_t e = c->stack[i].event;
        int64_t start = t->start_ns[e] > from_ns ? t->start_ns[e] : from_ns;
        int64_t end = c->stack[i].end_ns < to_ns ? c->stack[i].end_ns : to_ns;
        if (t->kind[e] == STK_KIND_HOST_OP && !(c->stack[i].classes & STK_NAME_STEP) &&
            end - start >= (to_ns - from_ns) / 100 * percent) {
            found = e;
        }
    }
    stk_free(c);
    return found;
}
