// SPDX-License-Identifier: Apache-2.0
// stand_in(specs): stands for a dataset of which only the elements' specs are known, while a
// function that builds datasets is made. It has no elements.
#include "engine/graph/dataset.h"

static enum stoker_status stand_in_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    const struct stk_attr *t = stk_attrs_get(ds->attrs, "specs");
    if (!t || t->kind != STK_ATTR_SPECS) {
        return stk_err_set(err, STOKER_EINVAL, "stand_in: needs specs");
    }
    ds->specs = stk_specs_hold(t->specs);
    return STOKER_OK;
}

static enum stoker_status stand_in_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                        struct stoker_err *err)
{
    (void)it;
    (void)want;
    (void)out;
    return stk_err_set(err, STOKER_EBUG, "stand_in: has no elements");
}

static const struct stk_arg_row stand_in_args[] = {
    STK_ARG("specs", OTHER, "specs of the elements", .is_required = true), {0}};

const struct stk_dataset_kind stk_dataset_stand_in = {
    .name = "stand_in",
    .summary = "Placeholder for a dataset that doesn't exist yet",
    .role = STK_DS_SOURCE,
    .args = stand_in_args,
    .infer = stand_in_infer,
    .next = stand_in_next};
