// SPDX-License-Identifier: Apache-2.0
// See device_defer.h.
#include "engine/device/device_defer.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "engine/graph/plan.h"
#include "engine/rewrites/rewrite.h"

enum { STAGES_MAX = 64, VALUES = 256, CHANNELS_MAX = 16 };
#define VALUES_LEAST 1024 // of a component, from its known dimensions

static const struct stk_rewrite_row row = {
    "arithmetic on the device",
    "bytes are copied, a quarter of the floats' size, and the GPU looks up the results in a table"};

struct tail { // the end of the computation of one result
    const struct stk_fn_node *node;
    int bytes; // the bytes value it is computed from
    int channels;
    bool is_planar;
    bool takes_floats; // before the node is a cast that other operations also need
};

// --- the end of a function

static const struct stk_fn_node *maker(const struct stk_fn *fn, int value)
{
    for (int k = 0; k < fn->n_nodes; k++) {
        if (fn->nodes[k].first_out == value && fn->nodes[k].n_out == 1) {
            return &fn->nodes[k];
        }
    }
    return NULL;
}

static int uses_of(const struct stk_fn *fn, int value)
{
    int n = 0;
    for (int k = 0; k < fn->n_nodes; k++) {
        for (int i = 0; i < fn->nodes[k].n_in; i++) {
            n += fn->nodes[k].in[i] == value;
        }
    }
    for (int o = 0; o < fn->n_out; o++) {
        n += fn->out[o] == value;
    }
    return n;
}

static bool makes_planes(const struct stk_fn *fn, const struct stk_fn_node *node)
{
    const struct stk_attr *perm = stk_attrs_get(node->attrs, "perm");
    int rank = fn->specs[node->in[0]].shape.rank;
    if (node->op != &stk_op_transpose || rank < 3 || !perm || perm->kind != STK_ATTR_INTS ||
        perm->count != rank) {
        return false;
    }
    for (int i = 0; i < rank; i++) {
        int want = i < rank - 3 ? i : i == rank - 3 ? rank - 1 : i - 1;
        if (perm->ints[i] != want && perm->ints[i] != want - rank) {
            return false;
        }
    }
    return true;
}

// How many channels the operation treats differently; 0: a table can't do this operation.
static int channels_of(const struct stk_fn *fn, const struct stk_fn_node *node)
{
    const struct stk_shape *shape = &fn->specs[node->in[0]].shape;
    const struct stk_attr *counts = stk_attrs_get(node->attrs, "counts");
    int channels = 1;
    if (node->op == &stk_op_cast || node->op == &stk_op_convert_image_dtype) {
        return 1;
    }
    if (node->op != &stk_op_arithmetic) {
        return 0;
    }
    for (int64_t k = 0; counts && counts->kind == STK_ATTR_INTS && k < counts->count; k++) {
        channels = counts->ints[k] > 1 ? (int)counts->ints[k] : channels;
    }
    bool fits = channels == 1 || (channels <= CHANNELS_MAX && shape->rank > 0 &&
                                  shape->dim[shape->rank - 1] == channels);
    return fits ? channels : 0;
}

static bool find_tail(const struct stk_fn *fn, int value, struct tail *t)
{
    *t = (struct tail){.node = maker(fn, value)};
    if (t->node && t->node->n_in == 1 && uses_of(fn, value) == 1 && makes_planes(fn, t->node)) {
        t->is_planar = true;
        value = t->node->in[0];
        t->node = maker(fn, value);
    }
    if (!t->node || t->node->n_in != 1 || uses_of(fn, value) != 1) {
        return false;
    }
    t->bytes = t->node->in[0];
    const struct stk_fn_node *before = maker(fn, t->bytes);
    t->takes_floats =
        fn->specs[t->bytes].dtype == STK_DT_F32 && before && before->op == &stk_op_cast;
    t->bytes = t->takes_floats ? before->in[0] : t->bytes;
    t->channels = channels_of(fn, t->node);
    return t->channels > 0 && fn->specs[t->bytes].dtype == STK_DT_U8 &&
           fn->specs[value].dtype == STK_DT_F32 && !fn->constants[t->bytes];
}

static bool is_large(const struct stk_spec *s)
{
    int64_t n = 1;
    for (int i = 0; i < s->shape.rank && n < VALUES_LEAST; i++) {
        n *= s->shape.dim[i] > 0 ? s->shape.dim[i] : 1;
    }
    return n >= VALUES_LEAST;
}

// --- tables

