// SPDX-License-Identifier: Apache-2.0
// Batches of sparse and ragged values, from the output of the transformation ragged_batch.
//   sparse_batch: indices of all elements (n, rank), row_splits (elements + 1), their dense shapes
//   (elements, rank) -> indices (n, rank + 1), the element's number first, and the dense shape of
//   all (rank + 1): the largest of each dimension
//   ragged_nest: row_splits of all elements (concatenated), the start of each element's
//   (elements + 1) -> row_splits of the elements (elements + 1), and of all rows
#include <string.h>

#include "engine/ops/op_util.h"

static enum stoker_status sparse_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stoker_status s = stk_op_want_inputs(c, 3, 3, err);
    for (int j = 0; s == STOKER_OK && j < 3; j++) {
        if (c->in[j].dtype != STK_DT_I64 || c->in[j].shape.rank != (j == 1 ? 1 : 2)) {
            s = stk_err_set(err, STOKER_EINVAL,
                            "sparse_batch: takes places, row_splits and shapes");
        }
    }
    if (s != STOKER_OK) {
        return s;
    }
    int64_t rank = c->in[2].shape.dim[1] >= 0 ? c->in[2].shape.dim[1] : c->in[0].shape.dim[1];
    int64_t more = rank < 0 ? STK_UNKNOWN : rank + 1;
    c->n_out = 2;
    c->out[0] = (struct stk_spec){.dtype = STK_DT_I64, .shape = {2, {STK_UNKNOWN, more}}};
    c->out[1] = (struct stk_spec){.dtype = STK_DT_I64, .shape = {1, {more}}};
    return STOKER_OK;
}

// n row_splits must start at 0 and never decrease.
static bool are_splits(const int64_t *splits, int64_t n)
{
    bool are = n > 0 && splits[0] == 0;
    for (int64_t k = 1; are && k < n; k++) {
        are = splits[k] >= splits[k - 1];
    }
    return are;
}

static enum stoker_status sparse_run(struct stk_op_run *r, struct stoker_err *err)
{
    for (int64_t i = 0; i < r->n; i++) {
        int64_t n = r->in[0]->shape.dim[0], rank = r->in[0]->shape.dim[1];
        int64_t rows = r->in[2]->shape.dim[0];
        const int64_t *from = stk_col_at(r->in[0], i), *splits = stk_col_at(r->in[1], i);
        const int64_t *shapes = stk_col_at(r->in[2], i);
        if (r->in[1]->shape.dim[0] != rows + 1 || r->in[2]->shape.dim[1] != rank ||
            !are_splits(splits, rows + 1) || splits[rows] != n) {
            return stk_op_fail(r, i, STOKER_EINVAL, "places, row_splits and shapes do not fit");
        }
        struct stk_shape places = {2, {n, rank + 1}}, dense = {1, {rank + 1}};
        int64_t *to = stk_op_append(r, 0, STK_DT_I64, &places, err);
        int64_t *most = to ? stk_op_append(r, 1, STK_DT_I64, &dense, err) : NULL;
        if (!most) {
            return err->code;
        }
        memset(most, 0, (size_t)(rank + 1) * sizeof most[0]);
        most[0] = rows;
        for (int64_t row = 0; row < rows; row++) {
            for (int64_t k = splits[row]; k < splits[row + 1]; k++) {
                *to++ = row;
                memcpy(to, from + k * rank, (size_t)rank * sizeof to[0]);
                to += rank;
            }
            for (int64_t d = 0; d < rank; d++) {
                int64_t size = shapes[row * rank + d];
                most[d + 1] = size > most[d + 1] ? size : most[d + 1];
            }
        }
    }
    return STOKER_OK;
}

const struct stk_op stk_op_sparse_batch = {.name = "sparse_batch",
                                           .summary =
                                               "Combines the sparse values of several elements",
                                           .cost_ns = 2,
                                           .infer = sparse_infer,
                                           .run = sparse_run};

static enum stoker_status nest_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stoker_status s = stk_op_want_inputs(c, 2, 2, err);
    enum stk_dtype t = c->in[0].dtype;
    if (s == STOKER_OK && ((t != STK_DT_I64 && t != STK_DT_I32) || c->in[1].dtype != STK_DT_I64 ||
                           c->in[0].shape.rank != 1 || c->in[1].shape.rank != 1)) {
        s = stk_err_set(err, STOKER_EINVAL, "ragged_nest: takes row_splits");
    }
    c->n_out = 2;
    c->out[0] = (struct stk_spec){.dtype = t, .shape = c->in[1].shape};
    c->out[1] = (struct stk_spec){.dtype = t, .shape = {1, {STK_UNKNOWN}}};
    return s;
}

