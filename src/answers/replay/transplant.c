// SPDX-License-Identifier: Apache-2.0
// The transplant check (transplant.h). Only durations are transferred: edges, latencies, gaps and
// unexplained waits stay those of the step they are put into. Steps that differ in the kinds of
// their nodes, on any lane, aren't a pair. All pairs are put into one scene: one replay, O(nodes).
#include "answers/replay/transplant.h"

#include <math.h>

#include "base/alloc.h"

struct transplant {
    const struct stk_graph *g;
    struct stk_scene scene;
    uint32_t *first; // per step of the current lane: its first node; STK_NONE
    uint8_t *differ; // per step: it isn't a pair with the next one
};

// First nodes of the steps on a lane; false: the lane's steps are not in order.
static bool find_steps(struct transplant *x, const struct stk_lane *lane)
{
    uint32_t steps = x->g->step_count, last = 0;
    for (uint32_t k = 0; k <= steps; k++) {
        x->first[k] = STK_NONE;
    }
    for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
        uint32_t step = x->g->nodes[i].step;
        if (step < last) {
            return false;
        }
        x->first[step] = x->first[step] == STK_NONE ? i : x->first[step];
        last = step;
    }
    uint32_t next = lane->first + lane->count;
    for (uint32_t k = steps + 1; k-- > 0;) { // a step without nodes begins where the next one does
        next = x->first[k] = x->first[k] == STK_NONE ? next : x->first[k];
    }
    return true;
}

static bool are_alike(const struct transplant *x, uint32_t k)
{
    const struct stk_node *nodes = x->g->nodes;
    uint32_t a = x->first[k], b = x->first[k + 1], n = b - a;
    bool alike = x->first[k + 2] - b == n;
    for (uint32_t i = 0; alike && i < n; i++) {
        alike = nodes[a + i].kind == nodes[b + i].kind;
    }
    return alike;
}

// Two passes: finds the steps that are pairs on every lane, then transfers their durations.
static void go_over_lanes(struct transplant *x, bool puts)
{
    const struct stk_graph *g = x->g;
    for (uint32_t l = 0; l < g->lane_count; l++) {
        bool in_order = find_steps(x, &g->lanes[l]);
        for (uint32_t k = 0; k + 1 < g->step_count; k++) {
            if (!puts) {
                x->differ[k] |= !in_order || !are_alike(x, k);
                continue;
            }
            for (uint32_t i = 0; !x->differ[k] && i < x->first[k + 1] - x->first[k]; i++) {
                x->scene.nodes[x->first[k] + i].dur_ns = g->nodes[x->first[k + 1] + i].dur_ns;
            }
        }
    }
}

static bool compare(struct transplant *x, struct stk_times *t, const int64_t *was, double *errors,
                    size_t *count)
{
    const struct stk_graph *g = x->g;
    int64_t *is = stk_alloc_array((size_t)g->step_count + 1, sizeof *is);
    if (is && stk_replay_run(&x->scene, t)) {
        stk_replay_steps(g, x->scene.nodes, t, is);
        for (uint32_t k = 0; k + 1 < g->step_count; k++) {
            double truth = (double)(was[k + 2] - was[k + 1]);
            if (!x->differ[k] && g->steps[k].used && g->steps[k + 1].used && truth > 0) {
                errors[(*count)++] = fabs((double)(is[k + 1] - is[k]) / truth - 1);
            }
        }
    }
    stk_free(is);
    return is != NULL;
}

bool stk_transplant_check(const struct stk_graph *g, struct stk_times *t, const int64_t *was,
                          double *errors, size_t *count)
{
    struct transplant x = {.g = g};
    *count = 0;
    bool ok = stk_scene_init(&x.scene, g);
    x.first = stk_alloc_array((size_t)g->step_count + 2, sizeof *x.first);
    x.differ = stk_alloc_zero((size_t)g->step_count + 1, sizeof *x.differ);
    ok = ok && x.first && x.differ;
    if (ok) {
        go_over_lanes(&x, false);
        go_over_lanes(&x, true);
        ok = compare(&x, t, was, errors, count);
    }
    stk_free(x.first);
    stk_free(x.differ);
    stk_scene_deinit(&x.scene);
    return ok;
}
