// SPDX-License-Identifier: Apache-2.0
// padded_batch: as batch, where elements of different shapes are filled up to one shape: the one
// given, or the largest in the batch for dimensions that are not.
//
// Attributes: padded_shapes SPECS (only the shapes count; absent: those of the input), and
// padding_values COLS, a scalar for each component (absent: zero, or the empty string).
#include "data/feed.h"
#include "data/pad.h"

struct padded {
    struct stk_block held, more, joined, rest;
    bool at_end;
};

static int64_t batch_size(const struct stk_dataset *ds)
{
    return stk_attrs_int(ds->attrs, "batch_size", 1);
}

static bool drops_remainder(const struct stk_dataset *ds)
{
    return stk_attrs_int(ds->attrs, "drop_remainder", 0) != 0;
}

static int64_t padded_cardinality(const struct stk_dataset *ds)
{
    int64_t n = stk_dataset_cardinality(ds->in[0]), size = batch_size(ds);
    if (n < 0 || stk_arg_is_bound(ds, "batch_size")) {
        return n == STK_INFINITE ? n : STK_CARDINALITY_UNKNOWN;
    }
    return n / size + (!drops_remainder(ds) && n % size != 0);
}

// What an element of component k is filled up to.
static struct stk_shape target(const struct stk_dataset *ds, int k)
{
    const struct stk_attr *t = stk_attrs_get(ds->attrs, "padded_shapes");
    return t ? t->specs->items[k].shape : ds->in[0]->specs->items[k].shape;
}

static enum stk_status check(const struct stk_dataset *ds, struct stk_err *err)
{
    const struct stk_specs *in = ds->in[0]->specs;
    const struct stk_attr *shapes = stk_attrs_get(ds->attrs, "padded_shapes");
    const struct stk_attr *values = stk_attrs_get(ds->attrs, "padding_values");
    if (shapes && (shapes->kind != STK_ATTR_SPECS || shapes->specs->count != in->count)) {
        return stk_err_set(err, STK_EINVAL,
                           "padded_batch: padded_shapes does not fit %d components", in->count);
    }
    if (values && (values->kind != STK_ATTR_COLS || values->count != in->count)) {
        return stk_err_set(err, STK_EINVAL,
                           "padded_batch: padding_values does not fit %d components", in->count);
    }
    for (int k = 0; k < in->count; k++) {
        struct stk_shape to = target(ds, k);
        const struct stk_shape *is = &in->items[k].shape;
        if (in->items[k].dtype == STK_DT_DATASET) {
            return stk_err_set(err, STK_EINVAL, "padded_batch: component %d is a dataset", k);
        }
        if (to.rank >= 0 && is->rank >= 0 && to.rank != is->rank) {
            return stk_err_set(err, STK_EINVAL,
                               "padded_batch: component %d has %d dimensions, its padded shape %d",
                               k, is->rank, to.rank);
        }
        for (int d = 0; d < to.rank && is->rank >= 0; d++) {
            if (to.dim[d] >= 0 && is->dim[d] > to.dim[d]) {
                return stk_err_set(err, STK_EINVAL,
                                   "padded_batch: dimension %d of component %d is %lld, more than "
                                   "the %lld it should be filled up to",
                                   d, k, (long long)is->dim[d], (long long)to.dim[d]);
            }
        }
        if (values && values->cols[k].dtype != in->items[k].dtype) {
            return stk_err_set(
                err, STK_EINVAL, "padded_batch: component %d is %s, its padding value %s", k,
                stk_dtype_name(in->items[k].dtype), stk_dtype_name(values->cols[k].dtype));
        }
    }
    return STK_OK;
}

static enum stk_status padded_infer(struct stk_dataset *ds, struct stk_err *err)
{
    const struct stk_specs *in = ds->in[0]->specs;
    enum stk_status s = check(ds, err);
    int64_t size = batch_size(ds);
    bool is_fixed = !stk_arg_is_bound(ds, "batch_size") && drops_remainder(ds);
    ds->specs = s == STK_OK ? stk_specs_new(in->count) : NULL;
    if (!ds->specs) {
        return s == STK_OK ? stk_err_nomem(err) : s;
    }
    for (int k = 0; k < in->count; k++) {
        ds->specs->items[k].dtype = in->items[k].dtype;
        ds->specs->items[k].shape = target(ds, k);
        if (!stk_shape_prepend(&ds->specs->items[k].shape, is_fixed ? size : STK_UNKNOWN)) {
            return stk_err_set(err, STK_EINVAL,
                               "padded_batch: component %d has %d dimensions already", k,
                               STK_RANK_MAX);
        }
    }
    return STK_OK;
}

