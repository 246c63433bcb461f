// SPDX-License-Identifier: Apache-2.0
// top_k: the `k` largest values of each row (the last dimension) and their indices, in order; equal
// values keep their order, NaN is less than everything. Uses a heap of k indices: one comparison
// for most values if k is small.
#include "engine/ops/op_util.h"

enum { ARG_K, ARG_INDEX_TYPE };
static const struct stk_arg_row top_args[] = {
    [ARG_K] = STK_ARG("k", INT, "number of values", .is_required = true),
    [ARG_INDEX_TYPE] = STK_ARG("index_type", DTYPE, "type of the indices", .fallback = STK_DT_I32,
                               .choices = STK_OP_PLACES),
    {0}};

static enum stoker_status top_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stoker_status s = stk_op_want_inputs(c, 1, 1, err);
    int64_t k = c->args[ARG_K].i;
    enum stk_dtype t = c->in[0].dtype, places = (enum stk_dtype)c->args[ARG_INDEX_TYPE].i;
    if (s != STOKER_OK) {
        return s;
    }
    if (!stk_op_is_number(t) || stk_op_is_half(t)) {
        return stk_err_set(err, STOKER_EINVAL, "top_k: not for %s", stk_dtype_name(t));
    }
    if (k < 0) {
        return stk_err_set(err, STOKER_EINVAL, "top_k: needs k >= 0");
    }
    struct stk_shape shape = c->in[0].shape;
    if (shape.rank == 0 || (shape.rank > 0 && shape.dim[shape.rank - 1] != STK_UNKNOWN &&
                            shape.dim[shape.rank - 1] < k)) {
        char text[STK_SHAPE_TEXT];
        return stk_err_set(err, STOKER_EINVAL, "top_k: %lld of rows of a value of shape %s",
                           (long long)k, stk_shape_text(&shape, text));
    }
    if (shape.rank > 0) {
        shape.dim[shape.rank - 1] = k;
    }
    c->n_out = 2;
    c->out[0] = (struct stk_spec){.dtype = t, .shape = shape};
    c->out[1] = (struct stk_spec){.dtype = places, .shape = shape};
    return STOKER_OK;
}

struct row {
    const void *values;
    int64_t n, k;
    int64_t *heap; // indices; the last one in result order on top
};

// For each type: does index a come before b, and a row's indices in order.
#define ROWS(N, T, U)                                                                              \
    static bool before_##N(const T *v, int64_t a, int64_t b)                                       \
    {                                                                                              \
        T x = v[a], y = v[b];                                                                      \
        bool x_is_nan = x != x, y_is_nan = y != y;                                                 \
        if (x_is_nan || y_is_nan) {                                                                \
            return x_is_nan && y_is_nan ? a < b : y_is_nan;                                        \
        }                                                                                          \
        return x > y || (x == y && a < b);                                                         \
    }                                                                                              \
    static void sink_##N(const T *v, int64_t *heap, int64_t n, int64_t at)                         \
    {                                                                                              \
        int64_t place = heap[at];                                                                  \
        for (int64_t child; (child = 2 * at + 1) < n; at = child) {                                \
            child += child + 1 < n && before_##N(v, heap[child], heap[child + 1]);                 \
            if (!before_##N(v, place, heap[child])) {                                              \
                break;                                                                             \
            }                                                                                      \
            heap[at] = heap[child];                                                                \
        }                                                                                          \
        heap[at] = place;                                                                          \
    }                                                                                              \
    static void order_##N(const struct row *row)                                                   \
    {                                                                                              \
        const T *v = row->values;                                                                  \
        int64_t *heap = row->heap, k = row->k;                                                     \
        for (int64_t i = 0; i < k; i++) {                                                          \
            heap[i] = i;                                                                           \
        }                                                                                          \
        for (int64_t i = k / 2 - 1; i >= 0; i--) {                                                 \
            sink_##N(v, heap, k, i);                                                               \
        }                                                                                          \
        for (int64_t i = k; k > 0 && i < row->n; i++) {                                            \
            if (before_##N(v, i, heap[0])) {                                                       \
                heap[0] = i;                                                                       \
                sink_##N(v, heap, k, 0);                                                           \
            }                                                                                      \
        }                                                                                          \
        for (int64_t left = k - 1; left > 0; left--) {                                             \
            int64_t last = heap[0];                                                                \
            heap[0] = heap[left];                                                                  \
            heap[left] = last;                                                                     \
            sink_##N(v, heap, left, 0);                                                            \
        }                                                                                          \
    }
STK_FOR_NUMBERS(ROWS)

#define ORDER(N, T, U)                                                                             \
    case STK_DT_##N:                                                                               \
        order_##N(row);                                                                            \
        for (int64_t i = 0; i < row->k; i++) {                                                     \
            ((T *)out)[i] = ((const T *)row->values)[row->heap[i]];                                \
        }                                                                                          \
        break;
static void order_row(enum stk_dtype t, const struct row *row, void *out)
{
    switch (t) {
        STK_FOR_NUMBERS(ORDER)
    default:
        break;
    }
}

static enum stoker_status top_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    struct row row = {.k = r->args[ARG_K].i};
    enum stk_dtype t = in->dtype, places = r->spec[1].dtype;
    struct stk_shape shape = in->shape;
    if (shape.rank < 1 || shape.dim[shape.rank - 1] < row.k) {
        char text[STK_SHAPE_TEXT];
        return stk_op_fail(r, 0, STOKER_EINVAL, "%lld of rows of a value of shape %s",
                           (long long)row.k, stk_shape_text(&shape, text));
    }
    row.n = shape.dim[shape.rank - 1];
    shape.dim[shape.rank - 1] = row.k;
    int64_t rows = stk_op_span(&shape, 0, shape.rank - 1);
    size_t size = stk_dtype_bytes(t);
    uint8_t *values = stk_op_out(r, 0, t, &shape, err);
    uint8_t *at = values ? stk_op_out(r, 1, places, &shape, err) : NULL;
    struct stk_buf *heap = at ? stk_buf_get(r->pool, (size_t)row.k * sizeof(int64_t)) : NULL;
    if (!heap) {
        return at ? stk_op_no_memory(r, err) : err->code;
    }
    row.heap = (int64_t *)heap->data;
    for (int64_t i = 0; i < r->n * rows; i++) {
        row.values = (const uint8_t *)stk_col_at(in, i / rows) + (size_t)(i % rows * row.n) * size;
        order_row(t, &row, values + (size_t)(i * row.k) * size);
        for (int64_t k = 0; k < row.k; k++) {
            stk_op_put_place(at, places, i * row.k + k, row.heap[k]);
        }
    }
    stk_buf_drop(heap);
    return STOKER_OK;
}

const struct stk_op stk_op_top_k = {.name = "top_k",
                                    .summary =
                                        "The `k` largest values of each row, and their indices",
                                    .cost_ns = 2,
                                    .infer = top_infer,
                                    .run = top_run,
                                    .args = top_args};
