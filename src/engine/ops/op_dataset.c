// SPDX-License-Identifier: Apache-2.0
// make_dataset: a dataset built while a function runs, for flat_map, interleave, group_by_window
// and functions of windows. Its result is one scalar of DATASET.
//
// Inputs, in this order: n_in datasets (scalars of DATASET), which become the new dataset's inputs;
// then the values of its arguments that the function computes. Attributes:
//   kind          TEXT   kind of dataset, as in stk_dataset_make
//   n_in          INT    how many of the operation's inputs are input datasets; 0 if absent
//   bound         TEXTS  names of the arguments that are computed, in the order of the inputs
//   bound_counts  INTS   how many of the operation's inputs each of them takes; 1 each if absent
//   hops          INT    stk_dataset.hops, if a rewrite made it
// Every other attribute is passed to the new dataset unchanged (batch_size, fn, ...). While the
// function is built, computed arguments are BOUND attributes with the inputs' specs; while it runs,
// they are COLS of one element each.
#include <string.h>

#include "base/alloc.h"
#include "engine/graph/dataset.h"
#include "engine/graph/template.h"

static bool is_own(const char *name)
{
    const struct stk_arg_row *row = stk_op_make_dataset.args;
    while (row->name && strcmp(row->name, name) != 0) {
        row++;
    }
    return row->name != NULL;
}

struct template
{ // a make_dataset that hasn't run yet
    const struct stk_attrs *attrs;
    const struct stk_spec *in;
    int n_in;
};

// The attributes passed to the new dataset unchanged.
static struct stk_attrs *passed_on(const struct stk_attrs *attrs)
{
    struct stk_attrs *own = stk_attrs_new();
    for (int i = 0; own && i < stk_attrs_count(attrs); i++) {
        const struct stk_attr *t = stk_attrs_at(attrs, i);
        if (!is_own(t->name) && !stk_attrs_set(own, t)) {
            stk_attrs_drop(own);
            return NULL;
        }
    }
    return own;
}

static void set_hops(struct stk_dataset *ds, const struct stk_attrs *attrs)
{
    ds->hops = (int)stk_attrs_int(attrs, "hops", ds->hops);
}

static int dataset_inputs(const struct stk_attrs *attrs)
{
    int64_t n = stk_attrs_int(attrs, "n_in", 0);
    return n < 0 || n > STK_OP_INPUTS_MAX ? -1 : (int)n;
}

// How many inputs the i-th computed argument takes.
static int64_t bound_count(const struct stk_attrs *attrs, int64_t i)
{
    const struct stk_attr *t = stk_attrs_get(attrs, "bound_counts");
    return !t ? 1 : t->kind == STK_ATTR_INTS && i < t->count ? t->ints[i] : -1;
}

static enum stoker_status check(const struct template *c, struct stoker_err *err)
{
    const struct stk_attr *bound = stk_attrs_get(c->attrs, "bound");
    int64_t sum = dataset_inputs(c->attrs);
    if (!stk_attrs_text(c->attrs, "kind", NULL) || sum < 0 ||
        (bound && bound->kind != STK_ATTR_TEXTS)) {
        return stk_err_set(err, STOKER_EINVAL, "make_dataset: needs kind, n_in, bound");
    }
    for (int64_t i = 0; bound && i < bound->count; i++) {
        int64_t count = bound_count(c->attrs, i);
        if (count < 0 || count > STK_OP_INPUTS_MAX) {
            return stk_err_set(err, STOKER_EINVAL, "make_dataset: bound_counts does not fit bound");
        }
        sum += count;
    }
    if (sum != c->n_in) {
        return stk_err_set(err, STOKER_EINVAL, "make_dataset: %d inputs, its attributes say %lld",
                           c->n_in, (long long)sum);
    }
    for (int i = 0; i < dataset_inputs(c->attrs); i++) {
        if (c->in[i].dtype != STK_DT_DATASET || c->in[i].shape.rank != 0 || !c->in[i].nested) {
            return stk_err_set(err, STOKER_EINVAL, "make_dataset: input %d isn't a dataset", i);
        }
    }
    return STOKER_OK;
}

enum stoker_status stk_template_stand_in(struct stk_dataset **out, struct stk_specs *specs,
                                         struct stoker_err *err)
{
    struct stk_attrs *attrs = stk_attrs_new();
    struct stk_attr t = {.name = "specs", .kind = STK_ATTR_SPECS, .specs = specs};
    enum stoker_status s = attrs && stk_attrs_set(attrs, &t)
                               ? stk_dataset_make(out, "stand_in", NULL, 0, attrs, NULL, err)
                               : stk_err_nomem(err);
    stk_attrs_drop(attrs);
    return s;
}

static bool bind_specs(const struct template *c, struct stk_attrs *attrs)
{
    const struct stk_attr *bound = stk_attrs_get(c->attrs, "bound");
    int at = dataset_inputs(c->attrs);
    for (int64_t i = 0; bound && i < bound->count; i++) {
        int count = (int)bound_count(c->attrs, i);
        struct stk_specs *specs = stk_specs_new(count);
        for (int k = 0; specs && k < count; k++) {
            stk_spec_copy(&specs->items[k], &c->in[at + k]);
        }
        struct stk_attr t = {.name = (const char *)bound->texts[i].data,
                             .kind = STK_ATTR_BOUND,
                             .count = count,
                             .specs = specs};
        bool ok = specs && stk_attrs_set(attrs, &t);
        stk_specs_drop(specs);
        if (!ok) {
            return false;
        }
        at += count;
    }
    return true;
}

