// SPDX-License-Identifier: Apache-2.0
// How many bytes the collectives of the graph reduce, and among how many ranks, where the rows of
// their kernels say so.
#include "replay/graph.h"

static bool reduces_all(struct stk_str name)
{
    return stk_str_contains_nocase(name, STK_STR("allreduce")) ||
           stk_str_contains_nocase(name, STK_STR("all_reduce")) ||
           stk_str_contains_nocase(name, STK_STR("all-reduce"));
}

static int64_t number(const struct stk_trace *t, uint32_t event, enum stk_detail_key key)
{
    const struct stk_detail *d = stk_detail_find(t, event, key);
    return d && d->number > 0 ? d->number : 0;
}

bool stk_graph_message(struct stk_graph_build *b, uint32_t event, uint32_t node)
{
    const struct stk_trace *t = b->a->t;
    int64_t bytes = number(t, event, STK_DETAIL_BYTES);
    int64_t group = number(t, event, STK_DETAIL_GROUP_SIZE);
    if (bytes == 0 && __builtin_mul_overflow(number(t, event, STK_DETAIL_IN_ELEMENTS),
                                             number(t, event, STK_DETAIL_ELEMENT_BYTES), &bytes)) {
        return true;
    }
    if (bytes <= 0 || !reduces_all(stk_name_of(t, event))) {
        return true;
    }
    struct stk_graph_message *m = stk_vec_push(&b->messages);
    if (!m) {
        return false;
    }
    *m = (struct stk_graph_message){node, bytes};
    b->g->group_size = group > b->g->group_size ? group : b->g->group_size;
    return true;
}
