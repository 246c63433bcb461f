// SPDX-License-Identifier: Apache-2.0
// How batches reach the step: prepared by the thread that fetches them, or by workers that run
// ahead. Workers have batch k ready at a time of their own: where a fetch waited, its end tells
// when; between two such fetches batches are taken to have become ready evenly, and before the
// first and behind the last at the same pace, but not later than they were fetched. That pace goes
// on whatever the step does, so a step that becomes faster waits for its input.
//
// Who prepares is told by the fetch's name (PyTorch), by stages recorded on other threads, else by
// the fetches themselves: the same work takes about the same time each time, a wait does not.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "model/median.h"
#include "replay/graph.h"

#define FETCH_ELSE_NS (50 * STK_US) // of taking a batch that is ready
#define WAITED_NS (100 * STK_US)    // a fetch longer than the least one by so much waited
#define FEW_STEPS 4                 // fewer make no mean
#define WORTH 0.03                  // of the time: fetches that take less tell no pace
#define ON_DEMAND 0.5               // loader threads busy: fewer do not hold up steps by their pace
#define WORK_SPREAD 0.25            // of fetches that do the work: deviation over mean, at most

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

// Does a loader's thread hold events that last at least as long as all fetches together?
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

// Do fetches take enough of the time to tell a pace?
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
    if (!has_long(b, fetches) || fetch_is_named(b->a, "SingleProcessDataLoader")) {
        return STK_FEED_INLINE;
    }
    if (stk_graph_has_processes(b)) {
        return STK_FEED_WORKERS;
    }
    if (has_loader_threads(b)) { // idle most of the time and waited for: they begin when asked
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

// Before the first fetch that waited and behind the last: the same pace goes on.
static void extend(struct stk_graph *g, int64_t *ready, uint32_t count,
                   const struct stk_node *nodes, const struct stk_vec *at)
{
    uint32_t first = g->waited_first, last = g->waited_last;
    if (first == STK_NONE || first == last) {
        return;
    }
    int64_t pace_ns = (ready[last] - ready[first]) / (last - first);
    for (uint32_t k = 0; k < count; k++) {
        if (k > first && k < last) {
            continue;
        }
        int64_t even =
            k < first ? ready[first] - pace_ns * (first - k) : ready[last] + pace_ns * (k - last);
        int64_t fetched = nodes[*(const uint32_t *)stk_vec_at(at, k)].start_ns;
        ready[k] = k == first || k == last ? ready[k] : even < fetched ? even : fetched;
    }
}

// Batches are numbered; of workers, fetches become waits for them, whose own time is that of taking
// one that is ready.
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

// Steps from behind the first that waited for its batch to the last: as many as count, or all.
static void choose_mean(struct stk_graph_build *b, const struct stk_vec *at)
{
    struct stk_graph *g = b->g;
    const struct stk_node *nodes = b->nodes.items;
    g->mean_from = 0;
    g->mean_to = g->step_count;
    if (g->waited_first == STK_NONE || g->waited_first == g->waited_last) {
        return;
    }
    uint32_t from = nodes[*(const uint32_t *)stk_vec_at(at, g->waited_first)].step + 1;
    uint32_t to = nodes[*(const uint32_t *)stk_vec_at(at, g->waited_last)].step + 1;
    if (to > from && (to - from) * 2 >= g->step_count && to - from >= FEW_STEPS) {
        g->mean_from = from;
        g->mean_to = to < g->step_count ? to : g->step_count;
    }
}

bool stk_graph_input(struct stk_graph_build *b)
{
    struct stk_node *nodes = b->nodes.items;
    struct stk_vec at, fetches;
    stk_vec_init(&at, sizeof(uint32_t), UINT32_MAX);
    stk_vec_init(&fetches, sizeof(int64_t), UINT32_MAX);
    bool ok = true;
    int64_t least = INT64_MAX;
    for (size_t i = 0; ok && i < b->nodes.count && !stk_node_is_device(&nodes[i]); i++) {
        if (nodes[i].kind == STK_NODE_INPUT) {
            uint32_t *node = stk_vec_push(&at);
            int64_t *ns = stk_vec_push(&fetches);
            ok = node && ns;
            if (ok) {
                *node = (uint32_t)i;
                *ns = nodes[i].dur_ns;
                least = nodes[i].dur_ns < least ? nodes[i].dur_ns : least;
            }
        }
    }
    b->g->calibration.fetch_ns = least < FETCH_ELSE_NS ? least : FETCH_ELSE_NS;
    b->g->feed = ok ? feed_of(b, &fetches) : STK_FEED_NONE;
    b->g->has_workers = b->g->feed != STK_FEED_NONE &&
                        !fetch_is_named(b->a, "SingleProcessDataLoader") &&
                        (b->g->feed == STK_FEED_WORKERS || !has_long(b, &fetches));
    ok = ok && set_batches(b, &at);
    if (ok) {
        choose_mean(b, &at);
    }
    stk_vec_deinit(&at);
    stk_vec_deinit(&fetches);
    return ok;
}
