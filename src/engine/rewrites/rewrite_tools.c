// SPDX-License-Identifier: Apache-2.0
// Helpers for the rules of rewrites.def: the function being rewritten (struct stk_refn), and copies
// of datasets.
#include <string.h>

#include "engine/rewrites/rewrite.h"

enum stoker_status stk_rewrite_like(struct stk_dataset **out, const struct stk_dataset *ds,
                                    struct stk_dataset *const *in, struct stk_attrs *attrs,
                                    struct stoker_err *err)
{
    struct stk_rewrite_log log = {0};
    enum stoker_status s = stk_dataset_make(out, ds->kind->name, in, ds->n_in,
                                            attrs ? attrs : ds->attrs, ds->where, err);
    if (s != STOKER_OK) {
        return s;
    }
    (*out)->hops = ds->hops;
    if (ds->reason && !stk_rewrite_append(&log, ds->reason)) {
        stk_dataset_drop(*out);
        *out = NULL;
        return stk_err_nomem(err);
    }
    (*out)->reason = log.text;
    return STOKER_OK;
}

bool stk_refn_push(struct stk_refn *r, int maker)
{
    int *uses = stk_vec_push(&r->uses), *def = stk_vec_push(&r->def);
    if (uses && def) {
        *def = maker;
    }
    return uses && def;
}

enum stoker_status stk_refn_add(struct stk_refn *r, const char *op, const int *in, int n_in,
                                struct stk_attrs *attrs, int *first, struct stoker_err *err)
{
    int count;
    enum stoker_status s =
        stk_fn_add(r->to, op, in, n_in, attrs, r->node->where, first, &count, err);
    if (s != STOKER_OK) {
        return s;
    }
    struct stk_fn_node *made = &r->to->nodes[r->to->n_nodes - 1];
    made->salt = r->node->salt;
    made->stage = r->node->stage;
    for (int i = 0; i < n_in; i++) {
        *stk_refn_uses_at(r, in[i]) += 1;
    }
    for (int i = 0; i < count; i++) {
        if (!stk_refn_push(r, r->to->n_nodes - 1)) {
            return stk_err_nomem(err);
        }
    }
    return STOKER_OK;
}

const struct stk_fn_node *stk_refn_maker(const struct stk_refn *r, int value)
{
    const struct stk_fn_node *node = stk_refn_producer(r, value);
    return node && node->n_out == 1 && *stk_refn_uses_at(r, value) == 1 ? node : NULL;
}

const struct stk_fn_node *stk_refn_producer(const struct stk_refn *r, int value)
{
    int def = *(const int *)stk_vec_at(&r->def, (size_t)value);
    return def < 0 ? NULL : &r->to->nodes[def];
}

int *stk_refn_uses_at(const struct stk_refn *r, int value)
{
    return stk_vec_at(&r->uses, (size_t)value);
}

int stk_refn_uses(const struct stk_refn *r, int value)
{
    return *stk_refn_uses_at(r, value);
}

const struct stk_spec *stk_refn_spec(const struct stk_refn *r, int value)
{
    return &r->to->specs[value];
}

const struct stk_col *stk_refn_constant(const struct stk_refn *r, int value)
{
    return r->to->constants[value];
}

bool stk_refn_is(const struct stk_fn_node *node, const char *op)
{
    return node && strcmp(node->op->name, op) == 0;
}
