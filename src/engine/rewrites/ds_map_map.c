// SPDX-License-Identifier: Apache-2.0
// Two consecutive maps become one map of both functions. Each keeps the seed it had
// (attribute "stages", see transform_map.c).
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "engine/rewrites/rewrite.h"

enum { STAGES_MAX = 64, NAME_MAX = 120 };

static struct stk_fn *function(const struct stk_dataset *ds)
{
    const struct stk_attr *t = stk_attrs_get(ds->attrs, "fn");
    return t && t->kind == STK_ATTR_FN ? t->fn : NULL;
}

// Threads of the merged map. False: the two requested different numbers.
static bool join_threads(const struct stk_dataset *outer, const struct stk_dataset *inner,
                         int64_t *calls)
{
    int64_t a = stk_attrs_int(outer->attrs, "num_parallel_calls", 0);
    int64_t b = stk_attrs_int(inner->attrs, "num_parallel_calls", 0);
    *calls = a == 0 ? b : b == 0 ? a : a < 0 ? a : b;
    return a == b || a <= 0 || b <= 0;
}

static bool fits(const struct stk_dataset *ds, enum stk_on_error policy, int64_t *calls)
{
    if (ds->kind != &stk_dataset_map || ds->in[0]->kind != &stk_dataset_map) {
        return false;
    }
    const struct stk_dataset *in = ds->in[0];
    const struct stk_fn *outer = function(ds), *inner = function(in);
    bool is_alike = stk_attrs_int(ds->attrs, "deterministic", -1) ==
                    stk_attrs_int(in->attrs, "deterministic", -1);
    // If errors are skipped, the outer map doesn't count elements that the inner one loses; merged,
    // it would draw other random bits for those after them.
    bool keeps_positions = policy != STK_ON_ERROR_SKIP || !stk_fn_is_random(outer);
    return outer && inner && outer->n_in == inner->n_out && is_alike && keeps_positions &&
           !stk_fn_is_stateful(outer) && !stk_fn_is_stateful(inner) &&
           outer->n_nodes + inner->n_nodes < STK_FN_NODES_MAX / 2 && join_threads(ds, in, calls);
}

// Appends (inputs below, seed) of each function in the map, `hops` further below.
static bool add_stages(const struct stk_dataset *ds, int64_t hops, int64_t *stages, int64_t *n)
{
    const struct stk_attr *t = stk_attrs_get(ds->attrs, "stages");
    int64_t own[2] = {0, ds->seed};
    const int64_t *from = t ? t->ints : own;
    int64_t count = t ? t->count : 2;
    if (*n + count > 2 * STAGES_MAX) {
        return false;
    }
    for (int64_t i = 0; i < count; i += 2) {
        stages[(*n)++] = from[i] + hops;
        stages[(*n)++] = from[i + 1];
    }
    return true;
}

static enum stoker_status make_function(struct stk_fn **out, const struct stk_dataset *ds,
                                        int inner_stage, struct stoker_err *err)
{
    const struct stk_fn *outer = function(ds), *inner = function(ds->in[0]);
    int *between = stk_alloc_array((size_t)(2 * STK_COMPONENTS_MAX), sizeof between[0]);
    int *results = between ? between + STK_COMPONENTS_MAX : NULL;
    char name[NAME_MAX];
    if (!between) {
        return stk_err_nomem(err);
    }
    snprintf(name, sizeof name, "%.55s + %.55s", inner->name, outer->name);
    enum stoker_status s = stk_fn_open(out, inner->specs, inner->n_in, name, err);
    s = s == STOKER_OK ? stk_fn_inline(*out, inner, NULL, between, inner_stage, err) : s;
    s = s == STOKER_OK ? stk_fn_inline(*out, outer, between, results, 0, err) : s;
    s = s == STOKER_OK ? stk_fn_finish(*out, results, outer->n_out, err) : s;
    stk_free(between);
    return s;
}

static struct stk_attrs *make_attrs(const struct stk_dataset *ds, struct stk_fn *fn, int64_t calls,
                                    const int64_t *stages, int64_t n)
{
    struct stk_attrs *a = stk_attrs_copy(ds->attrs);
    bool ok =
        a && stk_attrs_set(a, &(struct stk_attr){.name = "fn", .kind = STK_ATTR_FN, .fn = fn}) &&
        stk_attrs_set_int(a, "num_parallel_calls", calls) &&
        stk_attrs_set(a, &(struct stk_attr){
                             .name = "stages", .kind = STK_ATTR_INTS, .count = n, .ints = stages});
    if (!ok) {
        stk_attrs_drop(a);
        return NULL;
    }
    return a;
}

static bool give_reasons(struct stk_dataset *made, const struct stk_dataset *inner,
                         const struct stk_dataset *outer, const struct stk_rewrite_row *row)
{
    struct stk_rewrite_log log = {0};
    bool ok = stk_rewrite_append(&log, inner->reason) && stk_rewrite_append(&log, outer->reason) &&
              stk_rewrite_note(&log, row, function(made)->name, inner->where);
    stk_free(made->reason);
    made->reason = log.text;
    return ok;
}

enum stoker_status stk_rewrite_map_map(struct stk_dataset *ds, enum stk_on_error policy,
                                       const struct stk_rewrite_row *row, struct stk_dataset **out,
                                       struct stoker_err *err)
{
    int64_t stages[2 * STAGES_MAX], n = 0, calls;
    if (!fits(ds, policy, &calls) || !add_stages(ds, 0, stages, &n)) {
        return STOKER_OK;
    }
    const struct stk_dataset *inner = ds->in[0];
    int inner_stage = (int)(n / 2);
    if (!add_stages(inner, 1 + ds->hops, stages, &n)) {
        return STOKER_OK;
    }
    struct stk_fn *fn = NULL;
    enum stoker_status s = make_function(&fn, ds, inner_stage, err);
    struct stk_attrs *attrs = s == STOKER_OK ? make_attrs(ds, fn, calls, stages, n) : NULL;
    s = s == STOKER_OK && !attrs ? stk_err_nomem(err) : s;
    s = s == STOKER_OK ? stk_rewrite_like(out, ds, inner->in, attrs, err) : s;
    if (s == STOKER_OK) {
        (*out)->hops = ds->hops + 1 + inner->hops;
        s = give_reasons(*out, inner, ds, row) ? STOKER_OK : stk_err_nomem(err);
    }
    if (s != STOKER_OK) {
        stk_dataset_drop(*out);
        *out = NULL;
    }
    stk_attrs_drop(attrs);
    stk_fn_drop(fn);
    return s;
}
