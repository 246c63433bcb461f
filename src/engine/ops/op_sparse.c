// SPDX-License-Identifier: Apache-2.0
// Converts sparse and ragged values to dense, with a given value elsewhere.
//   sparse_to_dense: indices (n, rank), values (n), dense_shape (rank), default; int64; for
//   duplicate indices the last value counts
//   ragged_to_tensor: values (n, ...), row_splits (rows + 1), default
#include <string.h>

#include "engine/ops/op_util.h"

static enum stoker_status dense_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    if (c->in[0].dtype != STK_DT_I64 || c->in[2].dtype != STK_DT_I64 ||
        c->in[1].dtype != c->in[3].dtype) {
        return stk_err_set(
            err, STOKER_EINVAL,
            "sparse_to_dense: places are int64, and the default has the values' type");
    }
    c->out[0].dtype = c->in[1].dtype;
    int64_t dims[STK_RANK_MAX];
    int rank;
    if (stk_op_ints(NULL, c->constant[2], 0, dims, STK_RANK_MAX, &rank)) {
        c->out[0].shape.rank = rank;
        memcpy(c->out[0].shape.dim, dims, (size_t)rank * sizeof dims[0]);
        return STOKER_OK;
    }
    int64_t known = c->in[2].shape.rank == 1 ? c->in[2].shape.dim[0] : STK_UNKNOWN;
    if (known > STK_RANK_MAX) {
        return stk_err_set(err, STOKER_EINVAL, "sparse_to_dense: too many dimensions");
    }
    c->out[0].shape.rank = (int)known;
    for (int i = 0; i < known; i++) {
        c->out[0].shape.dim[i] = STK_UNKNOWN;
    }
    return STOKER_OK;
}

static void fill(uint8_t *to, int64_t count, const void *value, size_t size)
{
    for (int64_t k = 0; k < count; k++) {
        memcpy(to + (size_t)k * size, value, size);
    }
}

static bool keep_strings(struct stk_op_run *r, int values, int fallback)
{
    return stk_keep_join(&r->out[0].keep, r->in[values]->keep) &&
           stk_keep_join(&r->out[0].keep, r->in[fallback]->keep);
}

// The position of a row of indices; -1: outside.
static int64_t place_of(const struct stk_shape *shape, const int64_t *index)
{
    int64_t at = 0;
    for (int d = 0; d < shape->rank; d++) {
        if (index[d] < 0 || index[d] >= shape->dim[d]) {
            return -1;
        }
        at = at * shape->dim[d] + index[d];
    }
    return at;
}

static enum stoker_status dense_run(struct stk_op_run *r, struct stoker_err *err)
{
    size_t size = stk_dtype_bytes(r->in[1]->dtype);
    for (int64_t i = 0; i < r->n; i++) {
        struct stk_shape shape = {0}, indices = stk_col_shape(r->in[0], i);
        struct stk_shape values = stk_col_shape(r->in[1], i);
        bool fits = stk_op_ints(NULL, r->in[2], i, shape.dim, STK_RANK_MAX, &shape.rank) &&
                    indices.rank == 2 && indices.dim[1] == shape.rank && values.rank == 1 &&
                    values.dim[0] == indices.dim[0] && stk_shape_count(&shape) >= 0 &&
                    stk_op_scalar(r->in[3], i);
        if (!fits) {
            return stk_op_fail(r, i, STOKER_EINVAL,
                               "indices, values and shape do not fit together");
        }
        uint8_t *out = stk_op_append(r, 0, r->in[1]->dtype, &shape, err);
        if (!out) {
            return err->code;
        }
        fill(out, stk_shape_count(&shape), stk_col_at(r->in[3], i), size);
        const int64_t *index = stk_col_at(r->in[0], i);
        const uint8_t *from = stk_col_at(r->in[1], i);
        for (int64_t k = 0; k < values.dim[0]; k++, index += shape.rank) {
            int64_t at = place_of(&shape, index);
            if (at < 0) {
                return stk_op_fail(r, i, STOKER_EINVAL, "value %lld is outside the shape",
                                   (long long)k);
            }
            memcpy(out + (size_t)at * size, from + (size_t)k * size, size);
        }
    }
    return keep_strings(r, 1, 3) ? STOKER_OK : stk_op_no_memory(r, err);
}

