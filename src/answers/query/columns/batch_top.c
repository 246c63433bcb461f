// SPDX-License-Identifier: Apache-2.0
// The first rows of an order: a heap of the best so far, the worst on top. Rows with equal keys are
// in the order of the events, as in SQLite.
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "answers/query/columns/batch.h"

struct row {
    const int64_t *keys;
    const uint8_t *nulls;
    struct stk_batch_ref ref;
};

bool stk_batch_top_init(struct stk_batch_top *t, const struct stk_batch_plan *plan)
{
    *t = (struct stk_batch_top){.plan = plan};
    return true;
}

void stk_batch_top_deinit(struct stk_batch_top *t)
{
    stk_free(t->keys);
    stk_free(t->nulls);
    stk_free(t->refs);
    stk_free(t->heap);
    *t = (struct stk_batch_top){.plan = NULL};
}

static bool resize(void *array, size_t count, size_t size)
{
    void **p = array, *grown = stk_realloc_array(*p, count, size);
    if (grown) {
        *p = grown;
    }
    return grown != NULL;
}

static bool top_grow(struct stk_batch_top *t)
{
    size_t capacity = t->capacity ? 2 * t->capacity : 64, keys = t->plan->order_count;
    if (!resize(&t->keys, capacity * keys, sizeof *t->keys) ||
        !resize(&t->nulls, capacity * keys, 1) || !resize(&t->refs, capacity, sizeof *t->refs) ||
        !resize(&t->heap, capacity, sizeof *t->heap)) {
        return false;
    }
    t->capacity = capacity;
    return true;
}

static int order_of_refs(struct stk_batch_ref a, struct stk_batch_ref b)
{
    if (a.trace != b.trace) {
        return a.trace < b.trace ? -1 : 1;
    }
    if (a.track != b.track) {
        return a.track < b.track ? -1 : 1;
    }
    return (a.event > b.event) - (a.event < b.event);
}

static int order_of_values(const struct stk_batch_order *o, int64_t a, bool null_a, int64_t b,
                           bool null_b)
{
    double x, y;
    if (null_a || null_b) {
        return null_a == null_b ? 0 : null_a == !o->nulls_last ? -1 : 1;
    }
    int order = (a > b) - (a < b);
    if (o->node->type == STK_BATCH_REAL) {
        memcpy(&x, &a, sizeof x);
        memcpy(&y, &b, sizeof y);
        order = (x > y) - (x < y);
    }
    return o->descending ? -order : order;
}

// Negative: `a` comes first.
static int order_of(const struct stk_batch_top *t, const struct row *a, const struct row *b)
{
    for (uint32_t i = 0; i < t->plan->order_count; i++) {
        int order =
            order_of_values(&t->plan->order[i], a->keys[i], a->nulls[i], b->keys[i], b->nulls[i]);
        if (order) {
            return order;
        }
    }
    return order_of_refs(a->ref, b->ref);
}

static struct row top_row_of(const struct stk_batch_top *t, uint32_t row)
{
    size_t at = (size_t)row * t->plan->order_count;
    return (struct row){t->keys + at, t->nulls + at, t->refs[row]};
}

static bool is_worse(const struct stk_batch_top *t, uint32_t x, uint32_t y)
{
    struct row a = top_row_of(t, x), b = top_row_of(t, y);
    return order_of(t, &a, &b) > 0;
}

static void sift_up(struct stk_batch_top *t, size_t at)
{
    for (; at && is_worse(t, t->heap[at], t->heap[(at - 1) / 2]); at = (at - 1) / 2) {
        uint32_t swap = t->heap[at];
        t->heap[at] = t->heap[(at - 1) / 2];
        t->heap[(at - 1) / 2] = swap;
    }
}

static void sift_down(struct stk_batch_top *t)
{
    for (size_t at = 0, child; (child = 2 * at + 1) < t->count; at = child) {
        if (child + 1 < t->count && is_worse(t, t->heap[child + 1], t->heap[child])) {
            child++;
        }
        if (!is_worse(t, t->heap[child], t->heap[at])) {
            return;
        }
        uint32_t swap = t->heap[at];
        t->heap[at] = t->heap[child];
        t->heap[child] = swap;
    }
}

static void write_row(struct stk_batch_top *t, uint32_t at, const struct row *r)
{
    uint32_t keys = t->plan->order_count;
    memcpy(t->keys + (size_t)at * keys, r->keys, keys * sizeof *r->keys);
    memcpy(t->nulls + (size_t)at * keys, r->nulls, keys);
    t->refs[at] = r->ref;
}

static bool top_put(struct stk_batch_top *t, const struct row *r)
{
    if (t->count < t->plan->top_count) {
        if (t->count == t->capacity && !top_grow(t)) {
            return false;
        }
        write_row(t, (uint32_t)t->count, r);
        t->heap[t->count] = (uint32_t)t->count;
        sift_up(t, t->count++);
        return true;
    }
    if (t->count == 0) {
        return true;
    }
    struct row worst = top_row_of(t, t->heap[0]);
    if (order_of(t, r, &worst) < 0) {
        write_row(t, t->heap[0], r);
        sift_down(t);
    }
    return true;
}

bool stk_batch_top_add(struct stk_batch_top *t, struct stk_batch_eval *e, const struct stk_batch *b)
{
    const struct stk_batch_vec *vecs[STK_BATCH_KEYS_MAX];
    int64_t keys[STK_BATCH_KEYS_MAX];
    uint8_t nulls[STK_BATCH_KEYS_MAX];
    uint32_t count = t->plan->order_count;
    for (uint32_t i = 0; i < count; i++) {
        vecs[i] = stk_batch_eval(e, t->plan->order[i].node, b);
    }
    t->seen += b->rows;
    // For most rows the first key already decides.
    bool quick = vecs[0]->has_null == false && t->plan->order[0].node->type != STK_BATCH_REAL;
    bool descending = t->plan->order[0].descending;
    for (uint32_t k = 0; k < b->rows; k++) {
        if (quick && t->count && t->count == t->plan->top_count) {
            size_t worst = (size_t)t->heap[0] * count;
            int64_t key = t->keys[worst];
            while (!t->nulls[worst] && k < b->rows &&
                   (descending ? vecs[0]->i[k] < key : vecs[0]->i[k] > key)) {
                k++;
            }
            if (k == b->rows) {
                break;
            }
        }
        for (uint32_t i = 0; i < count; i++) {
            nulls[i] = vecs[i]->has_null && vecs[i]->null[k];
            keys[i] = nulls[i] ? 0 : vecs[i]->i[k];
        }
        struct row r = {
            keys, nulls, {b->at.trace, b->at.track, b->events ? b->events[k] : b->first + k}};
        if (!top_put(t, &r)) {
            return false;
        }
    }
    return true;
}

bool stk_batch_top_merge(struct stk_batch_top *t, const struct stk_batch_top *from)
{
    t->seen += from->seen;
    for (uint32_t i = 0; i < from->count; i++) {
        struct row r = top_row_of(from, i);
        if (!top_put(t, &r)) {
            return false;
        }
    }
    return true;
}

static int by_place(const void *a, const void *b)
{
    return order_of_refs(*(const struct stk_batch_ref *)a, *(const struct stk_batch_ref *)b);
}

void stk_batch_top_finish(struct stk_batch_top *t)
{
    stk_sort(t->refs, t->count, sizeof *t->refs, by_place);
}
