// SPDX-License-Identifier: Apache-2.0
// const: a value from its attribute `value`. identity: its input unchanged.
#include "engine/graph/op.h"

enum { ARG_VALUE };
static const struct stk_arg_row const_args[] = {
    [ARG_VALUE] = STK_ARG("value", OTHER, "one tensor", .is_required = true), {0}};

static enum stoker_status const_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    const struct stk_attr *t = c->args[ARG_VALUE].attr;
    if (!t || t->kind != STK_ATTR_COLS || t->count != 1 || t->cols[0].n != 1) {
        return stk_err_set(err, STOKER_EINVAL, "const: needs `value`, one tensor");
    }
    c->out[0].dtype = t->cols[0].dtype;
    c->out[0].shape = stk_col_shape(&t->cols[0], 0);
    return STOKER_OK;
}

static enum stoker_status const_run(struct stk_op_run *r, struct stoker_err *err)
{
    (void)err;
    const struct stk_col *value = &r->args[ARG_VALUE].attr->cols[0];
    stk_col_clear(&r->out[0]);
    stk_col_share_first(&r->out[0], value);
    r->out[0].stride = 0;
    r->out[0].n = r->n;
    return STOKER_OK;
}

const struct stk_op stk_op_const = {.name = "const",
                                    .summary = "A constant",
                                    .is_const = true,
                                    .infer = const_infer,
                                    .run = const_run,
                                    .args = const_args};

static enum stoker_status identity_run(struct stk_op_run *r, struct stoker_err *err)
{
    return stk_op_pass(r, 0, 0, NULL, err);
}

const struct stk_op stk_op_identity = {.name = "identity",
                                       .summary = "Returns its input",
                                       .takes_varied = true,
                                       .is_elementwise = true,
                                       .signature = "any -> same",
                                       .run = identity_run};
