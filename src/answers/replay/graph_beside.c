// SPDX-License-Identifier: Apache-2.0
// A loader's threads, which run in parallel with the steps. No step is shorter than the busiest
// thread's work for it, even if no fetch ever waits. If each item is a batch, judging by their
// number, that is the mean item divided by the number of threads that share them. In a short
// recording some threads made one item more than others, and all of them filled a queue first.
//
// Without a device, the loader's threads also compete with the model for CPU cores, caches and
// memory. Neither the effect nor the number of cores is recorded. So the upper bound is: the model
// had its share among the busy threads, or all steps could be as short as the least disturbed
// quarter of them.
//
// A loader's items are uneven if a few take most of its time. The median item over the mean one
// shows how much of its work is for ordinary ones.
//
// Method: a thread's outermost events are its busy time; a step's time outside the fetches is its
// own. Worker processes leave no events, so only the shortest steps show their effect. Limit: other
// jobs leave no events either.
#include <math.h>

#include "base/alloc.h"
#include "profile/model/median.h"
#include "answers/replay/graph.h"

#define MOST_ITEMS 65536
#define FEW_ITEMS 8
#define UNEVEN 0.8        // median item over mean item; from here on items are even
#define FEW_STEPS 4       // with fewer, the shortest shows nothing
#define BATCH_EACH 0.34   // a step's items are one batch, except for prefetched ones
#define LONG_ENOUGH 0.5   // of the time between first and last work: enough to know a pace
#define BESIDE_LEAST 0.05 // busy threads during steps: fewer don't disturb them

// Loader threads that are busy at a time, on average; and the share of time of the busiest.
static void find_busy(const struct stk_graph_build *b, double *mean, double *busiest)
{
    const struct stk_analysis *a = b->a;
    const struct stk_trace *t = a->t;
    *mean = *busiest = 0;
    for (uint32_t k = 0; k < a->t->track_count; k++) {
        const struct stk_thread_info *x = &a->threads[k];
        const struct stk_track *row = &t->tracks[k];
        int64_t busy_ns = 0, first_ns = INT64_MIN, last_ns = 0, last_busy_ns = 0;
        if (!x->in_rank || x->root != k || !x->is_loader || b->lane_of[k]) {
            continue;
        }
        for (uint32_t e = row->first; e < row->first + row->count; e++) {
            int64_t start = t->start_ns[e] > b->from_ns ? t->start_ns[e] : b->from_ns;
            int64_t end = stk_end_ns(t, e) < b->to_ns ? stk_end_ns(t, e) : b->to_ns;
            bool is_work = t->depth[e] == 0 && !(stk_class_of(a, e) & STK_NAME_WAIT_HOST);
            if (is_work && end > start) {
                busy_ns = stk_add_ns(busy_ns, end - start);
                first_ns = first_ns == INT64_MIN ? start : first_ns;
                last_ns = start;
                last_busy_ns = end - start;
            }
        }
        double all_ns = (double)(b->to_ns - b->from_ns), share = (double)busy_ns / all_ns;
        *mean += share;
        // At the end of the data a thread has nothing left to do, so its pace is measured from the
        // start of its first work to the start of its last.
        double span_ns = busy_ns > 0 ? (double)(last_ns - first_ns) : 0;
        share = span_ns > LONG_ENOUGH * all_ns ? (double)(busy_ns - last_busy_ns) / span_ns : share;
        *busiest = share > *busiest ? share : *busiest;
    }
}

// The longest outermost events of loader threads are the items. Gives their median over their mean,
// and a step's work for its worker if each item is a batch, else 0.
static double find_ordinary(const struct stk_graph_build *b, double *pace_ns)
{
    const struct stk_trace *t = b->a->t;
    int64_t *ns = stk_alloc_array(MOST_ITEMS, sizeof *ns), longest_ns = 0, sum_ns = 0;
    uint32_t name = STK_NONE, threads = 0;
    size_t n = 0;
    for (int pass = 0; ns && pass < 2; pass++) {
        for (uint32_t k = 0; k < t->track_count; k++) {
            size_t before = n;
            const struct stk_thread_info *x = &b->a->threads[k];
            const struct stk_track *row = &t->tracks[k];
            bool counts = x->in_rank && x->root == k && x->is_loader && !b->lane_of[k];
            for (uint32_t e = row->first; counts && e < row->first + row->count; e++) {
                bool is_work = t->depth[e] == 0 && !(stk_class_of(b->a, e) & STK_NAME_WAIT_HOST);
                if (is_work && pass == 0 && stk_end_ns(t, e) - t->start_ns[e] > longest_ns) {
                    longest_ns = stk_end_ns(t, e) - t->start_ns[e];
                    name = t->name[e];
                } else if (is_work && pass == 1 && t->name[e] == name && n < MOST_ITEMS) {
                    ns[n++] = stk_end_ns(t, e) - t->start_ns[e];
                    sum_ns = stk_add_ns(sum_ns, ns[n - 1]);
                }
            }
            threads += n > before;
        }
    }
    double ordinary = 1, per_step = (double)n / b->g->step_count;
    bool are_batches = n >= FEW_ITEMS && fabs(per_step - 1) <= BATCH_EACH;
    *pace_ns = are_batches ? (double)sum_ns / (double)n / threads : 0;
    if (n >= FEW_ITEMS && sum_ns > 0) {
        ordinary = (double)stk_nth_value(ns, n, n / 2) * (double)n / (double)sum_ns;
    }
    stk_free(ns);
    return ordinary < UNEVEN ? ordinary : 1;
}

// Lower quartile over mean of the used steps' time outside their fetches.
static bool find_evenness(const struct stk_graph_build *b, double *out)
{
    const struct stk_node *nodes = b->nodes.items;
    const struct stk_lane *lane = stk_vec_at(&b->lanes, b->g->driver);
    int64_t *own = stk_alloc_zero((size_t)b->g->step_count + 1, sizeof *own);
    uint32_t n = 0;
    double sum = 0;
    *out = 1;
    for (uint32_t i = lane->first; own && i < lane->first + lane->count; i++) {
        own[nodes[i].step] += nodes[i].kind == STK_NODE_INPUT ? 0 : nodes[i].dur_ns;
    }
    for (uint32_t k = 0; own && k < b->g->step_count; k++) {
        if (b->g->steps[k].used) {
            sum += (double)own[k];
            own[n++] = own[k];
        }
    }
    if (own && n >= FEW_STEPS && sum > 0) {
        *out = (double)stk_nth_value(own, n, n / 4) * n / sum;
    }
    stk_free(own);
    return own != NULL;
}

bool stk_graph_beside(struct stk_graph_build *b)
{
    struct stk_graph *g = b->g;
    g->undisturbed = g->ordinary = 1;
    if (g->is_span) {
        return true;
    }
    double least, busiest, item_ns;
    g->ordinary = find_ordinary(b, &item_ns);
    find_busy(b, &g->beside, &busiest);
    g->pace_ns = item_ns > 0 ? item_ns : busiest * (double)(b->to_ns - b->from_ns) / g->step_count;
    if (g->has_device) {
        return true;
    }
    if (!find_evenness(b, &least)) {
        return false;
    }
    if (stk_graph_has_processes(b)) {
        g->undisturbed = least;
    } else if (g->beside >= BESIDE_LEAST) {
        double part = 1 / (1 + g->beside);
        g->undisturbed = part < least ? part : least;
    }
    return true;
}
