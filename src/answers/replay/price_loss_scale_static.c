// SPDX-License-Identifier: Apache-2.0
// Scales losses by a constant (or not at all, in bf16): no kernel checks for infinite gradients,
// and no value is read back to decide whether the optimizer runs.
//
// Method: removes kernels with the name of that check, with their launches and the host's work for
// them, and also small copies back and waits from the last of them to the next launch of other
// work. At worst the kernels stay, since they also divide by the scale, and only the wait is
// removed.
#include "base/alloc.h"
#include "base/assert.h"
#include "answers/replay/price_transfers.h"

#define DATA_KIB 64 // a copy back of this size isn't a single value

static const char *loss_scale_static_refuse(const struct stk_graph *g)
{
    return stk_price_finds(g, STK_NODE_KERNEL, STK_WHAT_SCALING)
               ? NULL
               : "no kernel is known to check gradients for NaN or infinity";
}

static bool is_value(const struct stk_node *n)
{
    return n->kind == STK_NODE_COPY && !stk_price_is_to_device(n) && n->size < DATA_KIB;
}

// The last work that a lane's calls launched, used to find calls after the check.
struct checking {
    struct stk_scene *s;
    const uint32_t *launched; // per host node: the last work that it launched, STK_NONE
    enum stk_price_level level;
};

static void drop_read(const struct checking *c, uint32_t i)
{
    STK_ASSERT(i < c->s->g->node_count);
    struct stk_node *nodes = c->s->nodes, *n = &nodes[i];
    uint32_t op = c->launched[i];
    if (op != STK_NONE && c->level != STK_PRICE_HIGH) {
        nodes[op].dur_ns = nodes[op].gap_ns = nodes[op].rest_ns = 0;
    }
    if (n->kind == STK_NODE_WAIT) {
        n->wait = STK_NONE;
    }
    n->dur_ns = 0;
}

static void go_along(const struct checking *c, const struct stk_lane *lane)
{
    struct stk_node *nodes = c->s->nodes;
    bool checks = false;
    for (uint32_t i = lane->first; i < lane->first + lane->count; i++) {
        uint32_t op = c->launched[i];
        if (op != STK_NONE && nodes[op].what == STK_WHAT_SCALING) {
            checks = true;
            if (c->level != STK_PRICE_HIGH) {
                stk_price_drop_call(c->s, i);
            }
        } else if (checks && (op == STK_NONE
                                  ? nodes[i].kind == STK_NODE_WAIT && nodes[i].what == STK_WHAT_SYNC
                                  : is_value(&nodes[op]))) {
            drop_read(c, i);
        } else if (op != STK_NONE || nodes[i].kind == STK_NODE_INPUT) {
            checks = false;
        }
    }
}

static bool loss_scale_static_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    const struct stk_graph *g = s->g;
    uint32_t *launched = stk_graph_launched(s->nodes, g->node_count);
    const struct checking c = {s, launched, how->level};
    for (uint32_t l = 0; launched && l < g->lane_count; l++) {
        if (!g->lanes[l].is_device) {
            go_along(&c, &g->lanes[l]);
        }
    }
    for (uint32_t i = 0; launched && i < g->node_count; i++) {
        struct stk_node *n = &s->nodes[i];
        if (n->kind == STK_NODE_KERNEL && n->what == STK_WHAT_SCALING &&
            how->level != STK_PRICE_HIGH) {
            n->dur_ns = n->gap_ns = n->rest_ns = 0;
        }
    }
    stk_free(launched);
    return launched != NULL;
}

const struct stk_price_row stk_price_loss_scale_static = {
    .id = "loss-scale-static",
    .what = "scale losses by a constant, so that no step checks gradients",
    .assumes = "a constant scale (or bf16, which needs none) trains as well",
    .is_priced_alone = true,
    .refuse = loss_scale_static_refuse,
    .apply = loss_scale_static_apply,
};
