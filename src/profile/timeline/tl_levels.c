// SPDX-License-Identifier: Apache-2.0
// The buckets of each row, made once, level by level. On the first level, a non-empty bucket has
// STK_TL_DENSE events on average; each further level is made from the one below, until one bucket
// is left. One pass determines the first level: two neighbors share a bucket of 2^l ns if their
// starts only differ in the lower l bits.
#include <string.h>

#include "base/sort.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "profile/timeline/timeline.h"

#define FEWEST 64 // events of a row that has buckets

// Times below 0 are in the first bucket.
static uint64_t key_of(int64_t start_ns)
{
    return start_ns > 0 ? (uint64_t)start_ns : 0;
}

static uint64_t key_at(const struct stk_tl_trace *x, const struct stk_tl_row *row, uint32_t place)
{
    return key_of(stk_tl_start(x, stk_tl_event(x, row, place)));
}

static uint32_t longer(const struct stk_tl_trace *x, const struct stk_tl_row *row, uint32_t a,
                       uint32_t b)
{
    return stk_dur_ns(x->t, stk_tl_event(x, row, b)) > stk_dur_ns(x->t, stk_tl_event(x, row, a))
               ? b
               : a;
}

struct stk_tl_bucket stk_tl_bucket_at(const struct stk_tl_trace *x, const struct stk_tl_row *row,
                                      int level, uint32_t first, uint32_t *next)
{
    STK_ASSERT(first < row->end && level >= 0 && level <= STK_TL_LEVEL_MAX);
    struct stk_tl_bucket b = {.first = first, .longest = first};
    uint64_t key = key_at(x, row, first) >> level;
    int64_t longest_ns = stk_dur_ns(x->t, stk_tl_event(x, row, first)), last_ns = longest_ns;
    uint32_t at = first + 1;
    for (; at < row->end; at++) { // the last one is compared once it is known not to stand alone
        uint32_t event = stk_tl_event(x, row, at);
        if (key_of(stk_tl_start(x, event)) >> level != key) {
            break;
        }
        if (last_ns > longest_ns) {
            longest_ns = last_ns;
            b.longest = at - 1;
        }
        last_ns = stk_dur_ns(x->t, event);
    }
    if (last_ns > longest_ns && last_ns >> level == 0) {
        b.longest = at - 1;
    }
    *next = at;
    return b;
}

// A bucket as one of a higher level, with the same events. An event that stood alone may be merged
// there.
static struct stk_tl_bucket raised(const struct stk_tl_trace *x, const struct stk_tl_row *row,
                                   struct stk_tl_bucket b, uint32_t last, int level)
{
    if (!stk_tl_is_long(x, row, last, level)) {
        b.longest = longer(x, row, b.longest, last);
    }
    return b;
}

// Two neighbors as one of a higher level; `b` ends with `last`.
static struct stk_tl_bucket joined(const struct stk_tl_trace *x, const struct stk_tl_row *row,
                                   struct stk_tl_bucket a, struct stk_tl_bucket b, uint32_t last,
                                   int level)
{
    bool stands_alone = b.first == last && stk_tl_is_long(x, row, last, level);
    a.longest = longer(x, row, a.longest, b.first - 1);
    if (!stands_alone) {
        a.longest = longer(x, row, a.longest, raised(x, row, b, last, level).longest);
    }
    return a;
}

struct plan {
    uint32_t counts[STK_TL_LEVEL_MAX + 1]; // buckets that are not empty, of each level
    int lowest, levels;
};

static void plan_row(const struct stk_tl_trace *x, const struct stk_tl_row *row, struct plan *p)
{
    STK_ASSERT(row->first <= row->end);
    uint32_t apart[65] = {0}, n = row->end - row->first;
    memset(p, 0, sizeof *p);
    if (n < FEWEST) {
        return;
    }
    uint64_t last = key_at(x, row, row->first);
    for (uint32_t at = row->first + 1; at < row->end; at++) {
        uint64_t key = key_at(x, row, at), differs = key ^ last;
        apart[differs ? 64 - __builtin_clzll(differs) : 0]++;
        last = key;
    }
    uint32_t count = 1;
    for (int level = 64; level >= 0; level--) {
        if (level <= STK_TL_LEVEL_MAX) {
            p->counts[level] = count;
        }
        count += apart[level];
    }
    while (p->lowest < STK_TL_LEVEL_MAX && p->counts[p->lowest] > n / STK_TL_DENSE) {
        p->lowest++;
    }
    do {
        p->levels++;
    } while (p->lowest + p->levels <= STK_TL_LEVEL_MAX && p->counts[p->lowest + p->levels - 1] > 1);
}