enum stoker_status stk_template_make(struct stk_dataset **out, const struct stk_attrs *node_attrs,
                                     const struct stk_spec *specs, int n_specs,
                                     struct stk_dataset *const *in, const char *where,
                                     struct stoker_err *err)
{
    struct template c = {node_attrs, specs, n_specs};
    *out = NULL;
    enum stoker_status s = check(&c, err);
    if (s != STOKER_OK) {
        return s;
    }
    struct stk_attrs *attrs = passed_on(node_attrs);
    s = attrs && bind_specs(&c, attrs) ? STOKER_OK : stk_err_nomem(err);
    if (s == STOKER_OK) {
        s = stk_dataset_make(out, stk_attrs_text(node_attrs, "kind", ""), in,
                             dataset_inputs(node_attrs), attrs, where, err);
    }
    if (s == STOKER_OK) {
        set_hops(*out, node_attrs);
    }
    stk_attrs_drop(attrs);
    return s;
}

static enum stoker_status dataset_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    struct template t = {c->attrs, c->in, c->n_in};
    struct stk_dataset *in[STK_OP_INPUTS_MAX] = {0}, *ds = NULL;
    enum stoker_status s = check(&t, err);
    if (s != STOKER_OK) {
        return s;
    }
    int n = dataset_inputs(c->attrs);
    for (int i = 0; s == STOKER_OK && i < n; i++) {
        s = stk_template_stand_in(&in[i], c->in[i].nested, err);
    }
    if (s == STOKER_OK) {
        s = stk_template_make(&ds, c->attrs, c->in, c->n_in, in, NULL, err);
    }
    if (s == STOKER_OK) {
        c->out[0] = (struct stk_spec){.dtype = STK_DT_DATASET, .nested = stk_specs_hold(ds->specs)};
    }
    stk_dataset_drop(ds);
    for (int i = 0; i < n; i++) {
        stk_dataset_drop(in[i]);
    }
    return s;
}

// Element i's values of the computed arguments.
static bool bind_values(const struct stk_op_run *r, int64_t i, struct stk_attrs *attrs)
{
    const struct stk_attr *bound = stk_attrs_get(r->attrs, "bound");
    struct stk_col cols[STK_OP_INPUTS_MAX];
    int at = dataset_inputs(r->attrs);
    bool ok = true;
    for (int64_t b = 0; ok && bound && b < bound->count; b++) {
        int count = (int)bound_count(r->attrs, b);
        for (int k = 0; k < count; k++) {
            stk_col_slice(&cols[k], r->in[at + k], i, 1);
        }
        struct stk_attr t = {.name = (const char *)bound->texts[b].data,
                             .kind = STK_ATTR_COLS,
                             .count = count,
                             .cols = cols};
        ok = stk_attrs_set(attrs, &t);
        for (int k = 0; k < count; k++) {
            stk_col_clear(&cols[k]);
        }
        at += count;
    }
    return ok;
}

static enum stoker_status make_one(struct stk_op_run *r, int64_t i, struct stk_dataset **out,
                                   struct stoker_err *err)
{
    struct stk_dataset *in[STK_OP_INPUTS_MAX];
    int n = dataset_inputs(r->attrs);
    struct stk_attrs *attrs = passed_on(r->attrs);
    enum stoker_status s = attrs && bind_values(r, i, attrs) ? STOKER_OK : stk_err_nomem(err);
    for (int k = 0; k < n; k++) {
        in[k] = *(struct stk_dataset **)stk_col_at(r->in[k], i);
    }
    if (s == STOKER_OK) {
        s = stk_dataset_make(out, stk_attrs_text(r->attrs, "kind", ""), in, n, attrs, r->where,
                             err);
    }
    if (s == STOKER_OK) {
        set_hops(*out, r->attrs);
    }
    stk_attrs_drop(attrs);
    return s;
}

static enum stoker_status dataset_run(struct stk_op_run *r, struct stoker_err *err)
{
    struct stk_shape scalar = {0};
    struct stk_dataset **to = stk_op_out(r, 0, STK_DT_DATASET, &scalar, err);
    if (!to) {
        return STOKER_ELIMIT;
    }
    for (int64_t i = 0; i < r->n; i++) {
        struct stk_dataset *ds = NULL;
        struct stoker_err failure;
        stk_err_init(&failure);
        enum stoker_status s = make_one(r, i, &ds, &failure);
        if (s == STOKER_ENOMEM) {
            *err = failure;
            return s;
        }
        if (s != STOKER_OK) {
            return stk_op_fail(r, i, s, "%s", failure.message);
        }
        struct stk_buf *b = stk_dataset_buf(ds);
        bool ok = b && stk_keep_add(&r->out[0].keep, b);
        to[i] = ds;
        stk_buf_drop(b);
        stk_dataset_drop(ds);
        if (!ok) {
            return stk_err_nomem(err);
        }
    }
    return STOKER_OK;
}

static const struct stk_arg_row make_args[] = {
    STK_ARG("kind", TEXT, "kind of the dataset", .is_required = true),
    STK_ARG("n_in", INT, "number of inputs that are its input datasets"),
    STK_ARG("bound", OTHER, "names of its computed arguments, in the order of the inputs",
            .is_open = true),
    STK_ARG("bound_counts", INTS, "inputs that each of them takes; default: one", .is_open = true),
    STK_ARG("hops", INT, "stages that a rewrite removed below it", .is_open = true,
            .is_internal = true),
    {0}};

const struct stk_op stk_op_make_dataset = {.name = "make_dataset",
                                           .makes_dataset = true,
                                           .takes_more = true,
                                           .summary = "A dataset that a function makes",
                                           .is_stateful = false,
                                           .infer = dataset_infer,
                                           .run = dataset_run,
                                           .args = make_args};
