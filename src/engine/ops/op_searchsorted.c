// SPDX-License-Identifier: Apache-2.0
// searchsorted: where to insert each value into a sorted row to keep its order. Rows are along the
// last dimension, one row of values for each sorted one; a sorted vector serves all values.
#include "engine/ops/op_util.h"

enum { ARG_RIGHT, ARG_OUT_TYPE };
static const struct stk_arg_row search_args[] = {
    [ARG_RIGHT] = STK_ARG("right", BOOL, "insert after equal values"),
    [ARG_OUT_TYPE] = STK_ARG("out_type", DTYPE, "type of the indices", .fallback = STK_DT_I32,
                             .choices = STK_OP_PLACES),
    {0}};

// Can both have the same rows? Unknown dimensions match.
static bool rows_fit(const struct stk_shape *sorted, const struct stk_shape *values)
{
    if (sorted->rank < 0 || sorted->rank == 1) {
        return true;
    }
    if (sorted->rank == 0 || (values->rank >= 0 && values->rank != sorted->rank)) {
        return false;
    }
    for (int i = 0; values->rank > 0 && i < sorted->rank - 1; i++) {
        if (sorted->dim[i] != values->dim[i] && sorted->dim[i] != STK_UNKNOWN &&
            values->dim[i] != STK_UNKNOWN) {
            return false;
        }
    }
    return true;
}

static enum stoker_status searchsorted_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stk_dtype t = c->in[0].dtype, places = (enum stk_dtype)c->args[ARG_OUT_TYPE].i;
    if (t != c->in[1].dtype || !stk_op_is_number(t) || stk_op_is_half(t)) {
        return stk_err_set(err, STOKER_EINVAL, "searchsorted: %s in %s; takes numbers of one type",
                           stk_dtype_name(c->in[1].dtype), stk_dtype_name(t));
    }
    if (!rows_fit(&c->in[0].shape, &c->in[1].shape)) {
        return stk_err_set(err, STOKER_EINVAL,
                           "searchsorted: takes a vector, or as many sorted rows as of values");
    }
    c->out[0] = (struct stk_spec){.dtype = places, .shape = c->in[1].shape};
    return STOKER_OK;
}

struct search {
    const void *sorted, *values;
    int64_t n, count; // places of the sorted row, values
    bool right;
    void *out;
    enum stk_dtype places;
};

// The number of row entries below the value, or not above it.
#define FIND(N, T, U)                                                                              \
    case STK_DT_##N:                                                                               \
        for (int64_t i = 0; i < f->count; i++) {                                                   \
            T x = ((const T *)f->values)[i];                                                       \
            int64_t low = 0, high = f->n;                                                          \
            while (low < high) {                                                                   \
                int64_t mid = low + (high - low) / 2;                                              \
                T y = ((const T *)f->sorted)[mid];                                                 \
                bool is_before = f->right ? y <= x : y < x;                                        \
                low = is_before ? mid + 1 : low;                                                   \
                high = is_before ? high : mid;                                                     \
            }                                                                                      \
            stk_op_put_place(f->out, f->places, i, low);                                           \
        }                                                                                          \
        break;
static void find_all(enum stk_dtype t, const struct search *f)
{
    switch (t) {
        STK_FOR_NUMBERS(FIND)
    default:
        break;
    }
}

static enum stoker_status searchsorted_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *sorted = r->in[0], *values = r->in[1];
    enum stk_dtype t = values->dtype, places = r->spec[0].dtype;
    const struct stk_shape *s = &sorted->shape, *v = &values->shape;
    if (s->rank == 0 || !rows_fit(s, v)) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "takes as many sorted rows as of values");
    }
    uint8_t *out = stk_op_out(r, 0, places, v, err);
    if (!out) {
        return err->code;
    }
    struct search f = {.n = s->dim[s->rank - 1], .right = r->args[ARG_RIGHT].i, .places = places};
    int64_t rows = stk_op_span(s, 0, s->rank - 1), all = stk_shape_count(v);
    f.count = rows == 1 || all == 0 ? all : v->dim[v->rank - 1];
    size_t size = stk_dtype_bytes(t), place = stk_dtype_bytes(places);
    for (int64_t i = 0; all > 0 && i < r->n * rows; i++) {
        int64_t row = i % rows;
        f.sorted = (const uint8_t *)stk_col_at(sorted, i / rows) + (size_t)(row * f.n) * size;
        f.values = (const uint8_t *)stk_col_at(values, i / rows) + (size_t)(row * f.count) * size;
        f.out = out + (size_t)(i * f.count) * place;
        find_all(t, &f);
    }
    return STOKER_OK;
}

const struct stk_op stk_op_searchsorted = {.name = "searchsorted",
                                           .summary = "Insertion points of values in sorted rows",
                                           .cost_ns = 10,
                                           .signature = "any, any",
                                           .infer = searchsorted_infer,
                                           .run = searchsorted_run,
                                           .args = search_args};
