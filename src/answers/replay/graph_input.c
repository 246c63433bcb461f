// SPDX-License-Identifier: Apache-2.0
// How batches reach the step: prepared by the thread that fetches them, or by workers that run
// ahead. With workers, batch k is ready at a time of its own. If a fetch waited, that is the
// fetch's end. Between two such fetches, batches are assumed to become ready evenly. Before the
// first and after the last, the same pace is assumed, but no batch is ready later than it was
// fetched. That pace doesn't depend on the step, so a faster step waits for its input.
//
// Who prepares batches is decided by the fetch's name (PyTorch), by stages recorded on other
// threads, or else by the fetches themselves: the same work always takes about the same time, a
// wait doesn't.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "profile/model/median.h"
#include "answers/replay/graph.h"

#define FETCH_ELSE_NS (50 * STK_US) // cost of taking a ready batch
#define WAITED_NS (100 * STK_US)    // a fetch this much longer than the shortest waited
#define HANDED_NS (150 * STK_US)    // if all fetches are shorter, batches may have been ready
#define FEW_STEPS 4                 // too few for a mean
#define WORTH 0.03                  // of the time: with less, fetches don't show a pace
#define ON_DEMAND 0.75              // busy loader threads: with fewer, none works at its full pace
#define MOST_WAITED 0.6             // of the fetches: batches arrive as they are made
#define FEW_BATCHES 8               // with fewer, slow ones can't be recognized
#define FEW_SLOWER 1.3              // upper quartile over median; below it, few batches are slow
#define UNEVEN 0.8                  // median over mean; from here on batches are even
#define MOST_TENSORS 1000           // of a batch
#define WORK_SPREAD 0.25            // fetches that do the work: largest deviation over mean

static bool fetch_is_named(const struct stk_analysis *a, const char *word)
{
    for (size_t i = 0; i < a->fetches.count; i++) {
        if (stk_str_contains(stk_name_of(a->t, a->fetches.v[i].event), stk_str_from(word))) {
            return true;
        }
    }
    return false;
}

bool stk_graph_has_processes(const struct stk_graph_build *b)
{
    return fetch_is_named(b->a, "MultiProcessingDataLoader");
}

// Does a loader's thread have events that last at least as long as all fetches together?
static bool has_loader_threads(const struct stk_graph_build *b)
{
    const struct stk_analysis *a = b->a;
    for (uint32_t i = 0; i < a->t->track_count; i++) {
        if (a->threads[i].in_rank && a->threads[i].is_loader && a->threads[i].root == i &&
            a->t->tracks[i].count > 1 && !b->lane_of[i]) {
            return true;
        }
    }
    return false;
}

static bool fetches_are_even(const struct stk_vec *fetches)
{
    const int64_t *v = fetches->items;
    double mean = 0, square = 0;
    for (size_t i = 0; i < fetches->count; i++) {
        mean += (double)v[i] / (double)fetches->count;
    }
    for (size_t i = 0; i < fetches->count; i++) {
        square += ((double)v[i] - mean) * ((double)v[i] - mean) / (double)fetches->count;
    }
    return mean > 0 && sqrt(square) <= WORK_SPREAD * mean;
}

// Do fetches take enough of the time to show a pace?
static bool has_long(const struct stk_graph_build *b, const struct stk_vec *fetches)
{
    int64_t sum_ns = 0;
    for (size_t i = 0; i < fetches->count; i++) {
        sum_ns = stk_add_ns(sum_ns, *(const int64_t *)stk_vec_at(fetches, i));
    }
    return (double)sum_ns >= WORTH * (double)(b->to_ns - b->from_ns);
}

static enum stk_feed feed_of(const struct stk_graph_build *b, const struct stk_vec *fetches)
{
    if (fetches->count == 0) {
        return STK_FEED_NONE;
    }
    if (!has_long(b, fetches) || fetch_is_named(b->a, "SingleProcessDataLoader") ||
        b->a->sum->facts.own_batches > 0) { // the loop's body makes them
        return STK_FEED_INLINE;
    }
    if (stk_graph_has_processes(b)) {
        return STK_FEED_WORKERS;
    }
    if (has_loader_threads(b)) { // all idle for a quarter of the time or more: they work
        bool on_demand = !b->g->has_device && !b->g->is_span && b->g->beside < ON_DEMAND;
        return on_demand ? STK_FEED_INLINE : STK_FEED_WORKERS;
    }
    return fetches_are_even(fetches) ? STK_FEED_INLINE : STK_FEED_WORKERS;
}

// Batches between two fetches that waited became ready evenly, and before they were fetched.
static void spread(int64_t *ready, uint32_t from, uint32_t to, const struct stk_node *nodes,
                   const struct stk_vec *at)
{
    for (uint32_t k = from + 1; k < to; k++) {
        int64_t even = ready[from] + (ready[to] - ready[from]) / (to - from) * (k - from);
        int64_t fetched = nodes[*(const uint32_t *)stk_vec_at(at, k)].start_ns;
        ready[k] = even < fetched ? even : fetched;
    }
}

