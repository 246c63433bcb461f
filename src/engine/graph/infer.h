// SPDX-License-Identifier: Apache-2.0
// What kinds share about their arguments and inputs when they infer what their elements are.
#pragma once

#include "engine/graph/dataset.h"

// A number argument: unknown while it is bound.
static inline bool stk_arg_is_bound(const struct stk_dataset *ds, const char *name)
{
    const struct stk_attr *t = stk_attrs_get(ds->attrs, name);
    return t && t->kind == STK_ATTR_BOUND;
}
// Is what the spec says of the type, and perhaps of the shape, that input k of the function was
// made for? Nothing asks again: a function of datasets that got numbers would read memory there.
bool stk_arg_fn_takes(const struct stk_fn *fn, int k, const struct stk_spec *given);
// A function argument that takes the element's components and perhaps `more` before them, which the
// caller compares. NULL: it is missing or takes others (the error says so).
struct stk_fn *stk_arg_fn(const struct stk_dataset *ds, const char *name, int more,
                          struct stoker_err *err);
// ds->specs: what holds for the elements of all inputs from the given one on.
enum stoker_status stk_specs_join_inputs(struct stk_dataset *ds, int from, struct stoker_err *err);