static enum stk_status fill(struct stk_iter *it, struct stk_err *err)
{
    struct padded *p = it->state;
    int64_t size = batch_size(it->ds);
    while (!p->at_end && p->held.n < size) {
        enum stk_status s = stk_iter_next(it->in[0], size - p->held.n, &p->more, err);
        p->at_end = s == STK_OK && p->more.n == 0;
        if (s != STK_OK) {
            stk_block_clear(&p->held); // the batch of the bad element is lost with it
            return s;
        }
        if (p->held.n == 0) {
            stk_block_move(&p->held, &p->more);
        } else if (p->more.n > 0) {
            const struct stk_block *both[2] = {&p->held, &p->more};
            if (!stk_block_concat(&p->joined, it->run->pool, both, 2)) {
                return stk_stage_no_memory(it, err);
            }
            stk_block_move(&p->held, &p->joined);
            stk_block_clear(&p->joined);
        }
        stk_block_clear(&p->more);
    }
    return STK_OK;
}

static enum stk_status pad(struct stk_iter *it, int k, int64_t n, struct stk_col *to,
                           struct stk_err *err)
{
    struct padded *p = it->state;
    const struct stk_attr *values = stk_attrs_get(it->ds->attrs, "padding_values");
    struct stk_shape shape = target(it->ds, k);
    const void *value = values ? stk_col_at(&values->cols[k], 0) : NULL;
    int64_t bad;
    if (stk_col_pad(to, it->run->pool, &p->held.cols[k], 0, n, &shape, value, &bad)) {
        bool ok = !values || stk_keep_join(&to->keep, values->cols[k].keep);
        return ok ? STK_OK : stk_err_nomem(err);
    }
    if (bad < 0) {
        return stk_stage_no_memory(it, err);
    }
    char have[STK_SHAPE_TEXT], want[STK_SHAPE_TEXT];
    struct stk_shape is = stk_col_shape(&p->held.cols[k], bad);
    return stk_err_set(err, STK_EINVAL,
                       "padded_batch: element %lld of a batch has shape %s in component %d, which "
                       "does not fit the padded shape %s",
                       (long long)bad, stk_shape_text(&is, have), k, stk_shape_text(&shape, want));
}

static enum stk_status padded_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                   struct stk_err *err)
{
    struct padded *p = it->state;
    int64_t size = batch_size(it->ds);
    (void)want;
    enum stk_status s = fill(it, err);
    int64_t n = p->held.n < size ? p->held.n : size;
    if (s != STK_OK || n == 0 || (n < size && drops_remainder(it->ds))) {
        return s;
    }
    if (!stk_block_reset(out, it->ds->specs->count)) {
        return stk_err_nomem(err);
    }
    for (int k = 0; s == STK_OK && k < out->count; k++) {
        s = pad(it, k, n, &out->cols[k], err);
    }
    if (!stk_block_slice(&p->rest, &p->held, n, p->held.n - n)) {
        s = stk_err_nomem(err);
    }
    stk_block_move(&p->held, &p->rest);
    stk_block_clear(&p->rest);
    out->n = s == STK_OK;
    if (s != STK_OK) {
        stk_block_clear(out);
    }
    return s;
}

static void padded_close(struct stk_iter *it)
{
    struct padded *p = it->state;
    stk_block_free(&p->held);
    stk_block_free(&p->more);
    stk_block_free(&p->joined);
    stk_block_free(&p->rest);
}

static const struct stk_arg_row padded_args[] = {
    {.name = "batch_size",
     .type = STK_ARG_INT,
     .is_required = true,
     .min = 1,
     .max = INT32_MAX,
     .help = "elements in a batch"},
    {.name = "padded_shapes", .type = STK_ARG_OTHER, .help = "shapes of the elements, filled up"},
    {.name = "padding_values", .type = STK_ARG_OTHER, .help = "what they are filled up with"},
    {.name = "drop_remainder",
     .type = STK_ARG_BOOL,
     .help = "leave out a last batch that is short"},
    {0}};

const struct stk_dataset_kind stk_dataset_padded_batch = {.name = "padded_batch",
                                                          .summary = "Consecutive elements as one, "
                                                                     "filled up to one shape",
                                                          .args = padded_args,
                                                          .n_in_min = 1,
                                                          .n_in_max = 1,
                                                          .infer = padded_infer,
                                                          .cardinality = padded_cardinality,
                                                          .state_bytes = sizeof(struct padded),
                                                          .next = padded_next,
                                                          .close = padded_close};
