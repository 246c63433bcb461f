// SPDX-License-Identifier: Apache-2.0
// Operations on one value, place by place. The type stays, except for the questions (is_nan, ...).
#include <math.h>

#include "engine/ops/float_math.h"
#include "base/assert.h"
#include "engine/ops/op_util.h"

enum unary {
    ABS,
    NEGATIVE,
    SIGN,
    SQUARE,
    EXP,
    EXPM1,
    LOG,
    LOG1P,
    SQRT,
    RSQRT,
    RECIPROCAL,
    ROUND,
    FLOOR,
    CEIL,
    TANH,
    SIGMOID,
    SIN,
    COS,
    TAN,
    ASIN,
    ACOS,
    ATAN,
    SINH,
    COSH,
    ERF,
    RELU,
    SOFTPLUS,
    LOGICAL_NOT,
    INVERT,
    IS_NAN,
    IS_INF,
    IS_FINITE
};

typedef void loop_fn(void *restrict out, const void *restrict in, int64_t n);

#define LOOP(name, T, R, expr)                                                                     \
    static void name(void *restrict out, const void *restrict in, int64_t n)                       \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T x = ((const T *)in)[i];                                                              \
            ((R *)out)[i] = (R)(expr);                                                             \
        }                                                                                          \
    }
#define IS_SIGNED(T) ((T) - 1 < (T)1)
#define INT_LOOPS(N, T, U)                                                                         \
    LOOP(abs_##N, T, T, IS_SIGNED(T) && x < (T)1 ? 0 - (U)x : (U)x)                                \
    LOOP(negative_##N, T, T, 0 - (U)x)                                                             \
    LOOP(sign_##N, T, T, x == 0 ? 0 : IS_SIGNED(T) && x < (T)1 ? -1 : 1)                           \
    LOOP(square_##N, T, T, (U)x *(U)x)                                                             \
    LOOP(relu_##N, T, T, IS_SIGNED(T) && x < (T)1 ? (T)0 : x)                                      \
    LOOP(invert_##N, T, T, ~x)
// exp, log, tanh and sigmoid of float32 are float_math.h's; the rest are the C library's.
// f: the suffix of the C library's functions. rint rounds ties to even, as TensorFlow does.
#define FLOAT_LOOPS(N, T, f)                                                                       \
    LOOP(abs_##N, T, T, fabs##f(x))                                                                \
    LOOP(negative_##N, T, T, -x)                                                                   \
    LOOP(sign_##N, T, T, x != x ? x : (x > 0) - (x < 0))                                           \
    LOOP(square_##N, T, T, x *x)                                                                   \
    LOOP(expm1_##N, T, T, expm1##f(x))                                                             \
    LOOP(log1p_##N, T, T, log1p##f(x))                                                             \
    LOOP(sqrt_##N, T, T, sqrt##f(x))                                                               \
    LOOP(rsqrt_##N, T, T, 1 / sqrt##f(x))                                                          \
    LOOP(reciprocal_##N, T, T, 1 / x)                                                              \
    LOOP(round_##N, T, T, rint##f(x))                                                              \
    LOOP(floor_##N, T, T, floor##f(x))                                                             \
    LOOP(ceil_##N, T, T, ceil##f(x))                                                               \
    LOOP(sin_##N, T, T, sin##f(x))                                                                 \
    LOOP(cos_##N, T, T, cos##f(x))                                                                 \
    LOOP(tan_##N, T, T, tan##f(x))                                                                 \
    LOOP(asin_##N, T, T, asin##f(x))                                                               \
    LOOP(acos_##N, T, T, acos##f(x))                                                               \
    LOOP(atan_##N, T, T, atan##f(x))                                                               \
    LOOP(sinh_##N, T, T, sinh##f(x))                                                               \
    LOOP(cosh_##N, T, T, cosh##f(x))                                                               \
    LOOP(erf_##N, T, T, erf##f(x))                                                                 \
    LOOP(relu_##N, T, T, x < 0 ? 0 : x)                                                            \
    LOOP(softplus_##N, T, T, x > 0 ? x + log1p##f(exp##f(-x)) : log1p##f(exp##f(x)))               \
    LOOP(is_nan_##N, T, uint8_t, x != x)                                                           \
    LOOP(is_inf_##N, T, uint8_t, isinf(x) != 0)                                                    \
    LOOP(is_finite_##N, T, uint8_t, isfinite(x) != 0)
STK_FOR_INTS(INT_LOOPS)
FLOAT_LOOPS(F32, float, f)
FLOAT_LOOPS(F64, double, )
LOOP(not_BOOL, uint8_t, uint8_t, !x)
LOOP(exp_F64, double, double, exp(x))
LOOP(log_F64, double, double, log(x))
LOOP(tanh_F64, double, double, tanh(x))
LOOP(sigmoid_F64, double, double, 1 / (1 + exp(-x)))
#define FLOAT_MATH(name)                                                                           \
    static void name##_F32(void *restrict out, const void *restrict in, int64_t n)                 \
    {                                                                                              \
        stk_float_##name(out, in, n);                                                              \
    }
FLOAT_MATH(exp)
FLOAT_MATH(log)
FLOAT_MATH(tanh)
FLOAT_MATH(sigmoid)

#define ROW(op, N) [op][STK_DT_##N]
static loop_fn *const loops[][STK_DT_COUNT] = {
#define INT_ROWS(N, T, U)                                                                          \
    ROW(ABS, N) = abs_##N, ROW(NEGATIVE, N) = negative_##N, ROW(SIGN, N) = sign_##N,               \
             ROW(SQUARE, N) = square_##N, ROW(RELU, N) = relu_##N, ROW(INVERT, N) = invert_##N,
#define FLOAT_ROWS(N, T, U)                                                                        \
    ROW(ABS, N) = abs_##N, ROW(NEGATIVE, N) = negative_##N, ROW(SIGN, N) = sign_##N,               \
             ROW(SQUARE, N) = square_##N, ROW(RELU, N) = relu_##N, ROW(EXP, N) = exp_##N,          \
             ROW(EXPM1, N) = expm1_##N, ROW(LOG, N) = log_##N, ROW(LOG1P, N) = log1p_##N,          \
             ROW(SQRT, N) = sqrt_##N, ROW(RSQRT, N) = rsqrt_##N,                                   \
             ROW(RECIPROCAL, N) = reciprocal_##N, ROW(ROUND, N) = round_##N,                       \
             ROW(FLOOR, N) = floor_##N, ROW(CEIL, N) = ceil_##N, ROW(TANH, N) = tanh_##N,          \
             ROW(SIGMOID, N) = sigmoid_##N, ROW(SIN, N) = sin_##N, ROW(COS, N) = cos_##N,          \
             ROW(TAN, N) = tan_##N, ROW(ASIN, N) = asin_##N, ROW(ACOS, N) = acos_##N,              \
             ROW(ATAN, N) = atan_##N, ROW(SINH, N) = sinh_##N, ROW(COSH, N) = cosh_##N,            \
             ROW(ERF, N) = erf_##N, ROW(SOFTPLUS, N) = softplus_##N, ROW(IS_NAN, N) = is_nan_##N,  \
             ROW(IS_INF, N) = is_inf_##N, ROW(IS_FINITE, N) = is_finite_##N,
    STK_FOR_INTS(INT_ROWS) STK_FOR_FLOATS(FLOAT_ROWS) ROW(LOGICAL_NOT, BOOL) = not_BOOL};

static bool is_rounding(int op)
{
    return op == ROUND || op == FLOOR || op == CEIL;
}

static enum stoker_status unary_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stoker_status s = stk_op_want_inputs(c, 1, 1, err);
    if (s != STOKER_OK) {
        return s;
    }
    enum stk_dtype t = stk_op_is_half(c->in[0].dtype) ? STK_DT_F32 : c->in[0].dtype;
    if (!loops[c->op->arg][t] && !(is_rounding(c->op->arg) && stk_dtype_is_int(t))) {
        return stk_err_set(err, STOKER_EINVAL, "%s: not for %s%s", c->op->name,
                           stk_dtype_name(c->in[0].dtype),
                           stk_dtype_is_int(t) ? "; cast to a float first" : "");
    }
    c->out[0].shape = c->in[0].shape;
    c->out[0].dtype = c->op->arg >= IS_NAN ? STK_DT_BOOL : c->in[0].dtype;
    return STOKER_OK;
}

static enum stoker_status unary_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    if (stk_op_is_half(in->dtype)) {
        return stk_op_run_halves(r, err, unary_run);
    }
    loop_fn *loop = loops[r->op->arg][in->dtype];
    if (!loop) { // an integer is round already
        return stk_op_pass(r, 0, 0, NULL, err);
    }
    enum stk_dtype dtype = r->op->arg >= IS_NAN ? STK_DT_BOOL : in->dtype;
    STK_ASSERT(in->n >= r->n && dtype == r->spec[0].dtype);
    uint8_t *out = stk_op_out(r, 0, dtype, &in->shape, err);
    if (!out) {
        return err->code;
    }
    int64_t each = stk_shape_count(&in->shape);
    if (stk_col_is_dense(in)) {
        loop(out, in->data, r->n * each);
        return STOKER_OK;
    }
    for (int64_t i = 0; i < r->n; i++) {
        loop(out + (size_t)(i * each) * stk_dtype_bytes(dtype), stk_col_at(in, i), each);
    }
    return STOKER_OK;
}

#define UNARY(id, which, about)                                                                    \
    const struct stk_op stk_op_##id = {.name = #id,                                                \
                                       .summary = about,                                           \
                                       .is_elementwise = true,                                     \
                                       .cost_ns = 1,                                               \
                                       .infer = unary_infer,                                       \
                                       .run = unary_run,                                           \
                                       .arg = which};
UNARY(abs, ABS, "Magnitude")
UNARY(negative, NEGATIVE, "-x")
UNARY(sign, SIGN, "-1, 0 or 1")
UNARY(square, SQUARE, "x * x")
UNARY(exp, EXP, "e to the power x")
UNARY(expm1, EXPM1, "e to the power x, less 1")
UNARY(log, LOG, "Natural logarithm")
UNARY(log1p, LOG1P, "Natural logarithm of 1 + x")
UNARY(sqrt, SQRT, "Square root")
UNARY(rsqrt, RSQRT, "1 / square root")
UNARY(reciprocal, RECIPROCAL, "1 / x")
UNARY(round, ROUND, "To the nearest integer, ties to even")
UNARY(floor, FLOOR, "Down to an integer")
UNARY(ceil, CEIL, "Up to an integer")
UNARY(tanh, TANH, "Hyperbolic tangent")
UNARY(sigmoid, SIGMOID, "1 / (1 + exp(-x))")
UNARY(sin, SIN, "Sine")
UNARY(cos, COS, "Cosine")
UNARY(tan, TAN, "Tangent")
UNARY(asin, ASIN, "Arc sine")
UNARY(acos, ACOS, "Arc cosine")
UNARY(atan, ATAN, "Arc tangent")
UNARY(sinh, SINH, "Hyperbolic sine")
UNARY(cosh, COSH, "Hyperbolic cosine")
UNARY(erf, ERF, "Gauss error function")
UNARY(relu, RELU, "x, or 0 if negative")
UNARY(softplus, SOFTPLUS, "log(1 + exp(x))")
UNARY(logical_not, LOGICAL_NOT, "True becomes false")
UNARY(invert, INVERT, "Every bit turned over")
UNARY(is_nan, IS_NAN, "Is it not a number?")
UNARY(is_inf, IS_INF, "Is it infinite?")
UNARY(is_finite, IS_FINITE, "Is it a finite number?")
