// SPDX-License-Identifier: Apache-2.0
// No call waits for the device: values are read back later. Synchronization and copies back of
// single values are removed; a call that copies more back needs the data, and still waits.
#include "answers/replay/price_transfers.h"

#define DATA_KIB 64 // a copy back of this size is data that the host works on

static bool is_needed(const struct stk_node *nodes, const struct stk_node *call)
{
    if (call->what == STK_WHAT_SYNC) {
        return false;
    }
    const struct stk_node *op = call->wait != STK_NONE ? &nodes[call->wait] : NULL;
    return !op || stk_price_is_to_device(op) || op->size >= DATA_KIB;
}

static bool is_wait(const struct stk_graph *g, uint32_t i)
{
    const struct stk_node *n = &g->nodes[i];
    return n->kind == STK_NODE_WAIT && n->wait != STK_NONE &&
           (n->what == STK_WHAT_SYNC || n->what == STK_WHAT_STAGING) && !is_needed(g->nodes, n);
}

static const char *no_sync_refuse(const struct stk_graph *g)
{
    for (uint32_t i = 0; i < g->node_count; i++) {
        if (is_wait(g, i)) {
            return NULL;
        }
    }
    return "no call in the steps waits for the GPU";
}

static bool no_sync_apply(struct stk_scene *s, const struct stk_price_how *how)
{
    int64_t call_ns = s->g->calibration.call_ns;
    (void)how;
    for (uint32_t i = 0; i < s->g->node_count; i++) {
        struct stk_node *n = &s->nodes[i];
        if (is_wait(s->g, i)) {
            n->wait = STK_NONE;
            n->dur_ns = n->dur_ns < call_ns ? n->dur_ns : call_ns;
        }
    }
    return true;
}

const struct stk_price_row stk_price_no_sync = {
    .id = "no-sync",
    .what = "don't wait on the CPU for values from the GPU",
    .assumes = "no value that is read back decides what is launched next",
    .is_priced_alone = true,
    .refuse = no_sync_refuse,
    .apply = no_sync_apply,
};
