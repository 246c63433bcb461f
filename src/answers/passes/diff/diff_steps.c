// SPDX-License-Identifier: Apache-2.0
// The steps of both sides as samples, and the parts of a step. A sample is a step's mean over the
// devices that ran it: devices of one step are not independent. The parts of the typical (median)
// step are those of the middle half of the steps by length, scaled to the median; those of the
// average step are the means. Either way they sum to it exactly, rounded by largest remainders, so
// the changes of the parts sum to the change of the step. Method: sorting; O(n log n) for n rows of
// steps.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "base/student.h"
#include "answers/passes/diff/diff_impl.h"

static int by_number(const void *pa, const void *pb)
{
    const struct stk_step *a = *(const struct stk_step *const *)pa;
    const struct stk_step *b = *(const struct stk_step *const *)pb;
    if (a->number != b->number) {
        return a->number < b->number ? -1 : 1;
    }
    return (a->rank > b->rank) - (a->rank < b->rank);
}

// The mean of n rows of one step.
static void take_sample(const struct stk_step *const *rows, size_t n, struct stk_diff_sample *out)
{
    *out = (struct stk_diff_sample){.number = rows[0]->number};
    for (int p = 0; p < STK_PART_COUNT; p++) {
        __int128 sum = 0;
        for (size_t i = 0; i < n; i++) {
            sum += rows[i]->parts[p];
        }
        out->parts[p] = (int64_t)(sum / (int64_t)n);
        out->dur_ns += out->parts[p];
    }
}

static bool steps_measure(struct stk_diff_steps *s)
{
    int64_t *ns = stk_alloc_array(2 * s->count + 1, sizeof *ns);
    if (!ns) {
        return false;
    }
    for (size_t i = 0; i < s->count; i++) {
        ns[i] = s->v[i].dur_ns;
    }
    if (s->count) {
        stk_sample_measure(ns, s->count, ns + s->count, &s->sample);
    }
    stk_free(ns);
    return true;
}

// The share of the used steps' time in parts in which the device is busy.
static void measure_busy(const struct stk_diff_steps *s, struct stk_diff_side *out)
{
    double busy = 0, wall = 0;
    for (size_t i = 0; i < s->count; i++) {
        wall += (double)s->v[i].dur_ns;
        for (int p = 0; p < STK_BUSY_PARTS; p++) {
            busy += (double)s->v[i].parts[p];
        }
    }
    out->has_busy = wall > 0 && out->scope && strcmp(out->scope, "steps") == 0;
    out->busy_share = wall > 0 ? busy / wall : 0;
}

bool stk_diff_steps_take(struct stk_diff_work *w, int side)
{
    STK_ASSERT(side == 0 || side == 1);
    const struct stk_run_sum *run = w->in[side]->pass->run;
    struct stk_diff_steps *s = &w->steps[side];
    struct stk_diff_side *out = stk_diff_side_of(w, side);
    const struct stk_step **rows = stk_alloc_array((size_t)run->step_count + 1, sizeof *rows);
    s->v = stk_arena_array(w->arena, (size_t)run->step_count + 1, sizeof *s->v);
    bool ok = rows && s->v;
    for (uint32_t i = 0; i < run->step_count && ok; i++) {
        if (!run->steps[i].excluded) {
            rows[s->windows++] = &run->steps[i];
        }
    }
    if (ok) {
        stk_sort(rows, s->windows, sizeof *rows, by_number);
    }
    for (size_t i = 0, n; ok && i < s->windows; i += n) {
        for (n = 1; i + n < s->windows && rows[i + n]->number == rows[i]->number;) {
            n++;
        }
        for (size_t k = 0; k < n; k++) {
            s->host_steps += k == 0 || rows[i + k]->rank != rows[i + k - 1]->rank;
        }
        take_sample(rows + i, n, &s->v[s->count++]);
    }
    stk_free(rows);
    ok = ok && steps_measure(s);
    out->used = s->count;
    out->has_times = s->count > 0;
    out->effective = s->sample.effective;
    out->median_ns = s->sample.median_ns;
    out->mean_ns = s->sample.mean_ns;
    out->p95_ns = s->sample.p95_ns;
    out->min_ns = s->sample.min_ns;
    out->max_ns = s->sample.max_ns;
    measure_busy(s, out);
    return ok;
}

static struct stk_diff_measure measure_of(const struct stk_diff_work *w, enum stk_center_kind kind)
{
    const struct stk_sample *a = &w->steps[0].sample, *b = &w->steps[1].sample;
    struct stk_log_ratio r = stk_samples_compare(a, b, kind);
    struct stk_diff_measure m = {.a_ns = stk_sample_center(a, kind),
                                 .b_ns = stk_sample_center(b, kind),
                                 .has_interval = r.has_interval,
                                 .change_share = expm1(r.expected),
                                 .low_share = expm1(r.low),
                                 .high_share = expm1(r.high),
                                 .noise_share = expm1((r.high - r.low) / 2)};
    m.change_ns = m.b_ns - m.a_ns;
    return m;
}

void stk_diff_measures_make(struct stk_diff_work *w)
{
    w->out->step = (struct stk_diff_step){
        .median = measure_of(w, STK_CENTER_MEDIAN),
        .mean = measure_of(w, STK_CENTER_MEAN),
        .method = "95% intervals of the ratio B / A over the used steps: of medians by order "
                  "statistics (Price and Bonett 2002), of means by Welch's t; autocorrelation "
                  "lowers the count of steps",
    };
}

struct ranked {
    int64_t dur_ns;
    size_t index;
};

STK_ORDER(by_duration, struct ranked, STK_UP(dur_ns) STK_UP(index))

