// SPDX-License-Identifier: Apache-2.0
// bincount: how often each number below `size` (a scalar, the second input) occurs in a vector of
// int64; with weights (a third input of equal length), their sums. Larger numbers aren't counted; a
// negative one is an error of its element, as in TensorFlow.
#include <string.h>

#include "engine/ops/op_util.h"

enum { ARG_DTYPE };
static const struct stk_arg_row bincount_args[] = {
    [ARG_DTYPE] = STK_ARG("dtype", DTYPE, "type of the counts; sums have the weights' type",
                          .fallback = STK_DT_I32),
    {0}};
enum { VALUES, SIZE, WEIGHTS }; // inputs

static enum stoker_status bincount_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    if (c->in[VALUES].dtype != STK_DT_I64 || c->in[SIZE].dtype != STK_DT_I64 ||
        c->in[SIZE].shape.rank > 0) {
        return stk_err_set(err, STOKER_EINVAL, "bincount: takes int64, and a scalar size of int64");
    }
    enum stk_dtype t =
        c->n_in > WEIGHTS ? c->in[WEIGHTS].dtype : (enum stk_dtype)c->args[ARG_DTYPE].i;
    if (!stk_op_is_number(t) || stk_op_is_half(t)) {
        return stk_err_set(err, STOKER_EINVAL, "bincount: not for %s", stk_dtype_name(t));
    }
    c->out[0].dtype = t;
    c->out[0].shape = (struct stk_shape){1, {STK_UNKNOWN}};
    return STOKER_OK;
}

struct counted {
    const int64_t *values;
    const void *weights; // or NULL: each counts one
    void *out;           // zeroed
    int64_t n, size;
};

#define ADD(N, T, U)                                                                               \
    case STK_DT_##N:                                                                               \
        for (int64_t i = 0; i < c->n; i++) {                                                       \
            if (c->values[i] < c->size) {                                                          \
                T *at = (T *)c->out + c->values[i];                                                \
                *at = (T)((U) * at + (U)(c->weights ? ((const T *)c->weights)[i] : 1));            \
            }                                                                                      \
        }                                                                                          \
        break;
static void add_all(enum stk_dtype t, const struct counted *c)
{
    switch (t) {
        STK_FOR_NUMBERS(ADD)
    default:
        break;
    }
}

static int64_t first_negative(const int64_t *values, int64_t n)
{
    int64_t i = 0;
    while (i < n && values[i] >= 0) {
        i++;
    }
    return i;
}

static enum stoker_status bincount_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[VALUES], *weights = r->n_in > WEIGHTS ? r->in[WEIGHTS] : NULL;
    enum stk_dtype t = r->spec[0].dtype;
    struct counted c = {.n = stk_shape_count(&in->shape)};
    if (weights && stk_shape_count(&weights->shape) != c.n) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "%lld numbers and %lld weights", (long long)c.n,
                           (long long)stk_shape_count(&weights->shape));
    }
    for (int64_t i = 0; i < r->n; i++) {
        c.values = stk_col_at(in, i);
        c.weights = weights ? stk_col_at(weights, i) : NULL;
        const int64_t *size = stk_op_scalar(r->in[SIZE], i);
        if (!size) {
            return stk_op_fail(r, i, STOKER_EINVAL, "the size must be a scalar");
        }
        c.size = *size;
        int64_t bad = first_negative(c.values, c.n);
        if (bad < c.n || c.size < 0) {
            return stk_op_fail(r, i, STOKER_EINVAL, "counts numbers from 0 on, not %lld",
                               (long long)(bad < c.n ? c.values[bad] : c.size));
        }
        struct stk_shape shape = {1, {c.size}};
        c.out = stk_op_append(r, 0, t, &shape, err);
        if (!c.out) {
            return err->code;
        }
        memset(c.out, 0, (size_t)c.size * stk_dtype_bytes(t));
        add_all(t, &c);
    }
    return STOKER_OK;
}

const struct stk_op stk_op_bincount = {.name = "bincount",
                                       .summary = "Counts each number below `size`",
                                       .cost_ns = 2,
                                       .signature = "any, any, any?",
                                       .infer = bincount_infer,
                                       .run = bincount_run,
                                       .args = bincount_args};
