// SPDX-License-Identifier: Apache-2.0
// Copies one function's operations into another: how two functions become one.
#include "base/alloc.h"
#include "engine/graph/fn.h"

enum stoker_status stk_fn_inline(struct stk_fn *to, const struct stk_fn *from, const int *in,
                                 int *out, int stage, struct stoker_err *err)
{
    int *value = stk_alloc_array((size_t)from->n_values + 1, sizeof value[0]);
    int input[STK_OP_INPUTS_MAX];
    if (!value) {
        return stk_err_nomem(err);
    }
    for (int i = 0; i < from->n_in; i++) {
        value[i] = in ? in[i] : i;
    }
    enum stoker_status s = STOKER_OK;
    for (int k = 0; s == STOKER_OK && k < from->n_nodes; k++) {
        const struct stk_fn_node *node = &from->nodes[k];
        int first, count;
        for (int i = 0; i < node->n_in; i++) {
            input[i] = value[node->in[i]];
        }
        s = stk_fn_add(to, node->op->name, input, node->n_in, node->attrs, node->where, &first,
                       &count, err);
        if (s != STOKER_OK) {
            break;
        }
        to->nodes[to->n_nodes - 1].salt = node->salt;
        to->nodes[to->n_nodes - 1].stage = node->stage + stage;
        for (int i = 0; i < node->n_out; i++) {
            value[node->first_out + i] = first + i;
        }
    }
    for (int i = 0; s == STOKER_OK && i < from->n_out; i++) {
        out[i] = value[from->out[i]];
    }
    stk_free(value);
    return s;
}
