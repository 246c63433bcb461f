// SPDX-License-Identifier: Apache-2.0
// How many bytes the collectives of the graph reduce, and among how many ranks, if the profile has
// it (profile/model/collectives/collective_sizes.h).
#include "profile/model/collectives/collective_sizes.h"
#include "answers/replay/graph.h"

bool stk_graph_message(struct stk_graph_build *b, uint32_t line, const struct stk_device_op *op,
                       uint32_t node)
{
    const struct stk_collective_class *c = stk_collective_of(b->a, line, op->start_ns, op->event);
    if (!c || c->bytes <= 0 || c->kind != STK_COLLECTIVE_ALL_REDUCE) {
        return true;
    }
    struct stk_graph_message *m = stk_vec_push(&b->messages);
    if (!m) {
        return false;
    }
    *m = (struct stk_graph_message){node, c->bytes};
    b->g->group_size = c->group_size > b->g->group_size ? c->group_size : b->g->group_size;
    return true;
}
