// SPDX-License-Identifier: Apache-2.0
// ragged_batch: combines consecutive elements whose components may differ in length. Attribute
// "ragged" INTS, for each component: -1 (shapes are equal: it is stacked), or m, the last dimension
// that may differ: its values are concatenated along one dimension that replaces the first m + 1; m
// + 2 levels of row_splits (int64, each from 0) say where elements, their rows, ... start. So such
// a component becomes m + 2: values, splits of the elements, of their rows, and so on.
#include <string.h>

#include "engine/run/unequal_batch.h"

struct ragged {
    struct stk_unequal unequal; // first field: its functions take the state as theirs
    const int64_t *dims;        // per component: the last dimension that may differ; -1: none
};

static enum stoker_status check(const struct stk_dataset *ds, int *outputs, struct stoker_err *err)
{
    const struct stk_specs *in = ds->in[0]->specs;
    const struct stk_attr *t = stk_attrs_get(ds->attrs, "ragged");
    if (!t || t->kind != STK_ATTR_INTS || t->count != in->count) {
        return stk_err_set(err, STOKER_EINVAL, "ragged_batch: ragged does not fit %d components",
                           in->count);
    }
    *outputs = 0;
    for (int k = 0; k < in->count; k++) {
        int rank = in->items[k].shape.rank;
        if (in->items[k].dtype == STK_DT_DATASET || t->ints[k] < -1 ||
            (t->ints[k] >= 0 && t->ints[k] >= rank) || rank >= STK_RANK_MAX) {
            return stk_err_set(err, STOKER_EINVAL,
                               "ragged_batch: component %d is a dataset, or has too few or too "
                               "many dimensions",
                               k);
        }
        *outputs += (int)t->ints[k] + 2;
    }
    return *outputs <= STK_COMPONENTS_MAX
               ? STOKER_OK
               : stk_err_set(err, STOKER_EINVAL, "ragged_batch: too many components");
}

static enum stoker_status ragged_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    const struct stk_specs *in = ds->in[0]->specs;
    int outputs = 0, o = 0;
    enum stoker_status s = check(ds, &outputs, err);
    int64_t rows = stk_unequal_rows(ds);
    ds->specs = s == STOKER_OK ? stk_specs_new(outputs) : NULL;
    if (!ds->specs) {
        return s == STOKER_OK ? stk_err_nomem(err) : s;
    }
    const struct stk_attr *t = stk_attrs_get(ds->attrs, "ragged");
    for (int k = 0; k < in->count; k++) {
        struct stk_spec *to = &ds->specs->items[o];
        const struct stk_shape *is = &in->items[k].shape;
        int m = (int)t->ints[k];
        to->dtype = in->items[k].dtype;
        to->shape = *is;
        if (m < 0) {
            (void)stk_shape_prepend(&to->shape, rows); // fits: checked
        } else {
            to->shape.rank = is->rank - m;
            to->shape.dim[0] = STK_UNKNOWN;
            memmove(&to->shape.dim[1], &is->dim[m + 1],
                    (size_t)(is->rank - m - 1) * sizeof is->dim[0]);
            for (int j = 0; j <= m; j++) {
                ds->specs->items[o + 1 + j] =
                    (struct stk_spec){.dtype = STK_DT_I64,
                                      .shape = {1, {j == 0 && rows >= 0 ? rows + 1 : STK_UNKNOWN}}};
            }
        }
        o += m + 2;
    }
    return STOKER_OK;
}

static enum stoker_status differs(int k, const struct stk_shape *a, const struct stk_shape *b,
                                  struct stoker_err *err)
{
    char one[STK_SHAPE_TEXT], other[STK_SHAPE_TEXT];
    return stk_err_set(err, STOKER_EINVAL,
                       "ragged_batch: component %d has shapes %s and %s in one batch, which differ "
                       "where they may not",
                       k, stk_shape_text(a, one), stk_shape_text(b, other));
}

static enum stoker_status stack(struct stk_iter *it, int k, int64_t n, struct stk_col *to,
                                struct stoker_err *err)
{
    struct stk_unequal *p = it->state;
    struct stk_col some = {0};
    int64_t unequal = -1;
    stk_col_slice(&some, &p->held.block.cols[k], 0, n);
    bool ok = stk_col_fold(to, it->run->pool, &some, n, &unequal);
    enum stoker_status s = STOKER_OK;
    if (!ok && unequal >= 0) {
        struct stk_shape a = stk_col_shape(&some, 0), b = stk_col_shape(&some, unequal);
        s = differs(k, &a, &b, err);
    } else if (!ok) {
        s = stk_stage_no_memory(it, err);
    }
    stk_col_clear(&some);
    return s;
}

