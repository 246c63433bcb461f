// SPDX-License-Identifier: Apache-2.0
// A faster link between host and device: copies from and to pinned memory get faster by that
// factor, except for their setup. Staging depends on the host's rate and stays.
#include "answers/replay/price_transfers.h"

static const char *link_faster_refuse(const struct stk_graph *g)
{
    for (uint32_t i = 0; i < g->node_count; i++) {
        if (stk_price_is_copy(&g->nodes[i])) {
            return NULL;
        }
    }
    return "no host-to-device or device-to-host copies were recorded";
}

static bool link_faster_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    for (uint32_t i = 0; i < s->g->node_count; i++) {
        struct stk_node *n = &s->nodes[i];
        bool staged = n->what == STK_WHAT_H2D_PAGEABLE || n->what == STK_WHAT_D2H_PAGEABLE;
        if (stk_price_is_copy(n) && (!staged || how->level == STK_PRICE_LOW)) {
            n->dur_ns = stk_price_copy_ns(n->dur_ns, how->value);
        }
    }
    return true;
}

const struct stk_price_row stk_price_link_faster = {
    .id = "link-faster=",
    .value = "2",
    .what = "make copies between CPU and GPU this many times faster",
    .assumes = "CPU memory keeps up",
    .is_priced_alone = true,
    .is_supposed = true,
    .refuse = link_faster_refuse,
    .apply = link_faster_apply,
};
