// SPDX-License-Identifier: Apache-2.0
// Events of a thread's rows, merged: see thread_events.h. A heap of the rows by their next event,
// O(log rows) an event; nearly every thread has one row.
#include "profile/model/threads/thread_events.h"

#include "base/assert.h"

struct row {
    int64_t start_ns, end_ns; // of the next event
    uint32_t next, end;       // events
};

void stk_thread_events_init(struct stk_thread_events *x, const struct stk_analysis *a)
{
    x->a = a;
    stk_vec_init(&x->rows, sizeof(struct row), UINT32_MAX - 1);
}

void stk_thread_events_deinit(struct stk_thread_events *x)
{
    stk_vec_deinit(&x->rows);
}

static void load(const struct stk_trace *t, struct row *r)
{
    r->start_ns = t->start_ns[r->next];
    r->end_ns = stk_end_ns(t, r->next);
}

static bool is_before(const struct row *a, const struct row *b)
{
    if (a->start_ns != b->start_ns) {
        return a->start_ns < b->start_ns;
    }
    if (a->end_ns != b->end_ns) {
        return a->end_ns > b->end_ns;
    }
    return a->next < b->next;
}

static void sift_down(struct stk_vec *heap, size_t at)
{
    struct row *rows = heap->items;
    for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count && is_before(&rows[child + 1], &rows[child])) {
            child++;
        }
        if (!is_before(&rows[child], &rows[at])) {
            return;
        }
        struct row swap = rows[at];
        rows[at] = rows[child];
        rows[child] = swap;
    }
}

bool stk_thread_events_begin(struct stk_thread_events *x, uint32_t root)
{
    STK_ASSERT(root < x->a->t->track_count);
    x->rows.count = 0;
    for (uint32_t k = root; k != STK_NONE; k = x->a->threads[k].next_row) {
        const struct stk_track *track = &x->a->t->tracks[k];
        struct row *r = track->count ? stk_vec_push(&x->rows) : NULL;
        if (track->count && !r) {
            return false;
        }
        if (!r) {
            continue;
        }
        *r = (struct row){.next = track->first, .end = track->first + track->count};
        load(x->a->t, r);
    }
    for (size_t i = x->rows.count / 2; i-- > 0;) {
        sift_down(&x->rows, i);
    }
    return true;
}

uint32_t stk_thread_events_next(struct stk_thread_events *x)
{
    struct row *first = x->rows.items;
    if (x->rows.count == 0) {
        return STK_NONE;
    }
    uint32_t event = first->next++;
    if (first->next < first->end) {
        load(x->a->t, first);
    } else {
        *first = first[--x->rows.count];
    }
    if (x->rows.count > 1) {
        sift_down(&x->rows, 0);
    }
    return event;
}
