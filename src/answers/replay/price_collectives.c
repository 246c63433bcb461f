// SPDX-License-Identifier: Apache-2.0
// Collectives step by step (price_collectives.h), in one pass over two lanes.
#include "answers/replay/price_collectives.h"

#include "base/assert.h"

// The lane with the most time in nodes of a kind; STK_NONE: none.
static uint32_t busiest(const struct stk_graph *g, enum stk_node_kind kind)
{
    uint32_t best = STK_NONE;
    int64_t best_ns = -1;
    for (uint32_t l = 0; l < g->lane_count; l++) {
        int64_t ns = -1;
        const struct stk_lane *lane = &g->lanes[l];
        for (uint32_t i = lane->first; lane->is_device && i < lane->first + lane->count; i++) {
            bool counts = g->nodes[i].kind == kind;
            ns = counts ? (ns < 0 ? 0 : ns) + g->nodes[i].dur_ns : ns;
        }
        best = ns > best_ns ? l : best;
        best_ns = ns > best_ns ? ns : best_ns;
    }
    return best;
}

struct stk_comm_walk stk_comm_walk(const struct stk_graph *g, const struct stk_node *nodes)
{
    struct stk_comm_walk w = {.g = g, .nodes = nodes};
    w.comm = busiest(g, STK_NODE_COLLECTIVE);
    w.compute = busiest(g, STK_NODE_KERNEL);
    if (w.comm != STK_NONE && w.compute != STK_NONE) {
        w.at_comm = g->lanes[w.comm].first;
        w.at_compute = g->lanes[w.compute].first;
    }
    return w;
}

// Nodes of a lane up to the end of a step.
static uint32_t to_end(const struct stk_graph *g, uint32_t lane, uint32_t at, uint32_t step)
{
    STK_ASSERT(lane < g->lane_count);
    uint32_t end = g->lanes[lane].first + g->lanes[lane].count;
    while (at < end && g->nodes[at].step <= step) {
        at++;
    }
    return at;
}

// False: no collective in the step.
static bool fill(const struct stk_comm_walk *w, struct stk_step_comm *c)
{
    STK_ASSERT(c->first <= c->end && c->end <= w->g->node_count);
    int64_t from_ns = INT64_MAX, to_ns = INT64_MIN;
    for (uint32_t i = c->first; i < c->end; i++) {
        const struct stk_node *n = &w->g->nodes[i];
        if (n->kind == STK_NODE_COLLECTIVE) {
            from_ns = n->start_ns < from_ns ? n->start_ns : from_ns;
            to_ns = stk_node_end(n);
            c->total_ns += (double)w->nodes[i].dur_ns;
            c->count++;
        }
    }
    if (c->count == 0) {
        return false;
    }
    for (uint32_t i = c->kernels; i < c->k_end; i++) {
        const struct stk_node *n = &w->g->nodes[i];
        if (n->kind == STK_NODE_KERNEL && stk_node_end(n) <= from_ns + STK_US) {
            c->before_ns += (double)(w->nodes[i].dur_ns + w->nodes[i].gap_ns);
        } else if (n->kind == STK_NODE_KERNEL && n->start_ns < to_ns) {
            c->beside_ns += (double)w->nodes[i].dur_ns;
        }
    }
    return true;
}

bool stk_comm_next(struct stk_comm_walk *w, struct stk_step_comm *out)
{
    if (w->comm == STK_NONE || w->compute == STK_NONE) {
        return false;
    }
    while (w->step < w->g->step_count) {
        *out = (struct stk_step_comm){.first = w->at_comm, .kernels = w->at_compute};
        out->end = w->at_comm = to_end(w->g, w->comm, w->at_comm, w->step);
        out->k_end = w->at_compute = to_end(w->g, w->compute, w->at_compute, w->step);
        w->step++;
        if (fill(w, out)) {
            return true;
        }
    }
    return false;
}
