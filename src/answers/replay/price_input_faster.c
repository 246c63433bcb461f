// SPDX-License-Identifier: Apache-2.0
// Batches are prepared faster by a factor: the work of a fetching thread, or the pace of workers.
// No step is shorter than that pace; batches that are ready ahead even out the rest.
#include "answers/replay/price_row.h"

static bool input_faster_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    int64_t fetch_ns = s->g->calibration.fetch_ns;
    for (uint32_t i = 0; i < s->g->node_count; i++) {
        struct stk_node *n = &s->nodes[i];
        if (n->kind == STK_NODE_INPUT && n->dur_ns > fetch_ns) {
            n->dur_ns = fetch_ns + stk_price_scaled(n->dur_ns - fetch_ns, 1 / how->value);
        }
    }
    double pace_ns = stk_price_drop_pace(s) / how->value;
    stk_price_undisturb(s, how->level, how->value > 1 ? 1 - 1 / how->value : 0);
    s->floor_ns /= how->value > 1 ? how->value : 1;
    s->floor_ns = pace_ns > s->floor_ns ? pace_ns : s->floor_ns;
    return true;
}

const struct stk_price_row stk_price_input_faster = {
    .id = "input-faster=",
    .value = "2",
    .what = "prepare a batch this many times faster",
    .assumes = "all of its preparation gets faster",
    .is_priced_alone = true,
    .refuse = stk_price_refuse_input,
    .apply = input_faster_apply,
};
