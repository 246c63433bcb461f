// SPDX-License-Identifier: Apache-2.0
// Checks arguments and inputs of dataset kinds; see infer.h.
#include "engine/graph/infer.h"

bool stk_arg_fn_takes(const struct stk_fn *fn, int k, const struct stk_spec *given)
{
    const struct stk_spec *wanted = &fn->specs[k];
    return stk_spec_fits(wanted, given) && stk_shape_fits(&wanted->shape, &given->shape);
}

struct stk_fn *stk_arg_fn(const struct stk_dataset *ds, const char *name, int more,
                          struct stoker_err *err)
{
    const struct stk_attr *t = stk_attrs_get(ds->attrs, name);
    struct stk_fn *fn = t && t->kind == STK_ATTR_FN ? t->fn : NULL;
    int has = ds->n_in > 0 ? ds->in[0]->specs->count + more : more;
    if (!fn || fn->n_in != has) {
        (void)stk_err_set(err, STOKER_EINVAL, "%s: %s takes %d components, but the input has %d",
                          ds->kind->name, name, fn ? fn->n_in : 0, has);
        return NULL;
    }
    for (int k = more; k < has; k++) {
        const struct stk_spec *given = &ds->in[0]->specs->items[k - more];
        if (!stk_arg_fn_takes(fn, k, given)) {
            (void)stk_err_set(err, STOKER_EINVAL,
                              "%s: %s was made for another component %d (%s) than the input's (%s)",
                              ds->kind->name, name, k - more, stk_dtype_name(fn->specs[k].dtype),
                              stk_dtype_name(given->dtype));
            return NULL;
        }
    }
    return fn;
}

enum stoker_status stk_specs_join_inputs(struct stk_dataset *ds, int from, struct stoker_err *err)
{
    const struct stk_specs *first = ds->in[from]->specs;
    ds->specs = stk_specs_new(first->count);
    if (!ds->specs) {
        return stk_err_nomem(err);
    }
    for (int k = 0; k < first->count; k++) {
        stk_spec_copy(&ds->specs->items[k], &first->items[k]);
    }
    for (int i = from + 1; i < ds->n_in; i++) {
        const struct stk_specs *more = ds->in[i]->specs;
        if (more->count != first->count) {
            return stk_err_set(err, STOKER_EINVAL,
                               "%s: dataset %d has %d components, but the first has %d",
                               ds->kind->name, i, more->count, first->count);
        }
        for (int k = 0; k < first->count; k++) {
            struct stk_spec *spec = &ds->specs->items[k];
            if (spec->dtype != more->items[k].dtype) {
                return stk_err_set(err, STOKER_EINVAL,
                                   "%s: component %d is %s in dataset %d and %s in the first",
                                   ds->kind->name, k, stk_dtype_name(more->items[k].dtype), i,
                                   stk_dtype_name(spec->dtype));
            }
            if (!stk_specs_fit(spec->nested, more->items[k].nested)) {
                return stk_err_set(err, STOKER_EINVAL,
                                   "%s: component %d of dataset %d is a dataset of other elements "
                                   "than that of the first",
                                   ds->kind->name, k, i);
            }
            if (!stk_spec_join(spec, &more->items[k])) {
                return stk_err_nomem(err);
            }
        }
    }
    return STOKER_OK;
}
