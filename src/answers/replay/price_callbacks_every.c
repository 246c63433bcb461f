// SPDX-License-Identifier: Apache-2.0
// The driving thread runs its work between a step's end and the next fetch (callbacks, metrics,
// logging, recorded or not) only once in several steps.
#include "answers/replay/price_row.h"

static const char *callbacks_every_refuse(const struct stk_graph *g)
{
    if (!stk_price_finds(g, STK_NODE_WORK, STK_WHAT_CALLBACK)) {
        return "the main thread does nothing between the end of a step and the next fetch";
    }
    return stk_price_may_hide(g, STK_NODE_WORK, STK_WHAT_CALLBACK)
               ? "less than 2% of the step is between its end and the next fetch; callbacks within "
                 "the step can't be separated from it"
               : NULL;
}

static bool callbacks_every_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    double left = how->value > 1 ? 1 / how->value : 1;
    left = how->level == STK_PRICE_HIGH ? left + 0.2 * (1 - left)
                                        : left; // part of it is the loop itself
    for (uint32_t i = 0; i < s->g->node_count; i++) {
        struct stk_node *n = &s->nodes[i];
        if (n->kind == STK_NODE_WORK && n->what == STK_WHAT_CALLBACK && n->wait == STK_NONE) {
            n->dur_ns = stk_price_scaled(n->dur_ns, left);
        }
    }
    return true;
}

const struct stk_price_row stk_price_callbacks_every = {
    .id = "callbacks-every=",
    .value = "10",
    .what = "run callbacks and logging only every so many steps",
    .assumes = "the step doesn't need what the thread does there",
    .is_priced_alone = true,
    .refuse = callbacks_every_refuse,
    .apply = callbacks_every_apply,
};
