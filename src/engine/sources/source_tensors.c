// SPDX-License-Identifier: Apache-2.0
// tensors: one element, the given tensors. tensor_slices: the tensors split along their first
// dimension. Both return views of the given memory: nothing is copied. Memory that is a mapped file
// (is_mapped) is guarded from when the dataset is made until the last view is released. If the file
// is truncated, later elements are errors, and views returned before may show zeros.
#include <string.h>

#include "base/assert.h"
#include "base/guard.h" // STK_GUARDS_MAX
#include "engine/run/iter.h"

struct slices {
    int64_t at, n;               // position; slices
    const struct stk_attr *cols; // components
    bool is_told;                // the truncation was reported
};

static const struct stk_attr *components(const struct stk_dataset *ds)
{
    return stk_attrs_get(ds->attrs, "components");
}

// The first component, which is the only one of mapped files.
static enum stoker_status guard_mapped(const struct stk_dataset *ds, struct stoker_err *err)
{
    const struct stk_attr *t = components(ds);
    struct stk_buf *b = t->kind == STK_ATTR_COLS && t->count ? t->cols[0].data_buf : NULL;
    bool is_mapped = stk_attrs_int(ds->attrs, "is_mapped", 0) != 0 && b && b->is_foreign;
    return !is_mapped || stk_buf_guard(b)
               ? STOKER_OK
               : stk_err_set(err, STOKER_ELIMIT, "%s: more than %d mapped files at once",
                             ds->kind->name, STK_GUARDS_MAX);
}

static bool is_torn(const struct slices *s)
{
    return s->cols->kind == STK_ATTR_COLS && s->cols->count &&
           stk_buf_is_torn(s->cols->cols[0].data_buf);
}

static enum stoker_status torn(const struct stk_iter *it, struct stoker_err *err)
{
    return stk_err_set(err, STOKER_EDAMAGE,
                       "%s: the file with the values was cut short while it was read; the last "
                       "ones given may be zeros",
                       it->ds->kind->name);
}

static enum stoker_status specs_of(struct stk_dataset *ds, struct stoker_err *err)
{
    const struct stk_attr *t = components(ds);
    if (t->kind == STK_ATTR_BOUND) {
        ds->specs = stk_specs_new(t->specs->count);
    } else if (t->kind == STK_ATTR_COLS) {
        ds->specs = stk_specs_new((int)t->count);
    } else {
        return stk_err_set(err, STOKER_EINVAL, "%s: components must be tensors", ds->kind->name);
    }
    if (!ds->specs) {
        return stk_err_nomem(err);
    }
    for (int k = 0; k < ds->specs->count; k++) {
        if (t->kind == STK_ATTR_BOUND) {
            stk_spec_copy(&ds->specs->items[k], &t->specs->items[k]);
        } else {
            ds->specs->items[k].dtype = t->cols[k].dtype;
            ds->specs->items[k].shape = stk_col_shape(&t->cols[k], 0);
        }
    }
    return guard_mapped(ds, err);
}

static int64_t tensors_one(const struct stk_dataset *ds)
{
    (void)ds;
    return 1;
}

static enum stoker_status tensors_at(struct stk_iter *it, const int64_t *index, int64_t n,
                                     struct stk_block *out, struct stoker_err *err)
{
    const struct stk_attr *t = ((struct slices *)it->state)->cols;
    (void)index;
    if (!stk_block_reset(out, (int)t->count)) {
        return stk_err_nomem(err);
    }
    for (int k = 0; k < out->count; k++) {
        stk_col_share_first(&out->cols[k], &t->cols[k]);
        out->cols[k].stride = n == 1 ? out->cols[k].stride : 0;
        out->cols[k].n = n;
    }
    out->n = n;
    return STOKER_OK;
}

static enum stoker_status tensors_open(struct stk_iter *it, struct stoker_err *err)
{
    (void)err;
    ((struct slices *)it->state)->cols = components(it->ds);
    return STOKER_OK;
}

static enum stoker_status tensors_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                       struct stoker_err *err)
{
    struct slices *s = it->state;
    (void)want;
    return s->at++ ? STOKER_OK : is_torn(s) ? torn(it, err) : tensors_at(it, NULL, 1, out, err);
}

static int64_t first_dim(const struct stk_dataset *ds)
{
    const struct stk_attr *t = components(ds);
    if (t->kind == STK_ATTR_BOUND) {
        return t->specs->items[0].shape.rank > 0 && t->specs->items[0].shape.dim[0] >= 0
                   ? t->specs->items[0].shape.dim[0]
                   : STK_CARDINALITY_UNKNOWN;
    }
    return stk_col_shape(&t->cols[0], 0).dim[0];
}

