// SPDX-License-Identifier: Apache-2.0
// Removes operations that change nothing and duplicate operations.
#include <string.h>

#include "engine/rewrites/rewrite.h"

enum { LOOK_BACK = 512 }; // operations

static bool is_same_type(const struct stk_refn *r)
{
    return (enum stk_dtype)stk_attrs_int(r->node->attrs, "dtype", -1) ==
           stk_refn_spec(r, r->in[0])->dtype;
}

enum stoker_status stk_refn_passing(struct stk_refn *r, int *result, struct stoker_err *err)
{
    const struct stk_fn_node *node = r->node;
    bool is_cast = stk_refn_is(node, "cast") || stk_refn_is(node, "saturate_cast");
    (void)err;
    if (node->n_in == 1 && (stk_refn_is(node, "identity") || (is_cast && is_same_type(r)))) {
        *result = r->in[0];
    }
    return STOKER_OK;
}

enum stoker_status stk_refn_common(struct stk_refn *r, int *result, struct stoker_err *err)
{
    const struct stk_fn_node *node = r->node;
    bool is_const = node->op->is_const;
    (void)err;
    if (node->op->is_random || node->op->is_stateful || (node->n_in == 0 && !is_const) ||
        r->from->specs[node->first_out].dtype == STK_DT_DATASET) {
        return STOKER_OK;
    }
    int last = r->to->n_nodes - LOOK_BACK;
    for (int k = r->to->n_nodes - 1; k >= 0 && k >= last; k--) {
        const struct stk_fn_node *other = &r->to->nodes[k];
        if (other->op == node->op && other->n_in == node->n_in && other->n_out == 1 &&
            memcmp(other->in, r->in, (size_t)node->n_in * sizeof r->in[0]) == 0 &&
            stk_attrs_equal(other->attrs, node->attrs)) {
            *result = other->first_out;
            return STOKER_OK;
        }
    }
    return STOKER_OK;
}
