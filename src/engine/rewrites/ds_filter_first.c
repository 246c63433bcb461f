// SPDX-License-Identifier: Apache-2.0
// A filter after a map swaps places with it if it reads only components that the map passes on.
// Neither may be random, as positions change after a filter. Order is kept.
#include <string.h>

#include "engine/rewrites/rewrite.h"

static struct stk_fn *function(const struct stk_dataset *ds)
{
    const struct stk_attr *t = stk_attrs_get(ds->attrs, "fn");
    return t && t->kind == STK_ATTR_FN ? t->fn : NULL;
}

static bool uses(const struct stk_fn *fn, int value)
{
    for (int k = 0; k < fn->n_nodes; k++) {
        for (int i = 0; i < fn->nodes[k].n_in; i++) {
            if (fn->nodes[k].in[i] == value) {
                return true;
            }
        }
    }
    for (int i = 0; i < fn->n_out; i++) {
        if (fn->out[i] == value) {
            return true;
        }
    }
    return false;
}

// For each input of the filter, which input of the map it is; -1: none, and the filter doesn't read
// it.
static bool trace_inputs(const struct stk_fn *filter, const struct stk_fn *map, int *in)
{
    for (int i = 0; i < filter->n_in; i++) {
        in[i] = map->out[i] < map->n_in ? map->out[i] : -1;
        if (in[i] < 0 && uses(filter, i)) {
            return false;
        }
    }
    return true;
}

static bool fits(const struct stk_dataset *ds)
{
    if (ds->kind != &stk_dataset_filter || ds->in[0]->kind != &stk_dataset_map) {
        return false;
    }
    const struct stk_fn *f = function(ds), *m = function(ds->in[0]);
    return f && m && f->n_in == m->n_out && m->n_nodes > 0 && !stk_fn_is_random(f) &&
           !stk_fn_is_stateful(f) && !stk_fn_is_random(m) && !stk_fn_is_stateful(m);
}

// The filter's function over the map's inputs.
static enum stoker_status make_function(struct stk_fn **out, const struct stk_dataset *ds,
                                        const int *in, struct stoker_err *err)
{
    const struct stk_fn *f = function(ds), *m = function(ds->in[0]);
    int result;
    enum stoker_status s = stk_fn_open(out, m->specs, m->n_in, f->name, err);
    s = s == STOKER_OK ? stk_fn_inline(*out, f, in, &result, 0, err) : s;
    return s == STOKER_OK ? stk_fn_finish(*out, &result, 1, err) : s;
}

enum stoker_status stk_rewrite_filter_first(struct stk_dataset *ds, enum stk_on_error policy,
                                            const struct stk_rewrite_row *row,
                                            struct stk_dataset **out, struct stoker_err *err)
{
    int in[STK_COMPONENTS_MAX];
    (void)policy;
    if (!fits(ds) || !trace_inputs(function(ds), function(ds->in[0]), in)) {
        return STOKER_OK;
    }
    const struct stk_dataset *map = ds->in[0];
    struct stk_dataset *filter = NULL;
    struct stk_fn *fn = NULL;
    struct stk_attrs *attrs = stk_attrs_copy(ds->attrs);
    enum stoker_status s = attrs ? make_function(&fn, ds, in, err) : stk_err_nomem(err);
    if (s == STOKER_OK &&
        !stk_attrs_set(attrs, &(struct stk_attr){.name = "fn", .kind = STK_ATTR_FN, .fn = fn})) {
        s = stk_err_nomem(err);
    }
    // Stages removed below either still count: the input's path stays.
    s = s == STOKER_OK ? stk_rewrite_like(&filter, ds, map->in, attrs, err) : s;
    s = s == STOKER_OK ? stk_rewrite_like(out, map, &filter, NULL, err) : s;
    if (s == STOKER_OK) {
        struct stk_rewrite_log log = {(*out)->reason, (*out)->reason ? strlen((*out)->reason) : 0};
        s = stk_rewrite_note(&log, row, "filter", ds->where) ? STOKER_OK : stk_err_nomem(err);
        (*out)->reason = log.text;
    }
    if (s != STOKER_OK) {
        stk_dataset_drop(*out);
        *out = NULL;
    }
    stk_dataset_drop(filter);
    stk_fn_drop(fn);
    stk_attrs_drop(attrs);
    return s;
}