// values: the operation's result for each byte and channel. False: it can't run like this.
static bool fill_table(const struct tail *t, float *values)
{
    uint8_t bytes[VALUES * CHANNELS_MAX];
    float floats[VALUES * CHANNELS_MAX];
    struct stoker_tensor in = {.dtype = t->takes_floats ? STOKER_FLOAT32 : STOKER_UINT8,
                               .rank = 3,
                               .dim = {1, VALUES, t->channels},
                               .data = t->takes_floats ? (void *)floats : (void *)bytes};
    struct stoker_tensor out;
    struct stoker_err err;
    int n_out = 1;
    for (int i = 0; i < VALUES * t->channels; i++) {
        bytes[i] = (uint8_t)(i / t->channels);
        floats[i] = (float)bytes[i];
    }
    if (stoker_op_call(t->node->op->name, &in, 1, (const struct stoker_args *)t->node->attrs, 0,
                       &out, &n_out, &err) != STOKER_OK) {
        return false;
    }
    for (int x = 0; x < VALUES; x++) {
        for (int c = 0; c < t->channels; c++) {
            values[c * VALUES + x] = ((const float *)out.data)[x * t->channels + c];
        }
    }
    stoker_tensor_release(&out);
    return true;
}

static enum stoker_status add_table(struct stk_deferred *d, int component, const struct tail *t,
                                    bool *is_added, struct stoker_err *err)
{
    float *values = stk_alloc((size_t)t->channels * VALUES * sizeof *values);
    if (!values) {
        return stk_err_nomem(err);
    }
    *is_added = fill_table(t, values);
    if (!*is_added) {
        stk_free(values);
        return STOKER_OK;
    }
    d->tables[d->n++] = (struct stoker_byte_table){component, t->channels, t->is_planar, values};
    return STOKER_OK;
}

// --- the pipeline without the deferred part

// A function with the results `out`; a new reference.
static enum stoker_status make_fn(struct stk_fn **to, const struct stk_fn *fn, int *out,
                                  struct stoker_err *err)
{
    struct stk_fn from = *fn;
    int *ids = stk_alloc_zero((size_t)fn->n_out + 1, sizeof ids[0]);
    enum stoker_status s =
        ids ? stk_fn_open(to, fn->specs, fn->n_in, fn->name, err) : stk_err_nomem(err);
    from.out = out;
    if (s == STOKER_OK) {
        s = stk_fn_inline(*to, &from, NULL, ids, 0, err);
    }
    if (s == STOKER_OK) {
        s = stk_fn_finish(*to, ids, fn->n_out, err);
    }
    stk_free(ids);
    return s;
}

// A copy of `map` with another function, and a note of what was done.
static enum stoker_status make_map(struct stk_dataset **out, const struct stk_dataset *map,
                                   struct stk_fn *fn, int n, struct stoker_err *err)
{
    char what[40];
    struct stk_attrs *attrs = stk_attrs_copy(map->attrs);
    bool ok = attrs &&
              stk_attrs_set(attrs, &(struct stk_attr){.name = "fn", .kind = STK_ATTR_FN, .fn = fn});
    enum stoker_status s =
        ok ? stk_rewrite_like(out, map, map->in, attrs, err) : stk_err_nomem(err);
    if (s == STOKER_OK) {
        char *reason = (*out)->reason;
        struct stk_rewrite_log log = {reason, reason ? strlen(reason) : 0};
        snprintf(what, sizeof what, "%d component%s", n, n == 1 ? "" : "s");
        ok = stk_rewrite_note(&log, &row, what, map->where);
        (*out)->reason = log.text;
        s = ok ? STOKER_OK : stk_err_nomem(err);
    }
    stk_attrs_drop(attrs);
    return s;
}

// Can the stage be above deferred values? Not one that skips errors: it would have to know what is
// only computed on the device.
static bool hands_on(const struct stk_dataset *ds)
{
    enum stk_dataset_role role = ds->kind->role;
    return ds->n_in == 1 && role != STK_DS_ERRORS &&
           (role == STK_DS_BATCH || stk_dataset_role_hands_on(role));
}

// Rebuilds the stages over the new map, the last first; *ds becomes the topmost new one. New
// reference.
static enum stoker_status rebuild(struct stk_dataset **ds, struct stk_dataset *const *above, int n,
                                  struct stoker_err *err)
{
    enum stoker_status s = STOKER_OK;
    while (s == STOKER_OK && n-- > 0) {
        struct stk_dataset *next = NULL;
        s = stk_rewrite_like(&next, above[n], ds, NULL, err);
        stk_dataset_drop(*ds);
        *ds = next;
    }
    return s;
}

