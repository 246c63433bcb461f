// SPDX-License-Identifier: Apache-2.0
// A step that TensorFlow runs operation by operation becomes one graph (tf.function). The Python
// between the operations, and each operation's call, are removed. The operations' work stays, one
// call of the function is added, and fetches stay.
//
// At best the shortest run of each operation is its work. At worst operations take as long as they
// usually do now, and part of the rest is code that isn't in the graph (callbacks, logging). Limit:
// steps on a device aren't priced here, because their kernels wait for launches.
#include "base/assert.h"
#include "profile/model/thresholds.h"
#include "answers/replay/price_row.h"

#define REST_LEFT 0.25 // of the time outside operations: the least saving
// The function's call: 0.2 to 0.3 ms on an idle machine, for a step with few tensors.
static const int64_t call_ns[STK_PRICE_LEVELS] = {100 * STK_US, 300 * STK_US, STK_MS};

static bool is_step_work(const struct stk_graph *g, uint32_t i)
{
    const struct stk_node *n = &g->nodes[i];
    return n->kind == STK_NODE_WORK && n->wait == STK_NONE && n->step < g->step_count;
}

static const char *step_graph_refuse(const struct stk_graph *g)
{
    if (g->has_device || g->driver == STK_NONE || g->is_span) {
        return "only steps whose operations run on the CPU can be estimated as one graph";
    }
    return g->eager_ops >= stk_threshold_value(STK_T_EAGER_OPS)
               ? NULL
               : "TensorFlow runs hardly any operations "
                 "of the step eagerly";
}

// The driving thread's work in a mean step, outside fetches.
static double work_of(const struct stk_scene *s)
{
    const struct stk_lane *lane = &s->g->lanes[s->g->driver];
    double ns = 0;
    for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
        ns += is_step_work(s->g, i) ? (double)s->nodes[i].dur_ns : 0;
    }
    return s->g->step_count ? ns / s->g->step_count : 0;
}

static bool step_graph_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    const struct stk_graph *g = s->g;
    STK_ASSERT(g->driver < g->lane_count && (unsigned)how->level < STK_PRICE_LEVELS);
    double now_ns = work_of(s), rest_ns = now_ns > g->eager_ns ? now_ns - g->eager_ns : 0;
    double left_ns = how->level == STK_PRICE_LOW        ? g->eager_least_ns
                     : how->level == STK_PRICE_EXPECTED ? g->eager_work_ns
                                                        : g->eager_usual_ns + REST_LEFT * rest_ns;
    left_ns += (double)call_ns[how->level];
    double share = now_ns > 0 && left_ns < now_ns ? left_ns / now_ns : 1;
    const struct stk_lane *lane = &g->lanes[g->driver];
    for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
        struct stk_node *n = &s->nodes[i];
        if (is_step_work(g, i)) {
            n->dur_ns = stk_price_scaled(n->dur_ns, share);
            n->rest_ns = 0;
        }
    }
    return true;
}

const struct stk_price_row stk_price_step_graph = {
    .id = "step-graph",
    .what = "run the step as one graph instead of operation by operation",
    .assumes = "the whole step can be traced: what it computes depends on tensors, not on Python",
    .is_priced_alone = true,
    .changes_model = true,
    .refuse = step_graph_refuse,
    .apply = step_graph_apply,
};
