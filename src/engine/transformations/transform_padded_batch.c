// SPDX-License-Identifier: Apache-2.0
// padded_batch: like batch, but pads elements of different shapes to one shape: the given one, or,
// for dimensions not given, the largest in the batch.
//
// Attributes: padded_shapes SPECS (only the shapes count; absent: those of the input), and
// padding_values COLS, a scalar for each component (absent: zero, or the empty string).
#include "engine/memory/pad.h"
#include "engine/run/unequal_batch.h"

struct padded {
    struct stk_unequal unequal;     // first field: its functions take the state as theirs
    const struct stk_attr *values;  // padding values; NULL: zeros
    const struct stk_specs *shapes; // shapes to pad to; unknown dimensions: the largest
};

// The shapes to pad to.
static const struct stk_specs *targets(const struct stk_dataset *ds)
{
    const struct stk_attr *t = stk_attrs_get(ds->attrs, "padded_shapes");
    return t ? t->specs : ds->in[0]->specs;
}

static enum stoker_status check(const struct stk_dataset *ds, struct stoker_err *err)
{
    const struct stk_specs *in = ds->in[0]->specs;
    const struct stk_attr *shapes = stk_attrs_get(ds->attrs, "padded_shapes");
    const struct stk_attr *values = stk_attrs_get(ds->attrs, "padding_values");
    if (shapes && (shapes->kind != STK_ATTR_SPECS || shapes->specs->count != in->count)) {
        return stk_err_set(err, STOKER_EINVAL,
                           "padded_batch: padded_shapes does not fit %d components", in->count);
    }
    if (values && (values->kind != STK_ATTR_COLS || values->count != in->count)) {
        return stk_err_set(err, STOKER_EINVAL,
                           "padded_batch: padding_values does not fit %d components", in->count);
    }
    for (int k = 0; k < in->count; k++) {
        struct stk_shape to = targets(ds)->items[k].shape;
        const struct stk_shape *is = &in->items[k].shape;
        if (in->items[k].dtype == STK_DT_DATASET) {
            return stk_err_set(err, STOKER_EINVAL, "padded_batch: component %d is a dataset", k);
        }
        if (to.rank >= 0 && is->rank >= 0 && to.rank != is->rank) {
            return stk_err_set(err, STOKER_EINVAL,
                               "padded_batch: component %d has %d dimensions, its padded shape %d",
                               k, is->rank, to.rank);
        }
        for (int d = 0; d < to.rank && is->rank >= 0; d++) {
            if (to.dim[d] >= 0 && is->dim[d] > to.dim[d]) {
                return stk_err_set(err, STOKER_EINVAL,
                                   "padded_batch: dimension %d of component %d is %lld, more than "
                                   "the %lld it should be filled up to",
                                   d, k, (long long)is->dim[d], (long long)to.dim[d]);
            }
        }
        if (values && values->cols[k].dtype != in->items[k].dtype) {
            return stk_err_set(
                err, STOKER_EINVAL, "padded_batch: component %d is %s, its padding value %s", k,
                stk_dtype_name(in->items[k].dtype), stk_dtype_name(values->cols[k].dtype));
        }
    }
    return STOKER_OK;
}

static enum stoker_status padded_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    const struct stk_specs *in = ds->in[0]->specs;
    enum stoker_status s = check(ds, err);
    ds->specs = s == STOKER_OK ? stk_specs_new(in->count) : NULL;
    if (!ds->specs) {
        return s == STOKER_OK ? stk_err_nomem(err) : s;
    }
    for (int k = 0; k < in->count; k++) {
        ds->specs->items[k].dtype = in->items[k].dtype;
        ds->specs->items[k].shape = targets(ds)->items[k].shape;
        if (!stk_shape_prepend(&ds->specs->items[k].shape, stk_unequal_rows(ds))) {
            return stk_err_set(err, STOKER_EINVAL,
                               "padded_batch: component %d has %d dimensions already", k,
                               STK_RANK_MAX);
        }
    }
    return STOKER_OK;
}

static enum stoker_status padded_open(struct stk_iter *it, struct stoker_err *err)
{
    struct padded *p = it->state;
    p->values = stk_attrs_get(it->ds->attrs, "padding_values");
    p->shapes = targets(it->ds);
    return stk_unequal_open(it, err);
}

static enum stoker_status pad(struct stk_iter *it, int k, int64_t n, struct stk_col *to,
                              struct stoker_err *err)
{
    const struct padded *p = it->state;
    const struct stk_col *held = &p->unequal.held.block.cols[k];
    const struct stk_attr *values = p->values;
    struct stk_shape shape = p->shapes->items[k].shape;
    const void *value = values ? stk_col_at(&values->cols[k], 0) : NULL;
    int64_t bad;
    if (stk_col_pad(to, it->run->pool, held, 0, n, &shape, value, &bad)) {
        bool ok = !values || stk_keep_join(&to->keep, values->cols[k].keep);
        return ok ? STOKER_OK : stk_err_nomem(err);
    }
    if (bad < 0) {
        return stk_stage_no_memory(it, err);
    }
    char have[STK_SHAPE_TEXT], want[STK_SHAPE_TEXT];
    struct stk_shape is = stk_col_shape(held, bad);
    return stk_err_set(err, STOKER_EINVAL,
                       "padded_batch: element %lld of a batch has shape %s in component %d, which "
                       "does not fit the padded shape %s",
                       (long long)bad, stk_shape_text(&is, have), k, stk_shape_text(&shape, want));
}

static enum stoker_status make(struct stk_iter *it, int64_t n, struct stk_block *out,
                               struct stoker_err *err)
{
    enum stoker_status s = STOKER_OK;
    for (int k = 0; s == STOKER_OK && k < out->count; k++) {
        s = pad(it, k, n, &out->cols[k], err);
    }
    return s;
}

static enum stoker_status padded_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                      struct stoker_err *err)
{
    (void)want;
    return stk_unequal_next(it, make, out, err);
}

static const struct stk_arg_row padded_args[] = {
    STK_ARG("batch_size", INT, "elements per batch", .is_required = true, .min = 1,
            .max = INT32_MAX),
    STK_ARG("padded_shapes", OTHER, "shapes to pad elements to"),
    STK_ARG("padding_values", OTHER, "values to pad with"),
    STK_ARG("drop_remainder", BOOL, "drop a short last batch"),
    {0}};

const struct stk_dataset_kind stk_dataset_padded_batch = {
    .name = "padded_batch",
    .summary = "Batches consecutive elements, padded to one shape",
    .holds_less_with =
        "a smaller batch_size, or batches of similar lengths (bucket_by_sequence_length)",
    .role = STK_DS_PAD,
    .args = padded_args,
    .infer = padded_infer,
    .cardinality = stk_unequal_cardinality,
    .state_bytes = sizeof(struct padded),
    .open = padded_open,
    .next = padded_next,
    .close = stk_unequal_close};