const struct stk_op stk_op_sparse_to_dense = {.name = "sparse_to_dense",
                                              .summary = "Converts a sparse value to a dense one",
                                              .cost_ns = 1,
                                              .signature = "any, any, any, any",
                                              .infer = dense_infer,
                                              .run = dense_run};

static enum stoker_status ragged_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    bool is_int = c->in[1].dtype == STK_DT_I64 || c->in[1].dtype == STK_DT_I32;
    if (!is_int || c->in[0].dtype != c->in[2].dtype) {
        return stk_err_set(err, STOKER_EINVAL,
                           "ragged_to_tensor: row_splits are integers, and the default has the "
                           "values' type");
    }
    c->out[0].dtype = c->in[0].dtype;
    c->out[0].shape = c->in[0].shape;
    if (c->in[0].shape.rank < 0) {
        return STOKER_OK;
    }
    int64_t splits = c->in[1].shape.rank == 1 ? c->in[1].shape.dim[0] : STK_UNKNOWN;
    c->out[0].shape.dim[0] = STK_UNKNOWN;
    if (!stk_shape_prepend(&c->out[0].shape, splits > 0 ? splits - 1 : STK_UNKNOWN)) {
        return stk_err_set(err, STOKER_EINVAL, "ragged_to_tensor: too many dimensions");
    }
    return STOKER_OK;
}

// The number of rows and the longest. False: invalid splits.
static bool measure(const struct stk_col *c, int64_t i, int64_t values, int64_t *rows,
                    int64_t *longest)
{
    struct stk_shape shape = stk_col_shape(c, i);
    const void *p = stk_col_at(c, i);
    *rows = shape.rank == 1 ? shape.dim[0] - 1 : -1;
    *longest = 0;
    if (*rows < 0 || stk_op_get_place(p, c->dtype, 0) < 0) {
        return false;
    }
    for (int64_t k = 0; k < *rows; k++) {
        int64_t from = stk_op_get_place(p, c->dtype, k), to = stk_op_get_place(p, c->dtype, k + 1);
        if (to < from || to > values) {
            return false;
        }
        *longest = to - from > *longest ? to - from : *longest;
    }
    return true;
}

static enum stoker_status ragged_run(struct stk_op_run *r, struct stoker_err *err)
{
    size_t size = stk_dtype_bytes(r->in[0]->dtype);
    for (int64_t i = 0; i < r->n; i++) {
        struct stk_shape shape = stk_col_shape(r->in[0], i);
        int64_t rows, longest, inner = shape.rank > 0 ? stk_op_span(&shape, 1, shape.rank) : -1;
        bool fits = inner >= 0 && measure(r->in[1], i, shape.dim[0], &rows, &longest);
        if (fits) {
            shape.dim[0] = longest;
            fits = stk_shape_prepend(&shape, rows) && stk_shape_count(&shape) >= 0 &&
                   stk_op_scalar(r->in[2], i);
        }
        if (!fits) {
            return stk_op_fail(r, i, STOKER_EINVAL, "row_splits do not fit the values");
        }
        uint8_t *out = stk_op_append(r, 0, r->in[0]->dtype, &shape, err);
        if (!out) {
            return err->code;
        }
        const void *splits = stk_col_at(r->in[1], i);
        const uint8_t *from = stk_col_at(r->in[0], i);
        fill(out, stk_shape_count(&shape), stk_col_at(r->in[2], i), size);
        for (int64_t k = 0; k < rows; k++) {
            int64_t first = stk_op_get_place(splits, r->in[1]->dtype, k);
            int64_t count = (stk_op_get_place(splits, r->in[1]->dtype, k + 1) - first) * inner;
            if (count > 0) {
                memcpy(out + (size_t)(k * longest * inner) * size,
                       from + (size_t)(first * inner) * size, (size_t)count * size);
            }
        }
    }
    return keep_strings(r, 0, 2) ? STOKER_OK : stk_op_no_memory(r, err);
}

const struct stk_op stk_op_ragged_to_tensor = {.name = "ragged_to_tensor",
                                               .summary = "Pads rows of different lengths",
                                               .cost_ns = 1,
                                               .signature = "any, any, any",
                                               .infer = ragged_infer,
                                               .run = ragged_run};
