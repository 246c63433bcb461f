// SPDX-License-Identifier: Apache-2.0
// The graph of datasets: creates nodes, checks their arguments against the kind's table, counts
// references.
#include "engine/graph/dataset.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

const struct stk_dataset_kind *const stk_dataset_kinds[] = {
#define X(name) &stk_dataset_##name,
#include "engine/datasets.def"
#undef X
};
const int stk_dataset_kind_count = (int)(sizeof stk_dataset_kinds / sizeof stk_dataset_kinds[0]);

const struct stk_dataset_kind *stk_dataset_kind_find(const char *name)
{
    for (int i = 0; i < stk_dataset_kind_count; i++) {
        if (strcmp(stk_dataset_kinds[i]->name, name) == 0) {
            return stk_dataset_kinds[i];
        }
    }
    return NULL;
}

// Arguments of every kind.
static const struct stk_arg_row every_kind[] = {
    STK_ARG("seed", INT, "seed of its random numbers", .fallback = -1),
    STK_ARG("keeps_paths", BOOL, "not shown as a stage (set by rewrites)"),
    {0}};

static enum stoker_status check_inputs(const struct stk_dataset_kind *kind, int n_in,
                                       struct stoker_err *err)
{
    bool is_source =
        kind->role == STK_DS_SOURCE || kind->role == STK_DS_FILES || kind->role == STK_DS_PROGRAM;
    bool is_several = kind->role == STK_DS_SEVERAL;
    int least = is_several ? kind->n_in_min : !is_source;
    int most = is_several ? kind->n_in_max : !is_source;
    if (n_in < least || (most >= 0 && n_in > most)) {
        return stk_err_set(err, STOKER_EINVAL, "%s: got %d input datasets, needs %d%s", kind->name,
                           n_in, least, most < 0 ? " or more" : "");
    }
    return STOKER_OK;
}

enum stoker_status stk_dataset_make(struct stk_dataset **out, const char *kind_name,
                                    struct stk_dataset *const *in, int n_in,
                                    struct stk_attrs *attrs, const char *where,
                                    struct stoker_err *err)
{
    *out = NULL;
    const struct stk_dataset_kind *kind = stk_dataset_kind_find(kind_name);
    if (!kind) {
        return stk_err_set(err, STOKER_EUSAGE, "no kind of dataset '%s'", kind_name);
    }
    enum stoker_status s = check_inputs(kind, n_in, err);
    struct stk_dataset *ds = s == STOKER_OK ? stk_alloc_zero(1, sizeof *ds) : NULL;
    if (!ds) {
        return s == STOKER_OK ? stk_err_nomem(err) : s;
    }
    ds->refs = 1;
    ds->kind = kind;
    ds->attrs = stk_attrs_hold(attrs);
    ds->in = stk_alloc_zero((size_t)n_in + 1, sizeof ds->in[0]);
    size_t where_size = where ? strlen(where) + 1 : 0;
    ds->where = where ? stk_alloc(where_size) : NULL;
    if (!ds->in || (where && !ds->where)) {
        s = stk_err_nomem(err);
    } else {
        if (where) {
            memcpy(ds->where, where, where_size);
        }
        for (ds->n_in = 0; ds->n_in < n_in; ds->n_in++) {
            ds->in[ds->n_in] = stk_dataset_hold(in[ds->n_in]);
        }
        s = stk_args_check_names(kind->name, kind->args, every_kind, attrs, err);
        s = s == STOKER_OK ? stk_args_check(kind->name, kind->args, attrs, err) : s;
        ds->seed = stk_attrs_int(attrs, "seed", -1);
        ds->hops = stk_attrs_int(attrs, "keeps_paths", 0) ? -1 : 0;
    }
    if (s == STOKER_OK) {
        s = kind->infer(ds, err);
        STK_ASSERT(s != STOKER_OK || ds->specs); // infer must have set specs
    }
    if (s != STOKER_OK) {
        stk_dataset_drop(ds);
        return s;
    }
    *out = ds;
    return STOKER_OK;
}

struct stk_dataset *stk_dataset_hold(struct stk_dataset *ds)
{
    if (ds) {
        STK_ASSERT(__atomic_load_n(&ds->refs, __ATOMIC_RELAXED) > 0);
        __atomic_add_fetch(&ds->refs, 1, __ATOMIC_RELAXED);
    }
    return ds;
}

// A chain of transformations may be long: the last reference frees it in a loop, not by recursion.
void stk_dataset_drop(struct stk_dataset *ds)
{
    while (ds && __atomic_sub_fetch(&ds->refs, 1, __ATOMIC_ACQ_REL) == 0) {
        STK_ASSERT(ds->refs == 0);
        struct stk_dataset *next = ds->n_in > 0 ? ds->in[0] : NULL;
        for (int i = 1; i < ds->n_in; i++) {
            stk_dataset_drop(ds->in[i]);
        }
        if (ds->kind->forget && ds->shared) {
            ds->kind->forget(ds);
        }
        stk_attrs_drop(ds->attrs);
        stk_specs_drop(ds->specs);
        stk_free(ds->in);
        stk_free(ds->where);
        stk_free(ds->reason);
        for (int i = 0; i < 2; i++) {
            stk_dataset_drop(ds->rewritten[i] == ds ? NULL : ds->rewritten[i]);
        }
        stk_free(ds);
        ds = next;
    }
}

static void drop_held(void *arg)
{
    stk_dataset_drop(arg);
}

struct stk_buf *stk_dataset_buf(struct stk_dataset *ds)
{
    struct stk_buf *b = stk_buf_foreign(ds, 0, true, drop_held, ds);
    if (b) {
        stk_dataset_hold(ds);
    }
    return b;
}

int64_t stk_dataset_as_many(const struct stk_dataset *ds)
{
    return stk_dataset_cardinality(ds->in[0]);
}

int64_t stk_dataset_cardinality(const struct stk_dataset *ds)
{
    return ds->kind->cardinality ? ds->kind->cardinality(ds) : STK_CARDINALITY_UNKNOWN;
}

bool stk_dataset_role_hands_on(enum stk_dataset_role role)
{
    return role == STK_DS_ORDER || role == STK_DS_AHEAD || role == STK_DS_ERRORS;
}

bool stk_dataset_has_at(const struct stk_dataset *ds)
{
    if (!ds->kind->at || (ds->kind->has_at && !ds->kind->has_at(ds))) {
        return false;
    }
    for (int i = 0; i < ds->n_in; i++) {
        if (!stk_dataset_has_at(ds->in[i])) {
            return false;
        }
    }
    return true;
}

enum stoker_status stk_dataset_like_input(struct stk_dataset *ds, struct stoker_err *err)
{
    (void)err;
    STK_ASSERT(ds->n_in > 0 && !ds->specs);
    ds->specs = stk_specs_hold(ds->in[0]->specs);
    return STOKER_OK;
}
