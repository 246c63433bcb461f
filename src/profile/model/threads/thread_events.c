// SPDX-License-Identifier: Apache-2.0
// Events of a thread's rows, merged: see thread_events.h. A heap of the rows by their next event,
// O(log rows) where the row changes, O(1) while one row's events follow one another.
#include "profile/model/threads/thread_events.h"

#include "base/assert.h"
#include "base/sort.h"

void stk_thread_events_init(struct stk_thread_events *x, const struct stk_analysis *a)
{
    x->a = a;
    stk_vec_init(&x->rows, sizeof(struct stk_thread_row), UINT32_MAX - 1);
}

void stk_thread_events_deinit(struct stk_thread_events *x)
{
    stk_vec_deinit(&x->rows);
}

static void load(const struct stk_trace *t, struct stk_thread_row *r)
{
    r->start_ns = t->start_ns[r->next];
    r->end_ns = stk_end_ns(t, r->next);
}

static bool is_before(const struct stk_thread_row *a, const struct stk_thread_row *b)
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
    struct stk_thread_row *rows = heap->items;
    for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count && is_before(&rows[child + 1], &rows[child])) {
            child++;
        }
        if (!is_before(&rows[child], &rows[at])) {
            return;
        }
        struct stk_thread_row swap = rows[at];
        rows[at] = rows[child];
        rows[child] = swap;
    }
}

static void look_at_others(struct stk_thread_events *x)
{
    const struct stk_thread_row *rows = x->rows.items;
    x->others_ns = INT64_MAX;
    for (size_t i = 1; i < x->rows.count && i < 3; i++) { // one of these begins first
        x->others_ns = rows[i].start_ns < x->others_ns ? rows[i].start_ns : x->others_ns;
    }
}

static void make_heap(struct stk_thread_events *x)
{
    for (size_t i = x->rows.count / 2; i-- > 0;) {
        sift_down(&x->rows, i);
    }
    look_at_others(x);
}

bool stk_thread_events_begin(struct stk_thread_events *x, uint32_t root, const uint8_t *takes)
{
    STK_ASSERT(root < x->a->t->track_count);
    x->rows.count = 0;
    for (uint32_t k = root; k != STK_NONE; k = x->a->threads[k].next_row) {
        const struct stk_track *track = &x->a->t->tracks[k];
        if (!track->count || (takes && !takes[k])) {
            continue;
        }
        struct stk_thread_row *r = stk_vec_push(&x->rows);
        if (!r) {
            return false;
        }
        *r = (struct stk_thread_row){.next = track->first, .end = track->first + track->count};
        load(x->a->t, r);
    }
    make_heap(x);
    return true;
}

void stk_thread_events_skip(struct stk_thread_events *x, int64_t t_ns)
{
    const int64_t *start_ns = x->a->t->start_ns;
    struct stk_thread_row *rows = x->rows.items;
    size_t kept = 0;
    for (size_t i = 0; i < x->rows.count; i++) {
        struct stk_thread_row r = rows[i];
        uint32_t low = r.next, high = r.end;
        STK_BISECT(low, high, mid, start_ns[mid] <= t_ns);
        if (low < r.end) {
            r.next = low;
            load(x->a->t, &r);
            rows[kept++] = r;
        }
    }
    x->rows.count = kept;
    make_heap(x);
}

uint32_t stk_thread_events_merge(struct stk_thread_events *x)
{
    struct stk_thread_row *first = x->rows.items;
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
    look_at_others(x);
    return event;
}
