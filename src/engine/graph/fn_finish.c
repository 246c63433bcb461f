// SPDX-License-Identifier: Apache-2.0
// Finishes a function: sets its results and removes unused nodes.
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "engine/graph/fn_check.h"

// Which nodes are used? Works backwards, since inputs come before their users.
static void mark_needed(const struct stk_fn *fn, bool *value_needed, bool *node_needed)
{
    for (int i = 0; i < fn->n_out; i++) {
        value_needed[fn->out[i]] = true;
    }
    for (int k = fn->n_nodes - 1; k >= 0; k--) {
        const struct stk_fn_node *node = &fn->nodes[k];
        bool needed = node->op->is_stateful;
        for (int i = 0; i < node->n_out; i++) {
            needed = needed || value_needed[node->first_out + i];
        }
        node_needed[k] = needed;
        for (int i = 0; needed && i < node->n_in; i++) {
            value_needed[node->in[i]] = true;
        }
    }
}

static enum stoker_status check_results(const struct stk_fn *fn, const int *out, int n_out,
                                        struct stoker_err *err)
{
    if (n_out > STK_COMPONENTS_MAX) {
        return stk_err_set(err, STOKER_EINVAL, "%s: %d results, at most %d", fn->name, n_out,
                           STK_COMPONENTS_MAX);
    }
    for (int i = 0; i < n_out; i++) {
        if (out[i] < 0 || out[i] >= fn->n_values) {
            return stk_err_set(err, STOKER_EINVAL, "%s: result %d isn't one of its values",
                               fn->name, i);
        }
    }
    return STOKER_OK;
}

static void drop_nodes(struct stk_fn *fn, const bool *needed)
{
    int kept = 0;
    for (int k = 0; k < fn->n_nodes; k++) {
        if (needed[k]) {
            fn->nodes[kept++] = fn->nodes[k];
        } else {
            // Its constant must not be looked up: nothing needs it.
            stk_fn_node_free(&fn->nodes[k]);
        }
    }
    fn->n_nodes = kept;
}

static void set_last_use(struct stk_fn *fn)
{
    for (int k = 0; k < fn->n_nodes; k++) {
        for (int i = 0; i < fn->nodes[k].n_in; i++) {
            fn->last_use[fn->nodes[k].in[i]] = k;
        }
    }
    for (int i = 0; i < fn->n_out; i++) {
        fn->last_use[fn->out[i]] = fn->n_nodes;
    }
}

enum stoker_status stk_fn_finish(struct stk_fn *fn, const int *out, int n_out,
                                 struct stoker_err *err)
{
    STK_ASSERT(!fn->is_finished && n_out >= 0);
    enum stoker_status s = check_results(fn, out, n_out, err);
    if (s != STOKER_OK) {
        return s;
    }
    fn->out = stk_alloc_array(n_out ? (size_t)n_out : 1, sizeof fn->out[0]);
    fn->last_use = stk_alloc_zero(fn->n_values ? (size_t)fn->n_values : 1, sizeof fn->last_use[0]);
    bool *needed = stk_alloc_zero((size_t)fn->n_values + (size_t)fn->n_nodes + 1, sizeof *needed);
    if (!fn->out || !fn->last_use || !needed) {
        stk_free(needed);
        return stk_err_nomem(err);
    }
    if (n_out) {
        memcpy(fn->out, out, (size_t)n_out * sizeof out[0]);
    }
    fn->n_out = n_out;
    mark_needed(fn, needed, needed + fn->n_values);
    drop_nodes(fn, needed + fn->n_values);
    stk_free(needed);
    set_last_use(fn);
    fn->is_finished = true;
    STK_ASSERT_SOUND(stk_fn_check(fn));
    return STOKER_OK;
}