static void fill_lowest(struct stk_tl_trace *x, const struct stk_tl_row *row)
{
    struct stk_tl_bucket *to = &x->buckets[x->steps[row->steps]];
    for (uint32_t at = row->first; at < row->end; to++) {
        *to = stk_tl_bucket_at(x, row, row->lowest, at, &at);
    }
}

static void fill_from_below(struct stk_tl_trace *x, const struct stk_tl_row *row, int step)
{
    STK_ASSERT(step > 0 && step < row->levels);
    const uint32_t *steps = &x->steps[row->steps + step];
    const struct stk_tl_bucket *from = &x->buckets[steps[-1]], *end = &x->buckets[steps[0]];
    struct stk_tl_bucket *to = &x->buckets[steps[0]];
    int level = row->lowest + step;
    while (from < end) {
        uint32_t middle = from + 1 < end ? from[1].first : row->end;
        bool is_pair = from + 1 < end && key_at(x, row, from[0].first) >> level ==
                                             key_at(x, row, from[1].first) >> level;
        if (is_pair) {
            uint32_t after = from + 2 < end ? from[2].first : row->end;
            *to++ = joined(x, row, from[0], from[1], after - 1, level);
        } else {
            *to++ = raised(x, row, from[0], middle - 1, level);
        }
        from += is_pair ? 2 : 1;
    }
}

bool stk_tl_make_levels(struct stk_tl_trace *x)
{
    uint64_t steps = 0, buckets = 0;
    struct plan *plans = stk_alloc_array((size_t)x->row_count + 1, sizeof *plans);
    for (uint32_t r = 0; plans && r < x->row_count; r++) {
        struct stk_tl_row *row = &x->rows[r];
        plan_row(x, row, &plans[r]);
        row->lowest = (uint8_t)plans[r].lowest;
        row->levels = (uint8_t)plans[r].levels;
        row->steps = (uint32_t)steps;
        steps += row->levels;
        for (int i = 0; i < row->levels; i++) {
            buckets += plans[r].counts[row->lowest + i];
        }
    }
    x->step_count = (uint32_t)steps; // rows are fewer than events, of which there are below 2^32
    x->bucket_count = (uint32_t)buckets;
    x->steps = stk_alloc_array((size_t)steps + 1, sizeof *x->steps);
    x->buckets = stk_alloc_array((size_t)buckets + 1, sizeof *x->buckets);
    bool ok = plans && x->steps && x->buckets;
    uint32_t at = 0;
    for (uint32_t r = 0; ok && r < x->row_count; r++) {
        const struct stk_tl_row *row = &x->rows[r];
        for (int i = 0; i < row->levels; i++) {
            x->steps[row->steps + i] = at;
            at += plans[r].counts[row->lowest + i];
        }
    }
    if (ok) {
        x->steps[steps] = at;
    }
    stk_free(plans);
    for (uint32_t r = 0; ok && r < x->row_count; r++) {
        const struct stk_tl_row *row = &x->rows[r];
        if (row->levels > 0) {
            fill_lowest(x, row);
        }
        for (int i = 1; i < row->levels; i++) {
            fill_from_below(x, row, i);
        }
    }
    return ok;
}

// The first of the buckets that begins at or after the time.
static uint32_t bucket_lower(const struct stk_tl_trace *x, const struct stk_tl_row *row,
                             const struct stk_tl_bucket *v, uint32_t at, uint32_t end, int64_t t_ns)
{
    STK_BISECT(at, end, middle, stk_tl_start(x, stk_tl_event(x, row, v[middle].first)) < t_ns);
    return at;
}

void stk_tl_buckets_of(const struct stk_tl_trace *x, const struct stk_tl_row *row, int level,
                       int64_t from_ns, int64_t to_ns, struct stk_tl_buckets *out)
{
    STK_ASSERT(row->levels > 0 && level >= row->lowest);
    int step = level - row->lowest < row->levels ? level - row->lowest : row->levels - 1;
    const struct stk_tl_bucket *v = &x->buckets[x->steps[row->steps + step]];
    uint32_t count = x->steps[row->steps + step + 1] - x->steps[row->steps + step];
    if (level > row->lowest + step) { // one bucket is left, and it holds all of the row
        out->only[0] = raised(x, row, v[0], row->end - 1, level);
        v = out->only;
    }
    uint32_t first = from_ns > 0 ? bucket_lower(x, row, v, 0, count, from_ns) : 0;
    uint32_t end = bucket_lower(x, row, v, first, count, to_ns);
    out->v = v + first;
    out->count = end - first;
    out->end = end < count ? v[end].first : row->end;
}