// Scale `sums` so that they sum to `target`.
static void scale_exactly(__int128 *sums, int64_t target, int64_t *out)
{
    __int128 rest[STK_PART_COUNT], wall = 0;
    int64_t left = target;
    for (int p = 0; p < STK_PART_COUNT; p++) {
        wall += sums[p];
    }
    while (wall >> 62) { // for years of steps: drop the last bits, so that products fit
        wall = 0;
        for (int p = 0; p < STK_PART_COUNT; p++) {
            wall += sums[p] >>= 1;
        }
    }
    memset(out, 0, STK_PART_COUNT * sizeof *out);
    if (wall <= 0) {
        out[STK_PART_UNKNOWN] = target;
        return;
    }
    for (int p = 0; p < STK_PART_COUNT; p++) {
        __int128 whole = sums[p] / wall, part = sums[p] % wall;
        out[p] = (int64_t)(whole * target + part * target / wall);
        rest[p] = part * target % wall;
        left -= out[p];
    }
    for (; left > 0; left--) {
        int best = 0;
        for (int p = 1; p < STK_PART_COUNT; p++) {
            best = rest[p] > rest[best] ? p : best;
        }
        out[best]++;
        rest[best] = -1;
    }
}

// The parts of the step with the side's median or mean length.
static bool compose(const struct stk_diff_steps *s, enum stk_center_kind basis, int64_t *out)
{
    __int128 sums[STK_PART_COUNT] = {0};
    struct ranked *order = stk_alloc_array(s->count, sizeof *order);
    if (!order) {
        return false;
    }
    for (size_t i = 0; i < s->count; i++) {
        order[i] = (struct ranked){s->v[i].dur_ns, i};
    }
    stk_sort(order, s->count, sizeof *order, by_duration);
    size_t cut = basis == STK_CENTER_MEDIAN ? s->count / 4 : 0;
    for (size_t i = cut; i < s->count - cut; i++) {
        const struct stk_diff_sample *v = &s->v[order[i].index];
        for (int p = 0; p < STK_PART_COUNT; p++) {
            sums[p] += v->parts[p];
        }
    }
    stk_free(order);
    scale_exactly(sums, stk_sample_center(&s->sample, basis), out);
    return true;
}

// The squared standard error of a part's mean.
static double part_variance(const struct stk_diff_steps *s, int part)
{
    double mean = 0, var = 0;
    for (size_t i = 0; i < s->count; i++) {
        mean += (double)s->v[i].parts[part] / (double)s->count;
    }
    for (size_t i = 0; i < s->count; i++) {
        var += ((double)s->v[i].parts[part] - mean) * ((double)s->v[i].parts[part] - mean);
    }
    return var / (double)(s->count - 1) / s->sample.effective;
}

static void part_noise(const struct stk_diff_work *w, int part, struct stk_diff_part *out)
{
    const struct stk_diff_steps *a = &w->steps[0], *b = &w->steps[1];
    if (a->count >= 2 && b->count >= 2) {
        double va = part_variance(a, part), vb = part_variance(b, part);
        double degrees = stk_welch_degrees(va, a->sample.effective, vb, b->sample.effective);
        double t = stk_student_quantile(degrees, STK_SPREAD_OUTSIDE);
        double noise = ceil(t * sqrt(va + vb));
        out->has_noise = noise < 9e18;
        out->noise_ns = out->has_noise ? (int64_t)noise : 0;
    }
    int64_t size = out->change_ns < 0 ? -out->change_ns : out->change_ns;
    out->beyond_noise = out->has_noise && size > out->noise_ns;
}

bool stk_diff_parts_make(struct stk_diff_work *w)
{
    int64_t a[STK_PART_COUNT], b[STK_PART_COUNT];
    struct stk_diff_part *rows = stk_arena_array(w->arena, STK_PART_COUNT, sizeof *rows);
    if (!rows || !compose(&w->steps[0], w->basis, a) || !compose(&w->steps[1], w->basis, b)) {
        return false;
    }
    double step = (double)stk_sample_center(&w->steps[0].sample, w->basis);
    for (int p = 0; p < STK_PART_COUNT; p++) {
        const struct stk_part_info *info = stk_part_info((enum stk_part)p);
        rows[p] = (struct stk_diff_part){.id = info->key,
                                         .label = info->label,
                                         .a_ns = a[p],
                                         .b_ns = b[p],
                                         .change_ns = b[p] - a[p],
                                         .change_share = (double)(b[p] - a[p]) / step};
        part_noise(w, p, &rows[p]);
    }
    w->out->parts = (struct stk_list){.items = rows, .count = STK_PART_COUNT};
    return true;
}

bool stk_diff_pairs_make(struct stk_diff_work *w)
{
    const struct stk_diff_steps *a = &w->steps[0], *b = &w->steps[1];
    size_t n = a->count > b->count ? a->count : b->count;
    size_t shown = w->limit && w->limit < n ? (size_t)w->limit : n;
    struct stk_diff_pair *rows = stk_arena_array(w->arena, shown + 1, sizeof *rows);
    if (!rows) {
        return false;
    }
    for (size_t i = 0; i < shown; i++) {
        rows[i].in_a = i < a->count;
        rows[i].in_b = i < b->count;
        if (rows[i].in_a) {
            rows[i].a_number = a->v[i].number;
            rows[i].a_ns = a->v[i].dur_ns;
        }
        if (rows[i].in_b) {
            rows[i].b_number = b->v[i].number;
            rows[i].b_ns = b->v[i].dur_ns;
        }
    }
    w->out->steps = (struct stk_list){.items = rows, .count = shown, .left_out = n - shown};
    return true;
}
