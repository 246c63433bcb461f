// SPDX-License-Identifier: Apache-2.0
// Several steps per call of the program (Keras' steps_per_execution, a loop inside the compiled
// function). The driving thread's time without events in a step, outside fetches, calls and
// callbacks, occurs once for all of them.
//
// At best callbacks run as rarely, too, as Keras' do. At worst a fifth of that time stays.
#include "base/assert.h"
#include "profile/model/thresholds.h"
#include "answers/replay/price_row.h"

static const char *steps_per_launch_refuse(const struct stk_graph *g)
{
    if (g->eager_ops >= stk_threshold_value(STK_T_EAGER_OPS)) {
        return "TensorFlow runs the step operation by operation: no call holds a whole step";
    }
    return stk_price_finds(g, STK_NODE_WORK, STK_WHAT_IDLE)
               ? NULL
               : "the main thread does nothing unrecorded in a step";
}

static bool steps_per_launch_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    STK_ASSERT(s->g->driver < s->g->lane_count);
    double left = how->value > 1 ? 1 / how->value : 1;
    const struct stk_lane *lane = &s->g->lanes[s->g->driver];
    left = how->level == STK_PRICE_HIGH ? left + 0.2 * (1 - left) : left;
    for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
        struct stk_node *n = &s->nodes[i];
        bool once = n->what == STK_WHAT_IDLE ||
                    (n->what == STK_WHAT_CALLBACK && how->level == STK_PRICE_LOW);
        if (n->kind == STK_NODE_WORK && once && n->wait == STK_NONE) {
            n->dur_ns = stk_price_scaled(n->dur_ns, left);
        }
    }
    return true;
}

const struct stk_price_row stk_price_steps_per_launch = {
    .id = "steps-per-launch=",
    .value = "10",
    .what = "run this many steps per call of the program",
    .assumes = "the steps can run in one call, and nothing the program does between them is needed",
    .is_priced_alone = true,
    .refuse = steps_per_launch_refuse,
    .apply = steps_per_launch_apply,
};
