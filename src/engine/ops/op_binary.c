// SPDX-License-Identifier: Apache-2.0
// Elementwise operations on two values: how they run, and the loops of arithmetic, the rows of
// ops_arithmetic.def. Both have one type (nothing is promoted); shapes are broadcast. Integers
// wrap; // and % floor; division by an integer 0 is the element's error, as in TensorFlow.
// Elements of equal shapes are contiguous, so a block is one long loop.
#include <string.h>
#include <tgmath.h>

#include "base/assert.h"
#include "engine/ops/op_binary.h"

// Operations that may fail run value by value.
#define CHECKED_LOOP(name, T_, U_, R_, bad, expr)                                                  \
    static void name(void *out_, const void *a_, const void *b_, int64_t n, int sa, int sb,        \
                     int64_t *failed)                                                              \
    {                                                                                              \
        typedef T_ T __attribute__((unused));                                                      \
        typedef U_ U __attribute__((unused));                                                      \
        R_ *out = out_;                                                                            \
        const T_ *pa = a_, *pb = b_;                                                               \
        for (int64_t i = 0; i < n; i++, pa += sa, pb += sb) {                                      \
            T_ a = *pa, b = *pb;                                                                   \
            if (bad) {                                                                             \
                *failed = i;                                                                       \
                return;                                                                            \
            }                                                                                      \
            out[i] = (R_)(expr);                                                                   \
        }                                                                                          \
    }

#define IS_SIGNED ((T) - 1 < (T)1)
// b is not 0. Division by -1 is negation, which wraps where the quotient would overflow.
#define FLOORDIV_INT(a, b)                                                                         \
    (IS_SIGNED && b == (T) - 1                                                                     \
         ? (T)(0 - (U)a)                                                                           \
         : (T)(a / b - (IS_SIGNED && a % b != 0 && ((a < (T)1) != (b < (T)1)) ? 1 : 0)))
#define MOD_INT(a, b)                                                                              \
    (IS_SIGNED && b == (T) - 1                                                                     \
         ? (T)0                                                                                    \
         : (T)(a % b + (IS_SIGNED && a % b != 0 && ((a < (T)1) != (b < (T)1)) ? b : 0)))

static uint64_t int_power(uint64_t a, uint64_t b)
{
    uint64_t result = 1;
    for (; b; b >>= 1, a *= a) {
        result = b & 1 ? result * a : result;
    }
    return result;
}

// Fast paths for some exponents; pow of -0 and of minus infinity is positive. A loop with one
// exponent tests it once.
#define ROOT(a) (a == (T) - INFINITY ? (T)INFINITY : sqrt(a + (T)0))
#define POWER(a, b) (b == (T)0.5 ? ROOT(a) : b == (T)2 ? a * a : b == (T)1 ? a : pow(a, b))

static double floor_mod(double a, double b)
{
    double m = fmod(a, b);
    return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}

// Kinds of this file, in addition to those of op_binary.h. Where NaN is a float on either side,
// maximum and minimum give it, as in TensorFlow.
#define NUMBERS_LOOPS(id, of_int, of_float) INTS_LOOPS(id, of_int) FLOATS_LOOPS(id, of_float)
#define NUMBERS_ROW(id) INTS_ROW(id), FLOATS_ROW(id)
#define WRAPPING_LOOPS(id, expr) BITS_LOOPS(id, expr) FLOATS_LOOPS(id, expr)
#define WRAPPING_ROW(id) BITS_ROW(id), FLOATS_ROW(id)
#define JOINING_LOOPS(id, expr) WRAPPING_LOOPS(id, expr)
#define JOINING_ROW(id) WRAPPING_ROW(id), .joins_strings = true
// Which integers are refused, and the expressions of integers and floats.
#define DIVISION_LOOPS(id, bad, of_int, of_float)                                                  \
    STK_OP_EACH_INT(CHECKED_LOOP, id, bad, of_int) FLOATS_LOOPS(id, of_float)