// Level j of the row_splits of n elements of the column.
static bool make_splits(struct stk_iter *it, const struct stk_col *c, int64_t n, int j,
                        struct stk_col *to)
{
    int64_t rows = 0, at = 0;
    for (int64_t i = 0; i < n; i++) {
        struct stk_shape s = stk_col_shape(c, i);
        int64_t count = 1;
        for (int d = 0; d < j; d++) {
            count *= s.dim[d];
        }
        rows += count;
    }
    struct stk_shape shape = {1, {rows + 1}};
    if (!stk_col_uniform(to, it->run->pool, STK_DT_I64, &shape, 1)) {
        return false;
    }
    int64_t *out = (int64_t *)(void *)to->data;
    *out++ = 0;
    for (int64_t i = 0; i < n; i++) {
        struct stk_shape s = stk_col_shape(c, i);
        int64_t count = 1;
        for (int d = 0; d < j; d++) {
            count *= s.dim[d];
        }
        for (int64_t row = 0; row < count; row++) {
            at += s.dim[j];
            *out++ = at;
        }
    }
    return true;
}

// Concatenates the values of n elements, and makes their row_splits of m + 1 levels.
static enum stoker_status join(struct stk_iter *it, int k, int m, int64_t n, struct stk_col *to,
                               struct stoker_err *err)
{
    struct stk_unequal *p = it->state;
    const struct stk_col *c = &p->held.block.cols[k];
    struct stk_shape first = stk_col_shape(c, 0), shape = {.rank = first.rank - m};
    memcpy(&shape.dim[1], &first.dim[m + 1], (size_t)(first.rank - m - 1) * sizeof first.dim[0]);
    for (int64_t i = 0; i < n; i++) {
        struct stk_shape s = stk_col_shape(c, i);
        int64_t count = 1;
        for (int d = 0; d <= m; d++) {
            count *= s.dim[d];
        }
        for (int d = m + 1; d < first.rank; d++) {
            if (s.rank != first.rank || s.dim[d] != first.dim[d]) {
                return differs(k, &first, &s, err);
            }
        }
        shape.dim[0] += count;
    }
    if (stk_shape_count(&shape) < 0 ||
        !stk_col_uniform(&to[0], it->run->pool, c->dtype, &shape, 1)) {
        return stk_stage_no_memory(it, err);
    }
    uint8_t *out = to[0].data;
    for (int64_t i = 0; i < n; i++) {
        struct stk_shape s = stk_col_shape(c, i);
        size_t bytes = (size_t)stk_shape_count(&s) * stk_dtype_bytes(c->dtype);
        if (bytes) {
            memcpy(out, stk_col_at(c, i), bytes);
        }
        out += bytes;
    }
    bool ok = stk_keep_join(&to[0].keep, c->keep);
    for (int j = 0; ok && j <= m; j++) {
        ok = make_splits(it, c, n, j, &to[1 + j]);
    }
    return ok ? STOKER_OK : stk_stage_no_memory(it, err);
}

static enum stoker_status make(struct stk_iter *it, int64_t n, struct stk_block *out,
                               struct stoker_err *err)
{
    const struct ragged *p = it->state;
    enum stoker_status s = STOKER_OK;
    for (int k = 0, o = 0; s == STOKER_OK && k < p->unequal.held.block.count; k++) {
        int m = (int)p->dims[k];
        s = m < 0 ? stack(it, k, n, &out->cols[o], err) : join(it, k, m, n, &out->cols[o], err);
        o += m + 2;
    }
    return s;
}

static enum stoker_status ragged_open(struct stk_iter *it, struct stoker_err *err)
{
    ((struct ragged *)it->state)->dims = stk_attrs_get(it->ds->attrs, "ragged")->ints;
    return stk_unequal_open(it, err);
}

static enum stoker_status ragged_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                      struct stoker_err *err)
{
    (void)want;
    return stk_unequal_next(it, make, out, err);
}

static const struct stk_arg_row ragged_args[] = {
    STK_ARG("batch_size", INT, "elements per batch", .is_required = true, .min = 1,
            .max = INT32_MAX),
    STK_ARG("ragged", OTHER, "for each component, the last dimension that may differ; -1: none",
            .is_required = true),
    STK_ARG("drop_remainder", BOOL, "drop a short last batch"),
    {0}};

const struct stk_dataset_kind stk_dataset_ragged_batch = {
    .name = "ragged_batch",
    .summary = "Batches consecutive elements of different lengths",
    .holds_less_with = "a smaller batch_size",
    .role = STK_DS_PAD,
    .args = ragged_args,
    .infer = ragged_infer,
    .cardinality = stk_unequal_cardinality,
    .state_bytes = sizeof(struct ragged),
    .open = ragged_open,
    .next = ragged_next,
    .close = stk_unequal_close};