static enum stoker_status slices_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    enum stoker_status s = specs_of(ds, err);
    if (s != STOKER_OK) {
        return s;
    }
    if (ds->specs->count == 0) {
        return stk_err_set(err, STOKER_EINVAL, "tensor_slices: no tensors");
    }
    int64_t n = STK_UNKNOWN;
    for (int k = 0; k < ds->specs->count; k++) {
        struct stk_shape *shape = &ds->specs->items[k].shape;
        if (shape->rank == 0) {
            return stk_err_set(err, STOKER_EINVAL,
                               "tensor_slices: component %d is a scalar and cannot be cut", k);
        }
        if (shape->rank < 0) {
            continue;
        }
        if (n >= 0 && shape->dim[0] >= 0 && shape->dim[0] != n) {
            return stk_err_set(err, STOKER_EINVAL,
                               "tensor_slices: component %d has %lld slices, those before it %lld",
                               k, (long long)shape->dim[0], (long long)n);
        }
        n = n >= 0 ? n : shape->dim[0];
        shape->rank--;
        memmove(shape->dim, shape->dim + 1, (size_t)shape->rank * sizeof shape->dim[0]);
    }
    return STOKER_OK;
}

// Rows [first, first + n) of the tensor as elements.
static void cut(struct stk_col *to, const struct stk_col *from, int64_t first, int64_t n)
{
    stk_col_share_first(to, from);
    to->shape.rank--;
    memmove(to->shape.dim, to->shape.dim + 1, (size_t)to->shape.rank * sizeof to->shape.dim[0]);
    to->stride = stk_col_bytes_each(to);
    to->data += (size_t)first * to->stride;
    to->n = n;
}

static enum stoker_status slices_open(struct stk_iter *it, struct stoker_err *err)
{
    struct slices *s = it->state;
    (void)err;
    s->cols = components(it->ds);
    s->n = first_dim(it->ds);
    return STOKER_OK;
}

static enum stoker_status slices_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                      struct stoker_err *err)
{
    struct slices *s = it->state;
    const struct stk_attr *t = s->cols;
    int64_t left = s->n - s->at, n = want < left ? want : left;
    if (is_torn(s) && !s->is_told) {
        s->is_told = true;
        s->at = s->n;
        return torn(it, err);
    }
    if (n <= 0) {
        return STOKER_OK;
    }
    if (!stk_block_reset(out, (int)t->count)) {
        return stk_err_nomem(err);
    }
    for (int k = 0; k < out->count; k++) {
        cut(&out->cols[k], &t->cols[k], s->at, n);
    }
    out->n = n;
    s->at += n;
    STK_ASSERT(s->at <= s->n);
    return STOKER_OK;
}

static enum stoker_status slices_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                      struct stoker_err *err)
{
    struct slices *s = it->state;
    int64_t left = s->n - s->at;
    (void)err;
    *done = n < left ? n : left;
    s->at += *done;
    return STOKER_OK;
}

static enum stoker_status slices_at(struct stk_iter *it, const int64_t *index, int64_t n,
                                    struct stk_block *out, struct stoker_err *err)
{
    const struct slices *s = it->state;
    const struct stk_attr *t = s->cols;
    if (is_torn(s)) {
        return torn(it, err);
    }
    if (!stk_block_reset(out, (int)t->count)) {
        return stk_err_nomem(err);
    }
    for (int k = 0; k < out->count; k++) {
        struct stk_col all;
        cut(&all, &t->cols[k], 0, s->n);
        bool ok = stk_col_gather(&out->cols[k], it->run->pool, &all, index, n);
        stk_col_clear(&all);
        if (!ok) {
            return stk_err_set(err, STOKER_ELIMIT, "tensor_slices: no memory for %lld elements",
                               (long long)n);
        }
    }
    out->n = n;
    return STOKER_OK;
}

static const struct stk_arg_row tensor_args[] = {
    STK_ARG("components", OTHER, "the tensors", .is_required = true),
    STK_ARG("is_mapped", BOOL, "the first is in a mapped file"),
    {0}};

const struct stk_dataset_kind stk_dataset_tensors = {.name = "tensors",
                                                     .summary =
                                                         "One element with the given tensors",
                                                     .role = STK_DS_SOURCE,
                                                     .args = tensor_args,
                                                     .infer = specs_of,
                                                     .cardinality = tensors_one,
                                                     .state_bytes = sizeof(struct slices),
                                                     .open = tensors_open,
                                                     .next = tensors_next,
                                                     .at = tensors_at};

const struct stk_dataset_kind stk_dataset_tensor_slices = {
    .name = "tensor_slices",
    .summary = "Slices of the tensors along the first dimension",
    .role = STK_DS_SOURCE,
    .args = tensor_args,
    .infer = slices_infer,
    .cardinality = first_dim,
    .state_bytes = sizeof(struct slices),
    .open = slices_open,
    .next = slices_next,
    .skip = slices_skip,
    .at = slices_at};