// Assumes the same pace before the first fetch that waited and after the last.
static void extend(struct stk_graph *g, int64_t *ready, uint32_t count,
                   const struct stk_node *nodes, const struct stk_vec *at)
{
    uint32_t first = g->waited_first, last = g->waited_last;
    if (first == STK_NONE || first == last) {
        return;
    }
    int64_t pace_ns = (ready[last] - ready[first]) / (last - first);
    for (uint32_t k = 0; k < count; k++) {
        if (k >= first && k <= last) {
            continue;
        }
        int64_t even =
            k < first ? ready[first] - pace_ns * (first - k) : ready[last] + pace_ns * (k - last);
        int64_t fetched = nodes[*(const uint32_t *)stk_vec_at(at, k)].start_ns;
        ready[k] = even < fetched ? even : fetched;
    }
}

// Numbers the batches. With workers, fetches become waits for them, whose own time is that of
// taking a ready batch.
static bool set_batches(struct stk_graph_build *b, const struct stk_vec *at)
{
    struct stk_node *nodes = b->nodes.items;
    int64_t fetch_ns = b->g->calibration.fetch_ns;
    uint32_t waited = STK_NONE;
    b->g->waited_first = STK_NONE;
    int64_t *ready = stk_arena_array(b->arena, at->count + 1, sizeof *ready);
    for (uint32_t k = 0; ready && k < at->count; k++) {
        struct stk_node *n = &nodes[*(const uint32_t *)stk_vec_at(at, k)];
        bool waits = b->g->feed == STK_FEED_WORKERS && n->dur_ns > fetch_ns + WAITED_NS;
        ready[k] = waits ? stk_node_end(n) - fetch_ns : INT64_MIN;
        n->wait = k;
        n->lag_ns = (int32_t)fetch_ns;
        if (waits) {
            if (waited != STK_NONE) {
                spread(ready, waited, k, nodes, at);
            }
            waited = k;
            b->g->waits++;
            b->g->waited_first = b->g->waited_first == STK_NONE ? k : b->g->waited_first;
            n->dur_ns = fetch_ns;
        }
    }
    b->g->waited_last = waited;
    if (ready) {
        extend(b->g, ready, (uint32_t)at->count, nodes, at);
    }
    b->g->ready_ns = ready;
    b->g->batch_count = ready ? (uint32_t)at->count : 0;
    return ready != NULL;
}

// How long the step waited for a batch; 0 or less: it didn't.
static int64_t wait_of(const struct stk_graph_build *b, const struct stk_vec *at, uint32_t k)
{
    const struct stk_node *n = stk_vec_at(&b->nodes, *(const uint32_t *)stk_vec_at(at, k));
    int64_t ready_ns = b->g->ready_ns[k];
    return ready_ns == INT64_MIN ? 0 : ready_ns - n->start_ns;
}

// The first and the last of the long waits, which begin the rounds of workers that have their
// batches ready together, or follow a slow batch. False: there aren't two. The first fetch of all
// doesn't count, since it also waits for workers to start.
static bool long_waits(const struct stk_graph_build *b, const struct stk_vec *at, uint32_t *first,
                       uint32_t *last)
{
    int64_t longest_ns = 0;
    *first = *last = STK_NONE;
    for (uint32_t k = 1; k < b->g->batch_count; k++) {
        int64_t ns = wait_of(b, at, k);
        longest_ns = ns > longest_ns ? ns : longest_ns;
    }
    for (uint32_t k = 0; longest_ns > 0 && k < b->g->batch_count; k++) {
        if (wait_of(b, at, k) > longest_ns / 2) {
            *first = *first == STK_NONE ? k : *first;
            *last = k;
        }
    }
    return *first != *last;
}

// Takes the mean over the steps after one batch up to another. False: these are too few, or too
// small a part of all.
static bool choose_between(struct stk_graph_build *b, const struct stk_vec *at, uint32_t first,
                           uint32_t last, uint32_t part)
{
    struct stk_graph *g = b->g;
    const struct stk_node *nodes = b->nodes.items;
    uint32_t from = nodes[*(const uint32_t *)stk_vec_at(at, first)].step + 1;
    uint32_t to = nodes[*(const uint32_t *)stk_vec_at(at, last)].step + 1;
    bool enough = to > from && (to - from) * part >= g->step_count && to - from >= FEW_STEPS;
    if (enough) {
        g->mean_from = from;
        g->mean_to = to < g->step_count ? to : g->step_count;
    }
    return enough;
}

// From the step after the first long wait to the last long wait, or from the first wait to the
// last, if these are enough steps; otherwise all.
static void choose_mean(struct stk_graph_build *b, const struct stk_vec *at)
{
    struct stk_graph *g = b->g;
    uint32_t first, last;
    g->mean_from = 0;
    g->mean_to = g->step_count;
    g->has_rounds = long_waits(b, at, &first, &last) && choose_between(b, at, first, last, 3);
    g->round_first = g->has_rounds ? first : g->waited_first;
    g->round_last = g->has_rounds ? last : g->waited_last;
    if (!g->has_rounds && g->waited_first != g->waited_last && g->waited_first != STK_NONE) {
        choose_between(b, at, g->waited_first, g->waited_last, 2);
    }
}

