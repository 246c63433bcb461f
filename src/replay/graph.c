// SPDX-License-Identifier: Apache-2.0
// From a rank's trace to its graph: which steps, then lanes, nodes and edges (graph.h).
#include "replay/graph.h"

#include <string.h>

#include "base/alloc.h"

#define MIN_STEPS 2
// About that many events of the trace make the nodes of a graph: enough steps, a bounded time.
#define MAX_EVENTS 6000000

// The steps from the first used one to the last; at most as many as the cap on events lets in.
static void choose_steps(struct stk_graph_build *b)
{
    const struct stk_analysis *a = b->a;
    uint32_t first = STK_NONE, last = 0;
    for (uint32_t i = 0; i < a->step_count; i++) {
        if (!a->steps[i].excluded) {
            first = first == STK_NONE ? i : first;
            last = i;
        }
    }
    uint32_t count = first == STK_NONE ? 0 : last - first + 1;
    uint64_t most = (uint64_t)MAX_EVENTS * (a->step_count + 1) / ((uint64_t)a->t->count + 1);
    if (count > most) {
        count = most > MIN_STEPS ? (uint32_t)most : MIN_STEPS;
    }
    b->first_step = first;
    b->g->step_count = count;
    for (uint32_t k = 0; k < count; k++) {
        b->g->steps_used += !a->steps[first + k].excluded;
    }
    if (count) {
        b->from_ns = a->steps[first].start_ns;
        b->to_ns = a->steps[first + count - 1].end_ns;
    }
}

static const char *refuse(const struct stk_graph_build *b)
{
    const struct stk_analysis *a = b->a;
    return a->step_count == 0 ? "the profile holds no steps"
           : a->steps_on_device || a->steps_per_device
               ? "the steps are known on the device alone, not what launched their work"
           : b->g->steps_used < MIN_STEPS ? "fewer than two steps can be used"
           : b->to_ns - b->from_ns <= 0   ? "the steps take no time"
                                          : NULL;
}

// Without a driving thread, the one with the most calls is taken.
static void choose_driver(struct stk_graph_build *b)
{
    uint32_t most = 0;
    for (size_t l = 0; b->g->driver == STK_NONE && l < b->lanes.count; l++) {
        const struct stk_lane *lane = stk_vec_at(&b->lanes, l);
        most = lane->is_device ? most : lane->count > most ? lane->count : most;
    }
    for (size_t l = 0; b->g->driver == STK_NONE && l < b->lanes.count; l++) {
        const struct stk_lane *lane = stk_vec_at(&b->lanes, l);
        if (!lane->is_device && lane->count == most && most > 0) {
            b->g->driver = (uint32_t)l;
        }
    }
}

static bool set_steps(struct stk_graph_build *b)
{
    const struct stk_node *nodes = b->nodes.items;
    struct stk_graph *g = b->g;
    g->steps = stk_arena_array(b->arena, (size_t)g->step_count + 1, sizeof *g->steps);
    if (!g->steps) {
        return false;
    }
    for (uint32_t k = 0; k < g->step_count; k++) {
        const struct stk_host_step *s = &b->a->steps[b->first_step + k];
        g->steps[k] = (struct stk_graph_step){
            .node = STK_NONE, .start_ns = s->start_ns, .used = s->excluded == NULL};
    }
    const struct stk_lane *lane = stk_vec_at(&b->lanes, g->driver);
    for (uint32_t i = lane->first + lane->count; i-- > lane->first;) {
        g->steps[nodes[i].step].node = i;
    }
    for (uint32_t k = 0; k < g->step_count; k++) {
        g->why_not =
            g->steps[k].node == STK_NONE ? "a step holds nothing of its thread" : g->why_not;
    }
    g->end_ns = b->to_ns;
    return true;
}

static bool keep(struct stk_graph_build *b)
{
    struct stk_graph *g = b->g;
    g->nodes = stk_arena_items(b->arena, &b->nodes);
    g->lanes = stk_arena_items(b->arena, &b->lanes);
    g->node_count = (uint32_t)b->nodes.count;
    g->lane_count = (uint32_t)b->lanes.count;
    return g->nodes && g->lanes;
}

static bool build(struct stk_graph_build *b)
{
    b->lane_of = stk_alloc_zero((size_t)b->a->t->track_count + 1, sizeof *b->lane_of);
    if (!b->lane_of || !stk_graph_hosts(b)) {
        return false;
    }
    choose_driver(b);
    if (b->g->driver == STK_NONE) {
        b->g->why_not = "no thread drives the steps";
        return true;
    }
    return stk_graph_devices(b) && stk_graph_edges(b) && stk_graph_input(b) && stk_graph_waits(b) &&
           set_steps(b) && keep(b);
}

static enum stoker_status see(const struct stk_analysis *a, struct stk_arena *arena, void **partial,
                              struct stoker_err *err)
{
    struct stk_graph_build b = {.a = a, .arena = arena};
    b.g = stk_arena_array(arena, 1, sizeof *b.g);
    if (!b.g) {
        return stk_err_nomem(err);
    }
    b.g->rank = a->sum->rank;
    stk_vec_init(&b.nodes, sizeof(struct stk_node), UINT32_MAX - 1);
    stk_vec_init(&b.lanes, sizeof(struct stk_lane), UINT16_MAX - 1);
    choose_steps(&b);
    b.g->why_not = refuse(&b);
    bool ok = b.g->why_not || build(&b);
    stk_vec_deinit(&b.nodes);
    stk_vec_deinit(&b.lanes);
    stk_free(b.lane_of);
    *partial = b.g;
    return ok ? STOKER_OK : stk_err_nomem(err);
}

const struct stk_view_hook stk_replay_hook = {.see = see};
