// SPDX-License-Identifier: Apache-2.0
// All runs of one name: the shortest, the longest, order statistics, and a histogram. Its bins have
// equal width, or equal ratios if the longest is many times the shortest.
#include <math.h>

#include "base/assert.h"
#include "base/sort.h"
#include "profile/timeline/timeline.h"
#include "results/print/document.h"

#define BINS_MOST 40
#define WIDE_RATIO 16

struct run {
    int64_t dur_ns;
    uint32_t trace, event;
};

STK_ORDER(compare_runs, struct run, STK_UP(dur_ns) STK_UP(trace) STK_UP(event))

static bool collect_runs(const struct stk_timeline *t, struct stk_str name, uint8_t kind,
                         struct stk_vec *runs)
{
    for (uint32_t i = 0; i < t->trace_count; i++) {
        const struct stk_trace *trace = t->traces[i].t;
        uint32_t id = stk_strpool_find(&trace->strings, name.p, name.n);
        for (uint32_t k = 0; id != STK_STRPOOL_FAILED && k < trace->track_count; k++) {
            const struct stk_track *track = &trace->tracks[k];
            if (!t->traces[i].x->tracks[k].taken) {
                continue;
            }
            for (uint32_t e = track->first; e < track->first + track->count; e++) {
                if (trace->name[e] != id || trace->kind[e] != kind) {
                    continue;
                }
                struct run *run = stk_vec_push_raw(runs);
                if (!run) {
                    return false;
                }
                *run = (struct run){stk_dur_ns(trace, e), i, e};
            }
        }
    }
    return true;
}

// The last duration of bin `i` of `bins`.
static int64_t bin_end(int64_t min_ns, int64_t max_ns, int i, int bins)
{
    STK_ASSERT(bins > 0 && i >= 0 && i < bins);
    if (i + 1 == bins) {
        return max_ns;
    }
    double share = (double)(i + 1) / bins, low = (double)(min_ns < 1 ? 1 : min_ns);
    double edge = (double)max_ns / low >= WIDE_RATIO
                      ? low * pow((double)max_ns / low, share)
                      : (double)min_ns + ((double)max_ns - (double)min_ns) * share;
    return (int64_t)edge;
}

struct histogram {
    struct stk_view_bin bins[BINS_MOST];
    struct stk_view_event longest[BINS_MOST]; // of each
};

// Returns how many bins there are.
static size_t fill_bins(struct histogram *h, const struct stk_timeline *t, const struct run *runs,
                        size_t n)
{
    STK_ASSERT(n > 0 && runs[0].dur_ns <= runs[n - 1].dur_ns);
    int64_t min = runs[0].dur_ns, max = runs[n - 1].dur_ns, from = min;
    int bins = max - min < BINS_MOST ? (int)(max - min) + 1 : BINS_MOST;
    size_t at = 0, count = 0;
    for (int i = 0; i < bins; i++) {
        int64_t to = bin_end(min, max, i, bins);
        size_t first = at;
        if (to < from) {
            continue; // narrower than a nanosecond
        }
        while (at < n && runs[at].dur_ns <= to) {
            at++;
        }
        h->bins[count] = (struct stk_view_bin){.from_ns = from, .to_ns = to, .count = at - first};
        if (at > first) {
            struct stk_tl_place p;
            stk_tl_place(&t->traces[runs[at - 1].trace], runs[at - 1].event, &p);
            h->longest[count] = stk_tl_event_of(&p);
            h->bins[count].longest.object = &h->longest[count];
        }
        count++;
        from = to + 1;
    }
    return count;
}

static void put_runs(const struct stk_timeline *t, const struct stk_tl_place *p,
                     const struct run *runs, size_t n, struct stk_sink *to)
{
    struct histogram histogram;
    int64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        if (__builtin_add_overflow(total, runs[i].dur_ns, &total)) {
            total = INT64_MAX;
            break;
        }
    }
    const struct stk_view_runs doc = {
        .name = stk_name_of(p->x->t, p->event).p,
        .kind = stk_kind_key((enum stk_kind)p->x->t->kind[p->event]),
        .count = n,
        .total_ns = total,
        .min_ns = runs[0].dur_ns,
        .max_ns = runs[n - 1].dur_ns,
        .median_ns = runs[(n - 1) / 2].dur_ns,
        .p95_ns = runs[(n - 1) - (n - 1) / 20].dur_ns,
        .bins = {.items = histogram.bins, .count = fill_bins(&histogram, t, runs, n)}};
    stk_json_document(&stk_view_runs_info, &doc, false, to);
}

enum stoker_status stk_tl_runs_json(const struct stk_timeline *t, int64_t id, struct stk_sink *to,
                                    struct stoker_err *err)
{
    struct stk_tl_place p;
    struct stk_vec runs;
    enum stoker_status status = stk_tl_find(t, id, &p, err);
    if (status != STOKER_OK) {
        return status;
    }
    stk_vec_init(&runs, sizeof(struct run), UINT32_MAX);
    bool ok = collect_runs(t, stk_name_of(p.x->t, p.event), p.x->t->kind[p.event], &runs);
    if (ok) {
        stk_sort(runs.items, runs.count, sizeof(struct run), compare_runs);
        put_runs(t, &p, runs.items, runs.count, to);
    }
    stk_vec_deinit(&runs);
    return ok ? STOKER_OK : stk_err_nomem(err);
}
