// SPDX-License-Identifier: Apache-2.0
// The same batch in every step: a fetch only returns a ready batch, and needs no worker. Copies to
// the device stay.
#include "answers/replay/price_row.h"

static bool input_free_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    int64_t least = how->level == STK_PRICE_LOW ? 0 : s->g->calibration.fetch_ns;
    for (uint32_t i = 0; i < s->g->node_count; i++) {
        struct stk_node *n = &s->nodes[i];
        if (n->kind == STK_NODE_INPUT) {
            n->dur_ns = n->dur_ns < least ? n->dur_ns : least;
            s->ready_ns[n->wait] = INT64_MIN;
        }
    }
    s->needs_no_batches = true;
    s->floor_ns = 0;
    stk_price_undisturb(s, how->level, 1);
    return true;
}

const struct stk_price_row stk_price_input_free = {
    .id = "input-free",
    .what = "batches cost nothing, as with one constant batch",
    .assumes = "the model computes the same with a constant batch",
    .is_priced_alone = true,
    .refuse = stk_price_refuse_input,
    .apply = input_free_apply,
};
