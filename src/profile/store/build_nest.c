// SPDX-License-Identifier: Apache-2.0
// Nesting of one sorted track. A stack of open ends gives each event's depth. An event that ends
// after the innermost open one doesn't nest. It goes to the first sub-row where it nests; each
// sub-row has its own stack, and depth counts from there. An event that begins where another ends,
// or that has no length, overlaps nothing.
//
// Most tracks nest, and only need the first pass. Beyond STACKED_ROWS sub-rows (asynchronous
// slices, hostile input), further rows have no nesting, and are filled by the earliest end: n log n
// for any input.

#include "base/alloc.h"
#include "profile/store/build_order.h"

#define STACKED_ROWS 32u

struct stack {
    int64_t *ends; // innermost last
    uint32_t count, capacity;
};

static bool push(struct stack *s, int64_t end_ns)
{
    if (s->count == s->capacity) {
        uint32_t capacity = s->capacity ? s->capacity * 2 : 64;
        int64_t *ends = stk_realloc_array(s->ends, capacity, sizeof *ends);
        if (!ends) {
            return false;
        }
        s->ends = ends;
        s->capacity = capacity;
    }
    s->ends[s->count++] = end_ns;
    return true;
}

// Close ended events; true if [start, end) is then inside the innermost open event, or in none.
static bool fits(struct stack *s, int64_t start_ns, int64_t end_ns)
{
    while (s->count && s->ends[s->count - 1] <= start_ns) {
        s->count--;
    }
    return s->count == 0 || end_ns <= s->ends[s->count - 1];
}

static uint8_t saturated(uint32_t depth)
{
    return depth < 255 ? (uint8_t)depth : 255;
}

// Rows without nesting: a heap by the end of each row's last event.
struct flat {
    int64_t end_ns;
    uint32_t row;
};
struct flat_rows {
    struct flat *heap;
    uint32_t count, capacity;
};

static bool flat_less(const struct flat *a, const struct flat *b)
{
    return a->end_ns != b->end_ns ? a->end_ns < b->end_ns : a->row < b->row;
}

static void sift_down(struct flat *heap, uint32_t n, uint32_t i)
{
    struct flat item = heap[i];
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= n) {
            break;
        }
        if (child + 1 < n && flat_less(&heap[child + 1], &heap[child])) {
            child++;
        }
        if (!flat_less(&heap[child], &item)) {
            break;
        }
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = item;
}

// Row for the event: the one that has been free the longest, or a new one. STK_NONE: no memory.
static uint32_t put_flat(struct flat_rows *r, int64_t start_ns, int64_t end_ns)
{
    if (r->count && r->heap[0].end_ns <= start_ns) {
        uint32_t row = r->heap[0].row;
        r->heap[0].end_ns = end_ns;
        sift_down(r->heap, r->count, 0);
        return row;
    }
    if (r->count == r->capacity) {
        uint32_t capacity = r->capacity ? r->capacity * 2 : 64;
        struct flat *heap = stk_realloc_array(r->heap, capacity, sizeof *heap);
        if (!heap) {
            return STK_NONE;
        }
        r->heap = heap;
        r->capacity = capacity;
    }
    uint32_t row = r->count, i = r->count++;
    struct flat item = {end_ns, row};
    for (; i && flat_less(&item, &r->heap[(i - 1) / 2]); i = (i - 1) / 2) {
        r->heap[i] = r->heap[(i - 1) / 2];
    }
    r->heap[i] = item;
    return row;
}

struct nest {
    struct stack stacks[1 + STACKED_ROWS]; // of the track itself, then of its sub-rows
    uint32_t stacked;                      // in use
    struct flat_rows flats;
};

static void nest_free(struct nest *w)
{
    for (uint32_t i = 0; i < w->stacked; i++) {
        stk_free(w->stacks[i].ends);
    }
    stk_free(w->flats.heap);
}

// Row of the event: 0 the track, else a sub-row; STK_NONE without memory.
static uint32_t assign_row(struct nest *w, int64_t start_ns, int64_t end_ns, uint8_t *depth)
{
    for (uint32_t row = 0; row <= STACKED_ROWS; row++) {
        if (row == w->stacked) {
            w->stacked++;
        }
        struct stack *s = &w->stacks[row];
        if (!fits(s, start_ns, end_ns)) {
            continue;
        }
        *depth = saturated(s->count);
        return push(s, end_ns) ? row : STK_NONE;
    }
    *depth = 0;
    uint32_t row = put_flat(&w->flats, start_ns, end_ns);
    return row == STK_NONE ? STK_NONE : row + 1 + STACKED_ROWS;
}

// Sub-rows after the track's own events, each in the order they had.
static bool split(struct stk_trace *t, uint32_t first, uint32_t n, const uint32_t *rows,
                  uint32_t row_count, struct stk_sub_rows *subs, struct stk_order_scratch *x)
{
    uint32_t *order = stk_order_buffer(x, 3, n, sizeof *order);
    uint32_t *next = stk_alloc_zero(row_count, sizeof *next);
    subs->counts = stk_alloc_zero(row_count - 1, sizeof *subs->counts);
    if (!order || !next || !subs->counts) {
        stk_free(next);
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (rows[i]) {
            subs->counts[rows[i] - 1]++;
        }
    }
    subs->count = row_count - 1;
    for (uint32_t i = 0; i < subs->count; i++) {
        subs->moved += subs->counts[i];
    }
    for (uint32_t i = 0, sum = n - (uint32_t)subs->moved; i < subs->count; i++) {
        next[i + 1] = sum;
        sum += subs->counts[i];
    }
    subs->first = first + n - (uint32_t)subs->moved;
    for (uint32_t i = 0; i < n; i++) {
        order[next[rows[i]]++] = i;
    }
    stk_free(next);
    return stk_track_permute(t, first, n, order, true, x);
}

// The whole track again, now with sub-rows.
static bool nest_rows(struct stk_trace *t, uint32_t first, uint32_t n, struct stk_sub_rows *subs,
                      struct stk_order_scratch *x)
{
    uint32_t *rows = stk_order_buffer(x, 0, n, sizeof *rows), row_count = 1;
    struct nest w = {0};
    bool ok = rows != NULL;
    for (uint32_t i = 0; i < n && ok; i++) {
        uint32_t event = first + i;
        int64_t start_ns = t->start_ns[event], end_ns = start_ns + stk_order_dur(t, x, event);
        rows[i] = assign_row(&w, start_ns, end_ns, &t->depth[event]);
        ok = rows[i] != STK_NONE;
        if (ok && rows[i] >= row_count) {
            row_count = rows[i] + 1;
        }
    }
    nest_free(&w);
    return ok && split(t, first, n, rows, row_count, subs, x);
}

bool stk_track_nest(struct stk_trace *t, uint32_t first, uint32_t n, struct stk_sub_rows *subs,
                    struct stk_order_scratch *x)
{
    struct stack open = {0};
    bool nested = true, ok = true;
    for (uint32_t i = first; i < first + n && nested && ok; i++) {
        int64_t start_ns = t->start_ns[i], end_ns = start_ns + stk_order_dur(t, x, i);
        nested = fits(&open, start_ns, end_ns);
        if (!nested) {
            break;
        }
        t->depth[i] = saturated(open.count);
        ok = push(&open, end_ns);
    }
    stk_free(open.ends);
    if (!ok || nested) {
        return ok;
    }
    return nest_rows(t, first, n, subs, x);
}