// Invalid splits may give any number: the reader checks them.
static int64_t plus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static enum stoker_status nest_run(struct stk_op_run *r, struct stoker_err *err)
{
    enum stk_dtype t = r->in[0]->dtype;
    for (int64_t i = 0; i < r->n; i++) {
        const void *from = stk_col_at(r->in[0], i);
        const int64_t *begins = stk_col_at(r->in[1], i);
        int64_t rows = r->in[1]->shape.dim[0] - 1, all = r->in[0]->shape.dim[0];
        bool fits = rows >= 0 && begins[0] == 0 && begins[rows] == all;
        for (int64_t row = 0; fits && row < rows; row++) {
            fits = begins[row + 1] > begins[row] &&
                   stk_op_get_place(from, r->in[0]->dtype, begins[row]) == 0;
        }
        if (!fits) {
            return stk_op_fail(r, i, STOKER_EINVAL, "row_splits are invalid, or begin above 0");
        }
        struct stk_shape outer = {1, {rows + 1}}, inner = {1, {all - rows + 1}};
        void *a = stk_op_append(r, 0, t, &outer, err);
        void *b = a ? stk_op_append(r, 1, t, &inner, err) : NULL;
        if (!b) {
            return err->code;
        }
        int64_t base = 0, n = 0;
        stk_op_put_place(a, t, 0, 0);
        stk_op_put_place(b, t, n++, 0);
        for (int64_t row = 0; row < rows; row++) {
            for (int64_t k = begins[row] + 1; k < begins[row + 1]; k++) {
                stk_op_put_place(b, t, n++, plus(base, stk_op_get_place(from, r->in[0]->dtype, k)));
            }
            base = plus(base, stk_op_get_place(from, r->in[0]->dtype, begins[row + 1] - 1));
            stk_op_put_place(a, t, row + 1, n - 1);
        }
    }
    return STOKER_OK;
}

const struct stk_op stk_op_ragged_nest = {.name = "ragged_nest",
                                          .summary = "Combines the row splits of several elements",
                                          .cost_ns = 2,
                                          .infer = nest_infer,
                                          .run = nest_run};

// ragged_places: row_splits, the outermost first -> each value's index (n, levels + 1) and the
// dense shape (levels + 1): rows, and the longest of each level. The splits must match those of the
// next level.
static enum stoker_status places_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stoker_status s = stk_op_want_inputs(c, 1, 2, err);
    for (int j = 0; s == STOKER_OK && j < c->n_in; j++) {
        if (c->in[j].dtype != STK_DT_I64 || c->in[j].shape.rank != 1) {
            s = stk_err_set(err, STOKER_EINVAL, "ragged_places: takes row_splits, int64");
        }
    }
    c->n_out = 2;
    c->out[0] = (struct stk_spec){.dtype = STK_DT_I64, .shape = {2, {STK_UNKNOWN, c->n_in + 1}}};
    c->out[1] = (struct stk_spec){.dtype = STK_DT_I64, .shape = {1, {c->n_in + 1}}};
    return s;
}

#define PLACES_MAX (INT64_C(1) << 38) // more than any memory holds

static enum stoker_status places_run(struct stk_op_run *r, struct stoker_err *err)
{
    for (int64_t i = 0; i < r->n; i++) {
        const int64_t *outer = stk_col_at(r->in[0], i);
        const int64_t *inner = r->n_in > 1 ? stk_col_at(r->in[1], i) : NULL;
        int64_t rows = r->in[0]->shape.dim[0] - 1, most[2] = {0};
        bool fits = are_splits(outer, rows + 1);
        int64_t steps = fits ? outer[rows] : 0, n = steps;
        if (fits && inner) {
            fits = r->in[1]->shape.dim[0] - 1 == steps && are_splits(inner, steps + 1);
            n = fits ? inner[steps] : 0;
        }
        if (!fits || n > PLACES_MAX) {
            return stk_op_fail(r, i, STOKER_EINVAL, "row_splits that do not fit together");
        }
        struct stk_shape places = {2, {n, r->n_in + 1}}, dense = {1, {r->n_in + 1}};
        int64_t *to = stk_op_append(r, 0, STK_DT_I64, &places, err);
        int64_t *shape = to ? stk_op_append(r, 1, STK_DT_I64, &dense, err) : NULL;
        if (!shape) {
            return err->code;
        }
        for (int64_t row = 0; row < rows; row++) {
            int64_t length = outer[row + 1] - outer[row];
            most[0] = length > most[0] ? length : most[0];
            for (int64_t step = 0; step < length; step++) {
                int64_t first = inner ? inner[outer[row] + step] : 0;
                int64_t count = inner ? inner[outer[row] + step + 1] - first : 1;
                most[1] = count > most[1] ? count : most[1];
                for (int64_t k = 0; k < count; k++) {
                    *to++ = row;
                    *to++ = step;
                    if (inner) {
                        *to++ = k;
                    }
                }
            }
        }
        shape[0] = rows;
        shape[1] = most[0];
        if (inner) {
            shape[2] = most[1];
        }
    }
    return STOKER_OK;
}

const struct stk_op stk_op_ragged_places = {.name = "ragged_places",
                                            .summary = "Indices of the values of ragged rows",
                                            .cost_ns = 2,
                                            .infer = places_infer,
                                            .run = places_run};