#define DIVISION_ROW(id) NUMBERS_ROW(id), .failure = "integer division by zero"
#define POWER_LOOPS(id, bad, of_int, of_float) DIVISION_LOOPS(id, bad, of_int, of_float)
#define POWER_ROW(id) NUMBERS_ROW(id), .failure = "an integer to a negative power"
// TensorFlow divides 8- and 16-bit integers as float32, wider ones as float64: see result_type.
#define QUOTIENT_LOOPS(id, expr)                                                                   \
    STK_OP_BINARY_LOOP(id##_U8, uint8_t, uint8_t, float, expr)                                     \
    STK_OP_BINARY_LOOP(id##_I8, int8_t, int8_t, float, expr)                                       \
    STK_OP_BINARY_LOOP(id##_U16, uint16_t, uint16_t, float, expr)                                  \
    STK_OP_BINARY_LOOP(id##_I16, int16_t, int16_t, float, expr)                                    \
    STK_OP_BINARY_LOOP(id##_U32, uint32_t, uint32_t, double, expr)                                 \
    STK_OP_BINARY_LOOP(id##_I32, int32_t, int32_t, double, expr)                                   \
    STK_OP_BINARY_LOOP(id##_U64, uint64_t, uint64_t, double, expr)                                 \
    STK_OP_BINARY_LOOP(id##_I64, int64_t, int64_t, double, expr)                                   \
    FLOATS_LOOPS(id, expr)
#define QUOTIENT_ROW(id) NUMBERS_ROW(id), .is_quotient = true

static enum stk_dtype result_type(const struct stk_op_binary *own, enum stk_dtype dtype)
{
    return own->is_question                                ? STK_DT_BOOL
           : !own->is_quotient || !stk_dtype_is_int(dtype) ? dtype
           : stk_dtype_bytes(dtype) <= 2                   ? STK_DT_F32
                                                           : STK_DT_F64;
}

enum stoker_status stk_op_binary_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stk_dtype a = c->in[0].dtype, b = c->in[1].dtype;
    if (a != b) {
        return stk_err_set(err, STOKER_EINVAL, "%s: types %s and %s differ; cast one of them",
                           c->op->name, stk_dtype_name(a), stk_dtype_name(b));
    }
    const struct stk_op_binary *own = c->op->own;
    bool joins = own->joins_strings && a == STK_DT_STRING;
    if (!own->of[stk_op_is_half(a) ? STK_DT_F32 : a] && !joins) {
        return stk_err_set(err, STOKER_EINVAL, "%s: not for %s", c->op->name, stk_dtype_name(a));
    }
    if (stk_op_broadcast(&c->out[0].shape, &c->in[0].shape, &c->in[1].shape)) {
        return stk_op_bad_broadcast(c->op->name, &c->in[0].shape, &c->in[1].shape, err);
    }
    c->out[0].dtype = result_type(own, a);
    return STOKER_OK;
}

// Joins the strings of each pair of places.
static enum stoker_status join_strings(struct stk_op_run *r, const struct stk_col *a,
                                       const struct stk_col *b, struct stk_bytes *out, int64_t each,
                                       struct stoker_err *err)
{
    for (int64_t i = 0; i < r->n * each; i++) {
        struct stk_bytes x = ((struct stk_bytes *)stk_col_at(a, i / each))[i % each];
        struct stk_bytes y = ((struct stk_bytes *)stk_col_at(b, i / each))[i % each];
        struct stk_buf *buf = stk_buf_get(r->pool, x.size + y.size);
        bool ok = buf && stk_keep_add(&r->out[0].keep, buf);
        if (ok) {
            memcpy(buf->data, x.data ? x.data : (const uint8_t *)"", x.size);
            memcpy(buf->data + x.size, y.data ? y.data : (const uint8_t *)"", y.size);
            out[i] = (struct stk_bytes){buf->data, x.size + y.size};
        }
        stk_buf_drop(buf);
        if (!ok) {
            return stk_op_no_memory(r, err);
        }
    }
    return STOKER_OK;
}

static enum stoker_status run_spread(struct stk_op_run *r, const struct stk_col *a,
                                     const struct stk_col *b, void *out, int64_t each,
                                     struct stoker_err *err)
{
    const struct stk_op_binary *own = r->op->own;
    stk_op_binary_loop *loop = own->of[a->dtype];
    size_t out_bytes = stk_dtype_bytes(result_type(own, a->dtype)) * (size_t)each;
    STK_ASSERT(a->dtype == b->dtype && a->n >= r->n && b->n >= r->n);
    bool is_flat_a = stk_col_is_dense(a), is_flat_b = stk_col_is_dense(b);
    int64_t failed = INT64_MAX;
    if (!loop) {
        STK_ASSERT(own->joins_strings && a->dtype == STK_DT_STRING);
        return join_strings(r, a, b, out, each, err);
    }
    bool is_one_loop = (is_flat_a || (a->stride == 0 && each == 1)) &&
                       (is_flat_b || (b->stride == 0 && each == 1));
    if (is_one_loop) {
        // the stride of a block of one element may be 0, too
        loop(out, a->data, b->data, r->n * each, is_flat_a, is_flat_b, &failed);
    }
    for (int64_t i = 0; !is_one_loop && i < r->n && failed == INT64_MAX; i++) {
        int64_t here = INT64_MAX;
        loop((uint8_t *)out + (size_t)i * out_bytes, stk_col_at(a, i), stk_col_at(b, i), each, 1, 1,
             &here);
        failed = here == INT64_MAX ? failed : i * each;
    }
    return failed == INT64_MAX
               ? STOKER_OK
               : stk_op_fail(r, failed / (each ? each : 1), STOKER_EINVAL, "%s", own->failure);
}

// A scalar and an array, as in x / 255: no need to spread it.
static bool run_scalar(struct stk_op_run *r, const struct stk_col *a, const struct stk_col *b,
                       void *out, const struct stk_shape *shape)
{
    const struct stk_col *array = stk_shape_count(&a->shape) == 1 ? b : a;
    const struct stk_col *scalar = array == a ? b : a;
    int64_t each = stk_shape_count(shape), failed = INT64_MAX;
    if (stk_shape_count(&scalar->shape) != 1 || !stk_shape_equal(&array->shape, shape) ||
        a->dtype == STK_DT_STRING) {
        return false;
    }
    const struct stk_op_binary *own = r->op->own;
    stk_op_binary_loop *loop = own->of[a->dtype];
    bool is_whole = scalar->stride == 0 && stk_col_is_dense(array);
    int64_t times = is_whole ? 1 : r->n, run = is_whole ? r->n * each : each;
    size_t bytes = stk_dtype_bytes(result_type(own, a->dtype)) * (size_t)run;
    for (int64_t i = 0; i < times && failed == INT64_MAX; i++) {
        loop((uint8_t *)out + (size_t)i * bytes, stk_col_at(a, i), stk_col_at(b, i), run,
             array == a, array == b, &failed);
        if (failed != INT64_MAX) {
            (void)stk_op_fail(r, is_whole ? failed / each : i, STOKER_EINVAL, "%s", own->failure);
        }
    }
    return true;
}

// One value of `few` for each row of the array (scalars: [n, 1, 1] with [n, h, w]), or one row
// for all of them ([w] with [h, w]): rows are loops, and nothing is spread. Values in a row; 0:
// neither.
static int64_t row_of(const struct stk_shape *few, const struct stk_shape *shape, bool *is_scalars)
{
    enum { ROW_MIN = 16 }; // shorter ones cost more than spreading does
    int lead = 0, own = 0, ahead = shape->rank - few->rank;
    while (own < few->rank && few->dim[own] == 1) {
        own++;
    }
    bool is_row = true;
    for (int d = own; d < few->rank; d++) {
        is_row = is_row && few->dim[d] == shape->dim[ahead + d];
    }
    if (is_row) {
        int64_t row = stk_op_span(few, own, few->rank);
        *is_scalars = false;
        return row < ROW_MIN ? 0 : row;
    }
    while (ahead == 0 && lead < few->rank && few->dim[lead] == shape->dim[lead]) {
        lead++;
    }
    int64_t row = stk_op_span(shape, lead, shape->rank);
    *is_scalars = true;
    return ahead == 0 && stk_op_span(few, lead, few->rank) == 1 && row >= ROW_MIN ? row : 0;
}

static bool run_rows(struct stk_op_run *r, const struct stk_col *a, const struct stk_col *b,
                     uint8_t *out, const struct stk_shape *shape)
{
    const struct stk_col *array = stk_shape_equal(&a->shape, shape) ? a : b,
                         *few = array == a ? b : a;
    bool is_scalars;
    if (!stk_shape_equal(&array->shape, shape) || stk_shape_equal(&few->shape, shape) ||
        a->dtype == STK_DT_STRING) {
        return false;
    }
    int64_t row = row_of(&few->shape, shape, &is_scalars), each = stk_shape_count(shape);
    const struct stk_op_binary *own = r->op->own;
    stk_op_binary_loop *loop = own->of[a->dtype];
    size_t bytes = stk_dtype_bytes(a->dtype), to = stk_dtype_bytes(result_type(own, a->dtype));
    if (row == 0) {
        return false;
    }
    for (int64_t i = 0; i < r->n; i++, out += (size_t)each * to) {
        const uint8_t *many = stk_col_at(array, i), *some = stk_col_at(few, i);
        int64_t failed = INT64_MAX;
        for (int64_t at = 0; at < each && failed == INT64_MAX;
             at += row, many += (size_t)row * bytes) {
            loop(out + (size_t)at * to, array == a ? many : some, array == a ? some : many, row,
                 array == a || !is_scalars, array == b || !is_scalars, &failed);
            some += is_scalars ? bytes : 0;
        }
        if (failed != INT64_MAX) {
            (void)stk_op_fail(r, i, STOKER_EINVAL, "%s", own->failure);
            return true;
        }
    }
    return true;
}

enum stoker_status stk_op_binary_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *a = r->in[0], *b = r->in[1];
    struct stk_shape shape;
    if (stk_op_is_half(a->dtype)) {
        return stk_op_run_halves(r, err, stk_op_binary_run);
    }
    if (stk_op_broadcast(&shape, &a->shape, &b->shape)) {
        struct stoker_err why;
        (void)stk_op_bad_broadcast(r->op->name, &a->shape, &b->shape, &why);
        return stk_op_fail(r, 0, STOKER_EINVAL, "%s", why.message + strlen(r->op->name) + 2);
    }
    void *out = stk_op_out(r, 0, result_type(r->op->own, a->dtype), &shape, err);
    if (!out) {
        return err->code;
    }
    if (run_scalar(r, a, b, out, &shape) || run_rows(r, a, b, out, &shape)) {
        return STOKER_OK;
    }
    struct stk_col wide_a = {0}, wide_b = {0};
    enum stoker_status s = stk_op_spread(&wide_a, r->pool, a, &shape, r->n) &&
                                   stk_op_spread(&wide_b, r->pool, b, &shape, r->n)
                               ? run_spread(r, &wide_a, &wide_b, out, stk_shape_count(&shape), err)
                               : stk_op_no_memory(r, err);
    stk_col_clear(&wide_a);
    stk_col_clear(&wide_b);
    return s;
}

#define BINARY(id, kind, names, arguments, about, ...)                                             \
    kind##_LOOPS(id, __VA_ARGS__) const struct stk_op stk_op_##id =                                \
        STK_OP_BINARY(#id, about, kind##_ROW(id));
#include "engine/ops_arithmetic.def"
