// SPDX-License-Identifier: Apache-2.0
// What dataset kinds share when they check arguments and inputs and infer their elements' specs.
#pragma once

#include "engine/graph/dataset.h"

// A number argument; unknown while bound.
static inline bool stk_arg_is_bound(const struct stk_dataset *ds, const char *name)
{
    const struct stk_attr *t = stk_attrs_get(ds->attrs, name);
    return t && t->kind == STK_ATTR_BOUND;
}
// Does the spec match the type, and if known the shape, of input k of the function? Nothing checks
// again: a function of datasets that got numbers would follow them as pointers.
bool stk_arg_fn_takes(const struct stk_fn *fn, int k, const struct stk_spec *given);
// A function argument that takes the element's components, and perhaps `more` inputs before them,
// which the caller checks. NULL: missing, or it takes other inputs (err says so).
struct stk_fn *stk_arg_fn(const struct stk_dataset *ds, const char *name, int more,
                          struct stoker_err *err);
// Sets ds->specs to what all inputs from the given one on have in common.
enum stoker_status stk_specs_join_inputs(struct stk_dataset *ds, int from, struct stoker_err *err);
