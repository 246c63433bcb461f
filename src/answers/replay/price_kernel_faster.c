// SPDX-License-Identifier: Apache-2.0
// Kernels other than collectives get faster by that factor. Launches, copies and waits stay.
#include "answers/replay/price_row.h"

static const char *kernel_faster_refuse(const struct stk_graph *g)
{
    return g->has_device ? NULL : "no GPU work was recorded";
}

static bool kernel_faster_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    for (uint32_t i = 0; i < s->g->node_count; i++) {
        struct stk_node *n = &s->nodes[i];
        if (n->kind == STK_NODE_KERNEL) {
            n->dur_ns = stk_price_scaled(n->dur_ns, 1 / how->value);
        }
    }
    return true;
}

const struct stk_price_row stk_price_kernel_faster = {
    .id = "kernel-faster=",
    .value = "2",
    .what = "make all kernels except collectives this many times faster",
    .assumes = "they do the same work",
    .is_priced_alone = false,
    .is_supposed = true,
    .refuse = kernel_faster_refuse,
    .apply = kernel_faster_apply,
};
