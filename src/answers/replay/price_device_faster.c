// SPDX-License-Identifier: Apache-2.0
// Everything on the device gets faster by that factor: kernels, copies, and collectives except
// their fixed part (price_messages.h). Staging of pageable copies is host work and stays.
#include "answers/replay/price_messages.h"

static const char *device_faster_refuse(const struct stk_graph *g)
{
    return g->has_device ? NULL : "no GPU work was recorded";
}

static bool device_faster_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    struct stk_message_floor f = stk_message_floor(s->g, how->level);
    for (uint32_t i = 0; i < s->g->node_count; i++) {
        struct stk_node *n = &s->nodes[i];
        bool staged = n->kind == STK_NODE_COPY &&
                      (n->what == STK_WHAT_H2D_PAGEABLE || n->what == STK_WHAT_D2H_PAGEABLE);
        if (stk_node_is_device(n) && !staged) {
            int64_t fixed =
                n->kind == STK_NODE_COLLECTIVE ? stk_message_fixed(&f, n->dur_ns, how->level) : 0;
            n->dur_ns = fixed + stk_price_scaled(n->dur_ns - fixed, 1 / how->value);
        }
    }
    return true;
}

const struct stk_price_row stk_price_device_faster = {
    .id = "device-faster=",
    .value = "2",
    .what = "make kernels, copies and collectives this many times faster",
    .assumes = "they do the same work",
    .is_priced_alone = false,
    .is_supposed = true,
    .refuse = device_faster_refuse,
    .apply = device_faster_apply,
};
