// SPDX-License-Identifier: Apache-2.0
// Sets of disjoint intervals: see intervals.h.

#include "profile/model/intervals.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"

void stk_spans_init(struct stk_spans *s)
{
    s->v = NULL;
    s->count = s->capacity = 0;
}

void stk_spans_deinit(struct stk_spans *s)
{
    stk_free(s->v);
    stk_spans_init(s);
}

bool stk_spans_reserve(struct stk_spans *s, size_t count)
{
    if (count <= s->capacity) {
        return true;
    }
    size_t capacity = s->capacity < 16 ? 16 : s->capacity + s->capacity / 2;
    if (capacity < count) {
        capacity = count;
    }
    struct stk_span *v =
        s->v ? stk_realloc_array(s->v, capacity, sizeof *v) : stk_alloc_large(capacity, sizeof *v);
    if (!v) {
        return false;
    }
    s->v = v;
    s->capacity = capacity;
    return true;
}

bool stk_spans_add(struct stk_spans *s, int64_t start_ns, int64_t end_ns)
{
    STK_ASSERT(s->count == 0 || start_ns >= s->v[s->count - 1].start_ns);
    if (end_ns <= start_ns) {
        return true;
    }
    if (s->count && s->v[s->count - 1].end_ns >= start_ns) {
        if (s->v[s->count - 1].end_ns < end_ns) {
            s->v[s->count - 1].end_ns = end_ns;
        }
        return true;
    }
    if (s->count == s->capacity && !stk_spans_reserve(s, s->count + 1)) {
        return false;
    }
    s->v[s->count++] = (struct stk_span){start_ns, end_ns};
    return true;
}

STK_ORDER(compare_spans, struct stk_span, STK_UP(start_ns) STK_UP(end_ns))

void stk_spans_normalize(struct stk_spans *s)
{
    if (s->count == 0) {
        return;
    }
    stk_sort(s->v, s->count, sizeof *s->v, compare_spans);
    size_t n = s->count;
    s->count = 0;
    for (size_t i = 0; i < n;
         i++) { // never grows: at most i intervals are written before i is read
        (void)stk_spans_add(s, s->v[i].start_ns, s->v[i].end_ns);
    }
}

bool stk_spans_union(const struct stk_spans *a, const struct stk_spans *b, struct stk_spans *out)
{
    STK_ASSERT(out != a && out != b);
    out->count = 0;
    if (!stk_spans_reserve(out, a->count + b->count)) {
        return false;
    }
    size_t i = 0, j = 0;
    while (i < a->count || j < b->count) {
        bool take_a = j >= b->count || (i < a->count && a->v[i].start_ns <= b->v[j].start_ns);
        struct stk_span x = take_a ? a->v[i++] : b->v[j++];
        if (!stk_spans_add(out, x.start_ns, x.end_ns)) {
            return false;
        }
    }
    return true;
}

bool stk_spans_subtract(const struct stk_spans *a, const struct stk_spans *b, struct stk_spans *out)
{
    STK_ASSERT(out != a && out != b);
    out->count = 0;
    if (!stk_spans_reserve(out, a->count)) {
        return false;
    }
    size_t j = 0;
    for (size_t i = 0; i < a->count; i++) {
        int64_t at = a->v[i].start_ns, end = a->v[i].end_ns;
        while (j < b->count && b->v[j].end_ns <= at) {
            j++;
        }
        for (size_t k = j; k < b->count && b->v[k].start_ns < end; k++) {
            if (!stk_spans_add(out, at, b->v[k].start_ns)) {
                return false;
            }
            if (b->v[k].end_ns > at) {
                at = b->v[k].end_ns;
            }
            j = k;
        }
        if (!stk_spans_add(out, at, end)) {
            return false;
        }
    }
    return true;
}

bool stk_spans_intersect(const struct stk_spans *a, const struct stk_spans *b,
                         struct stk_spans *out)
{
    STK_ASSERT(out != a && out != b);
    out->count = 0;
    size_t i = 0, j = 0;
    while (i < a->count && j < b->count) {
        int64_t start = a->v[i].start_ns > b->v[j].start_ns ? a->v[i].start_ns : b->v[j].start_ns;
        int64_t end = a->v[i].end_ns < b->v[j].end_ns ? a->v[i].end_ns : b->v[j].end_ns;
        if (!stk_spans_add(out, start, end)) {
            return false;
        }
        if (a->v[i].end_ns < b->v[j].end_ns) {
            i++;
        } else {
            j++;
        }
    }
    return true;
}

bool stk_spans_clip(const struct stk_spans *a, int64_t from_ns, int64_t to_ns,
                    struct stk_spans *out)
{
    struct stk_span window = {from_ns, to_ns};
    struct stk_spans w = {&window, from_ns < to_ns, 1};
    return stk_spans_intersect(a, &w, out);
}

int64_t stk_spans_total(const struct stk_spans *s)
{
    int64_t total = 0;
    for (size_t i = 0; i < s->count; i++) {
        total += s->v[i].end_ns - s->v[i].start_ns;
    }
    return total;
}

size_t stk_spans_find(const struct stk_spans *s, int64_t t_ns)
{
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (s->v[mid].end_ns > t_ns) {
            high = mid;
        } else {
            low = mid + 1;
        }
    }
    return low;
}

int64_t stk_spans_overlap(const struct stk_spans *s, int64_t from_ns, int64_t to_ns)
{
    int64_t total = 0;
    for (size_t i = stk_spans_find(s, from_ns); i < s->count && s->v[i].start_ns < to_ns; i++) {
        int64_t start = s->v[i].start_ns > from_ns ? s->v[i].start_ns : from_ns;
        int64_t end = s->v[i].end_ns < to_ns ? s->v[i].end_ns : to_ns;
        total += end - start;
    }
    return total;
}

int64_t *stk_spans_sums(const struct stk_spans *s)
{
    int64_t *sums = stk_alloc_large(s->count + 1, sizeof *sums);
    if (!sums) {
        return NULL;
    }
    sums[0] = 0;
    for (size_t i = 0; i < s->count; i++) {
        sums[i + 1] = sums[i] + (s->v[i].end_ns - s->v[i].start_ns);
    }
    return sums;
}

// Time of the set before t.
static int64_t measure_before(const struct stk_spans *s, const int64_t *sums, int64_t t_ns)
{
    size_t i = stk_spans_find(s, t_ns);
    int64_t inside = i < s->count && s->v[i].start_ns < t_ns ? t_ns - s->v[i].start_ns : 0;
    return sums[i] + inside;
}

int64_t stk_spans_measure(const struct stk_spans *s, const int64_t *sums, int64_t from_ns,
                          int64_t to_ns)
{
    if (to_ns <= from_ns) {
        return 0;
    }
    return measure_before(s, sums, to_ns) - measure_before(s, sums, from_ns);
}