// With a device, prices start from the mean of only those steps: part of a worker round would bias
// it toward steps that wait, or that don't. Without a device, a loader's threads disturb all steps,
// and waits don't form rounds.
static void count_rounds(struct stk_graph_build *b)
{
    struct stk_graph *g = b->g;
    uint32_t within = 0;
    for (uint32_t k = g->mean_from; k < g->mean_to; k++) {
        within += g->steps[k].used;
    }
    bool counts = g->has_device && !g->is_span && within >= FEW_STEPS;
    for (uint32_t k = 0; counts && k < g->step_count; k++) {
        bool leaves = g->steps[k].used && (k < g->mean_from || k >= g->mean_to);
        g->steps[k].used &= !leaves;
        g->steps_used -= leaves;
        g->counts_rounds |= leaves;
    }
    // Sets the workers' pace.
    double mean_ns = counts ? (double)(b->starts_ns[g->mean_to] - b->starts_ns[g->mean_from]) /
                                  (g->mean_to - g->mean_from)
                            : 0;
    g->pace_ns = mean_ns > 0 && g->pace_ns > mean_ns ? mean_ns : g->pace_ns;
}

// If most fetches waited, batches arrive as workers make them. A few that take far longer than the
// rest are slow batches, not the first of several that arrive together. Returns their median over
// their mean.
static bool find_ordinary(struct stk_graph *g)
{
    uint32_t first = g->waited_first, last = g->waited_last, n = 0;
    if (first == STK_NONE || g->ordinary < 1 || last - first < FEW_BATCHES) {
        return true;
    }
    int64_t *ns = stk_alloc_array((size_t)last - first, sizeof *ns);
    for (uint32_t k = first + 1; ns && k <= last; k++) {
        ns[n++] = g->ready_ns[k] - g->ready_ns[k - 1];
    }
    if (ns) {
        double mean = (double)(g->ready_ns[last] - g->ready_ns[first]) / n;
        double median = (double)stk_nth_value(ns, n, n / 2);
        bool few = (double)stk_nth_value(ns, n, 3 * n / 4) < FEW_SLOWER * median;
        double ordinary = mean > 0 ? median / mean : 1;
        g->ordinary = few && g->waits >= MOST_WAITED * n && ordinary < UNEVEN ? ordinary : 1;
    }
    stk_free(ns);
    return ns != NULL;
}

// The number of tensors in a batch: each is stacked once. 1: not recorded.
static uint32_t tensors_of(const struct stk_analysis *a)
{
    const struct stk_facts *f = &a->sum->facts;
    uint64_t fetches = f->loader_fetches ? f->loader_fetches : a->fetches.count;
    uint64_t n = fetches ? f->fetch_stacks / fetches : 0;
    bool is_torch = a->t->framework_hint & 1u << STK_FW_PYTORCH;
    return !is_torch ? 0 : n < 1 ? 1 : n < MOST_TENSORS ? (uint32_t)n : MOST_TENSORS;
}

bool stk_graph_input(struct stk_graph_build *b)
{
    struct stk_node *nodes = b->nodes.items;
    struct stk_vec at, fetches;
    stk_vec_init(&at, sizeof(uint32_t), UINT32_MAX);
    stk_vec_init(&fetches, sizeof(int64_t), UINT32_MAX);
    bool ok = true;
    int64_t least = INT64_MAX, longest_ns = 0;
    for (size_t i = 0; ok && i < b->nodes.count && !stk_node_is_device(&nodes[i]); i++) {
        if (nodes[i].kind == STK_NODE_INPUT) {
            uint32_t *node = stk_vec_push(&at);
            int64_t *ns = stk_vec_push(&fetches);
            ok = node && ns;
            if (ok) {
                *node = (uint32_t)i;
                *ns = nodes[i].dur_ns;
                least = nodes[i].dur_ns < least ? nodes[i].dur_ns : least;
                longest_ns = nodes[i].dur_ns > longest_ns ? nodes[i].dur_ns : longest_ns;
            }
        }
    }
    b->g->calibration.fetch_ns = least < FETCH_ELSE_NS ? least : FETCH_ELSE_NS;
    b->g->tensors = tensors_of(b->a);
    b->g->feed = ok ? feed_of(b, &fetches) : STK_FEED_NONE;
    b->g->has_workers =
        b->g->feed != STK_FEED_NONE && !fetch_is_named(b->a, "SingleProcessDataLoader") &&
        (b->g->feed == STK_FEED_WORKERS || !has_long(b, &fetches) || longest_ns < HANDED_NS);
    ok = ok && set_batches(b, &at);
    if (ok) {
        choose_mean(b, &at);
        count_rounds(b);
        ok = find_ordinary(b->g);
    }
    stk_vec_deinit(&at);
    stk_vec_deinit(&fetches);
    return ok;
}