static enum stoker_status defer(struct stk_deferred *d, struct stk_dataset *root,
                                struct stoker_err *err)
{
    struct stk_dataset *above[STAGES_MAX], *at = root;
    int n_above = 0;
    while (n_above < STAGES_MAX && hands_on(at)) {
        above[n_above++] = at;
        at = at->in[0];
    }
    const struct stk_attr *t = stk_attrs_get(at->attrs, "fn");
    if (at->kind != &stk_dataset_map || !t || t->kind != STK_ATTR_FN || n_above == STAGES_MAX) {
        return STOKER_OK;
    }
    struct stk_fn *fn = t->fn, *made = NULL;
    int *out = stk_alloc_array((size_t)fn->n_out + 1, sizeof out[0]);
    d->tables = stk_alloc_zero((size_t)fn->n_out + 1, sizeof d->tables[0]);
    enum stoker_status s = out && d->tables ? STOKER_OK : stk_err_nomem(err);
    for (int o = 0; s == STOKER_OK && o < fn->n_out; o++) {
        struct tail tail;
        bool is_added = false;
        if (is_large(&root->specs->items[o]) && find_tail(fn, fn->out[o], &tail)) {
            s = add_table(d, o, &tail, &is_added, err);
        }
        out[o] = is_added ? tail.bytes : fn->out[o];
    }
    if (s == STOKER_OK && d->n > 0) {
        s = make_fn(&made, fn, out, err);
        s = s == STOKER_OK ? make_map(&d->ds, at, made, d->n, err) : s;
        s = s == STOKER_OK ? rebuild(&d->ds, above, n_above, err) : s;
    }
    stk_fn_drop(made);
    stk_free(out);
    return s;
}

enum stoker_status stk_device_defer(struct stk_deferred *out, struct stk_dataset *ds,
                                    enum stk_on_error policy, struct stoker_err *err)
{
    struct stk_dataset *plan = NULL, *again = NULL;
    *out = (struct stk_deferred){0};
    enum stoker_status s = stk_rewrite_dataset(&plan, ds, policy, err);
    if (s == STOKER_OK) {
        s = defer(out, plan, err);
    }
    if (s == STOKER_OK && out->ds) { // an identity map may be left over
        s = stk_rewrite_dataset(&again, out->ds, policy, err);
        stk_dataset_drop(out->ds);
        out->ds = again;
    }
    stk_dataset_drop(plan);
    if (s != STOKER_OK || !out->ds) {
        stk_deferred_end(out);
    }
    return s == STOKER_ENOMEM ? s : STOKER_OK; // if deferring fails, the CPU does everything
}

void stk_deferred_end(struct stk_deferred *d)
{
    for (int i = 0; i < d->n; i++) {
        stk_free((void *)(uintptr_t)d->tables[i].values);
    }
    stk_free(d->tables);
    stk_dataset_drop(d->ds);
    *d = (struct stk_deferred){0};
}

enum stoker_status stoker_stager_explain(struct stoker_dataset *ds,
                                         const struct stoker_run_options *options,
                                         struct stoker_bytes *out, struct stoker_err *err)
{
    if (!ds || !out) {
        return stk_err_misuse(err,
                              "stoker_stager_explain needs a dataset and a pointer for the text");
    }
    struct stoker_err own;
    struct stk_deferred d = {0};
    struct stk_rewrite_log text = {0};
    bool skips_errors = options && options->skips_errors;
    err = stk_err_begin(err, &own);
    *out = (struct stoker_bytes){0};
    enum stoker_status s =
        options && options->is_as_written
            ? STOKER_OK
            : stk_device_defer(&d, (struct stk_dataset *)ds,
                               skips_errors ? STK_ON_ERROR_SKIP : STK_ON_ERROR_STOP, err);
    if (s == STOKER_OK && !d.ds) {
        return stoker_dataset_explain(ds, options, out, err);
    }
    if (s == STOKER_OK && !stk_plan_write(&text, d.ds)) {
        s = stk_err_nomem(err);
    }
    stk_deferred_end(&d);
    if (s != STOKER_OK) {
        stk_rewrite_log_end(&text);
        return stk_err_fail(err);
    }
    *out = (struct stoker_bytes){(unsigned char *)text.text, text.size};
    return STOKER_OK;
}
