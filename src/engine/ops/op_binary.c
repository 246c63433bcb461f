// SPDX-License-Identifier: Apache-2.0
// Operations on two values, place by place: arithmetic, comparison, logic, bits. Both have one type
// (nothing is promoted); shapes are broadcast. Integers wrap; // and % floor; division by an
// integer 0 is the element's error, as in TensorFlow.
// Elements of equal shapes lie one behind the other, so a block is one long loop.
#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "engine/ops/op_binary.h"

// Those that may fail run value by value.
#define CHECKED(name, T, R, bad, expr)                                                             \
    static void name(void *out_, const void *a_, const void *b_, int64_t n, int sa, int sb,        \
                     int64_t *failed)                                                              \
    {                                                                                              \
        R *out = out_;                                                                             \
        const T *pa = a_, *pb = b_;                                                                \
        for (int64_t i = 0; i < n; i++, pa += sa, pb += sb) {                                      \
            T a = *pa, b = *pb;                                                                    \
            if (bad) {                                                                             \
                *failed = i;                                                                       \
                return;                                                                            \
            }                                                                                      \
            out[i] = (R)(expr);                                                                    \
        }                                                                                          \
    }

#define IS_SIGNED(T) ((T) - 1 < (T)1)
// b is not 0. Division by -1 is negation, which wraps where the quotient would overflow.
#define FLOORDIV_INT(T, U)                                                                         \
    (IS_SIGNED(T) && b == (T) - 1                                                                  \
         ? (T)(0 - (U)a)                                                                           \
         : (T)(a / b - (IS_SIGNED(T) && a % b != 0 && ((a < (T)1) != (b < (T)1)) ? 1 : 0)))
#define MOD_INT(T)                                                                                 \
    (IS_SIGNED(T) && b == (T) - 1                                                                  \
         ? (T)0                                                                                    \
         : (T)(a % b + (IS_SIGNED(T) && a % b != 0 && ((a < (T)1) != (b < (T)1)) ? b : 0)))

static uint64_t int_power(uint64_t a, uint64_t b)
{
    uint64_t result = 1;
    for (; b; b >>= 1, a *= a) {
        result = b & 1 ? result * a : result;
    }
    return result;
}

static double floor_mod(double a, double b)
{
    double m = fmod(a, b);
    return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}

// What wraps gives the same bits whatever the sign: signed integers go through the unsigned loops.
#define WRAPPING_LOOPS(N, T, U)                                                                    \
    STK_OP_BINARY_LOOP(add_##N, T, T, (U)a + (U)b)                                                 \
    STK_OP_BINARY_LOOP(sub_##N, T, T, (U)a - (U)b)                                                 \
    STK_OP_BINARY_LOOP(mul_##N, T, T, (U)a *(U)b)                                                  \
    STK_OP_BINARY_LOOP(squared_difference_##N, T, T, ((U)a - (U)b) * ((U)a - (U)b))
#define INT_LOOPS(N, T, U)                                                                         \
    STK_OP_BINARY_LOOP(maximum_##N, T, T, a > b ? a : b)                                           \
    STK_OP_BINARY_LOOP(minimum_##N, T, T, a < b ? a : b)                                           \
    STK_OP_BINARY_LOOP(truediv_##N, T, double, (double)a / (double)b)                              \
    CHECKED(floordiv_##N, T, T, b == 0, FLOORDIV_INT(T, U))                                        \
    CHECKED(mod_##N, T, T, b == 0, MOD_INT(T))                                                     \
    CHECKED(pow_##N, T, T, IS_SIGNED(T) && b != 0 && b < (T)1, int_power((uint64_t)a, (uint64_t)b))
// NaN on either side gives NaN, as in TensorFlow.
#define FLOAT_LOOPS(N, T, U)                                                                       \
    WRAPPING_LOOPS(N, T, U)                                                                        \
    STK_OP_BINARY_LOOP(maximum_##N, T, T, a != a ? a : b != b ? b : a > b ? a : b)                 \
    STK_OP_BINARY_LOOP(minimum_##N, T, T, a != a ? a : b != b ? b : a < b ? a : b)                 \
    STK_OP_BINARY_LOOP(truediv_##N, T, T, a / b)                                                   \
    STK_OP_BINARY_LOOP(floordiv_##N, T, T, floor((double)a / (double)b))                           \
    STK_OP_BINARY_LOOP(mod_##N, T, T, floor_mod((double)a, (double)b))                             \
    STK_OP_BINARY_LOOP(div_no_nan_##N, T, T, b == 0 ? (T)0 : a / b)
STK_OP_FOR_UNSIGNED(WRAPPING_LOOPS)
STK_FOR_INTS(INT_LOOPS)
STK_OP_BINARY_LOOP(truediv32_U8, uint8_t, float, (float)a / (float)b)
STK_OP_BINARY_LOOP(truediv32_I8, int8_t, float, (float)a / (float)b)
STK_OP_BINARY_LOOP(truediv32_U16, uint16_t, float, (float)a / (float)b)
STK_OP_BINARY_LOOP(truediv32_I16, int16_t, float, (float)a / (float)b)
STK_FOR_FLOATS(FLOAT_LOOPS)
STK_OP_BINARY_LOOP(pow_F32, float, float, powf(a, b))
STK_OP_BINARY_LOOP(pow_F64, double, double, pow(a, b))
STK_OP_BINARY_LOOP(atan2_F32, float, float, atan2f(a, b))
STK_OP_BINARY_LOOP(atan2_F64, double, double, atan2(a, b))
// Never run: see join_strings.
STK_OP_BINARY_LOOP(add_STRING, struct stk_bytes, struct stk_bytes, ((void)b, a))

static stk_op_binary_loop *const loops[][STK_DT_COUNT] = {
#define ROW(op, N) [op][STK_DT_##N]
// W: the unsigned type of the same width.
#define ROWS(N, W)                                                                                 \
    ROW(ADD, N) = add_##W, ROW(SUB, N) = sub_##W, ROW(MUL, N) = mul_##W,                           \
             ROW(SQUARED_DIFFERENCE, N) = squared_difference_##W, ROW(MAXIMUM, N) = maximum_##N,   \
             ROW(MINIMUM, N) = minimum_##N, ROW(TRUEDIV, N) = truediv_##N,                         \
             ROW(FLOORDIV, N) = floordiv_##N, ROW(MOD, N) = mod_##N, ROW(POW, N) = pow_##N,
    STK_OP_FOR_WIDTHS(ROWS) ROWS(F32, F32) ROWS(F64, F64) ROW(ATAN2, F32) = atan2_F32,
    ROW(ATAN2, F64) = atan2_F64,
    ROW(DIV_NO_NAN, F32) = div_no_nan_F32,
    ROW(DIV_NO_NAN, F64) = div_no_nan_F64,
    ROW(ADD, STRING) = add_STRING,
};
// TensorFlow divides 8- and 16-bit integers as float32, wider ones as float64.
static stk_op_binary_loop *const narrow_truediv[STK_DT_COUNT] = {
    [STK_DT_U8] = truediv32_U8,
    [STK_DT_I8] = truediv32_I8,
    [STK_DT_U16] = truediv32_U16,
    [STK_DT_I16] = truediv32_I16,
};

static stk_op_binary_loop *loop_for(int op, enum stk_dtype dtype)
{
    bool is_here = op < (int)(sizeof loops / sizeof loops[0]);
    return op == TRUEDIV && narrow_truediv[dtype] ? narrow_truediv[dtype]
           : is_here && loops[op][dtype]          ? loops[op][dtype]
                                                  : stk_op_binary_bits_loop(op, dtype);
}

static enum stk_dtype result_type(int op, enum stk_dtype dtype)
{
    if (op >= EQUAL && op <= LOGICAL_XOR) {
        return STK_DT_BOOL;
    }
    if (op == TRUEDIV && stk_dtype_is_int(dtype)) {
        return narrow_truediv[dtype] ? STK_DT_F32 : STK_DT_F64;
    }
    return dtype;
}

static enum stoker_status binary_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stoker_status s = stk_op_want_inputs(c, 2, 2, err);
    if (s != STOKER_OK) {
        return s;
    }
    enum stk_dtype a = c->in[0].dtype, b = c->in[1].dtype;
    if (a != b) {
        return stk_err_set(err, STOKER_EINVAL, "%s: types %s and %s differ; cast one of them",
                           c->op->name, stk_dtype_name(a), stk_dtype_name(b));
    }
    if (!loop_for(c->op->arg, stk_op_is_half(a) ? STK_DT_F32 : a)) {
        return stk_err_set(err, STOKER_EINVAL, "%s: not for %s", c->op->name, stk_dtype_name(a));
    }
    if (stk_op_broadcast(&c->out[0].shape, &c->in[0].shape, &c->in[1].shape)) {
        return stk_op_bad_broadcast(c->op->name, &c->in[0].shape, &c->in[1].shape, err);
    }
    c->out[0].dtype = result_type(c->op->arg, a);
    return STOKER_OK;
}

// One string behind the other, for each pair of places.
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

static const char *what_failed(int op)
{
    return op == POW ? "an integer to a negative power" : "integer division by zero";
}

static enum stoker_status run_spread(struct stk_op_run *r, const struct stk_col *a,
                                     const struct stk_col *b, void *out, int64_t each,
                                     struct stoker_err *err)
{
    stk_op_binary_loop *loop = loop_for(r->op->arg, a->dtype);
    size_t out_bytes = stk_dtype_bytes(result_type(r->op->arg, a->dtype)) * (size_t)each;
    STK_ASSERT(loop && a->dtype == b->dtype && a->n >= r->n && b->n >= r->n);
    bool is_flat_a = stk_col_is_dense(a), is_flat_b = stk_col_is_dense(b);
    int64_t failed = INT64_MAX;
    if (a->dtype == STK_DT_STRING && r->op->arg == ADD) {
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
    return failed == INT64_MAX ? STOKER_OK
                               : stk_op_fail(r, failed / (each ? each : 1), STOKER_EINVAL, "%s",
                                             what_failed(r->op->arg));
}

// A scalar beside an array, the usual x / 255: no need to spread it.
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
    stk_op_binary_loop *loop = loop_for(r->op->arg, a->dtype);
    bool is_whole = scalar->stride == 0 && stk_col_is_dense(array);
    int64_t times = is_whole ? 1 : r->n, run = is_whole ? r->n * each : each;
    size_t bytes = stk_dtype_bytes(result_type(r->op->arg, a->dtype)) * (size_t)run;
    for (int64_t i = 0; i < times && failed == INT64_MAX; i++) {
        loop((uint8_t *)out + (size_t)i * bytes, stk_col_at(a, i), stk_col_at(b, i), run,
             array == a, array == b, &failed);
        if (failed != INT64_MAX) {
            (void)stk_op_fail(r, is_whole ? failed / each : i, STOKER_EINVAL, "%s",
                              what_failed(r->op->arg));
        }
    }
    return true;
}

// One value of `few` for each row of the array (scalars: [n, 1, 1] beside [n, h, w]), or one row
// for all of them ([w] beside [h, w]): rows are loops, and nothing is spread. Values in a row; 0:
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
    stk_op_binary_loop *loop = loop_for(r->op->arg, a->dtype);
    size_t bytes = stk_dtype_bytes(a->dtype),
           to = stk_dtype_bytes(result_type(r->op->arg, a->dtype));
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
            (void)stk_op_fail(r, i, STOKER_EINVAL, "%s", what_failed(r->op->arg));
            return true;
        }
    }
    return true;
}

static enum stoker_status binary_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *a = r->in[0], *b = r->in[1];
    struct stk_shape shape;
    if (stk_op_is_half(a->dtype)) {
        return stk_op_run_halves(r, err, binary_run);
    }
    if (stk_op_broadcast(&shape, &a->shape, &b->shape)) {
        struct stoker_err why;
        (void)stk_op_bad_broadcast(r->op->name, &a->shape, &b->shape, &why);
        return stk_op_fail(r, 0, STOKER_EINVAL, "%s", why.message + strlen(r->op->name) + 2);
    }
    void *out = stk_op_out(r, 0, result_type(r->op->arg, a->dtype), &shape, err);
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

#define BINARY(id, text, which, about)                                                             \
    const struct stk_op stk_op_##id = {.name = text,                                               \
                                       .summary = about,                                           \
                                       .is_elementwise = true,                                     \
                                       .cost_ns = 0.5,                                             \
                                       .infer = binary_infer,                                      \
                                       .run = binary_run,                                          \
                                       .arg = which};
BINARY(add, "add", ADD, "x + y; strings one behind the other")
BINARY(subtract, "subtract", SUB, "x - y")
BINARY(multiply, "multiply", MUL, "x * y")
BINARY(truediv, "truediv", TRUEDIV, "x / y; integers give floats")
BINARY(floordiv, "floordiv", FLOORDIV, "x // y, rounded down")
BINARY(mod, "mod", MOD, "x % y, of the sign of y")
BINARY(pow, "pow", POW, "x to the power y")
BINARY(maximum, "maximum", MAXIMUM, "the larger of two")
BINARY(minimum, "minimum", MINIMUM, "the smaller of two")
BINARY(squared_difference, "squared_difference", SQUARED_DIFFERENCE, "(x - y) squared")
BINARY(atan2, "atan2", ATAN2, "Angle of the point (y, x)")
BINARY(div_no_nan, "div_no_nan", DIV_NO_NAN, "x / y, 0 where y is 0")
BINARY(equal, "equal", EQUAL, "x == y")
BINARY(not_equal, "not_equal", NOT_EQUAL, "x != y")
BINARY(less, "less", LESS, "x < y")
BINARY(less_equal, "less_equal", LESS_EQUAL, "x <= y")
BINARY(greater, "greater", GREATER, "x > y")
BINARY(greater_equal, "greater_equal", GREATER_EQUAL, "x >= y")
BINARY(logical_and, "logical_and", LOGICAL_AND, "Both are true")
BINARY(logical_or, "logical_or", LOGICAL_OR, "One is true")
BINARY(logical_xor, "logical_xor", LOGICAL_XOR, "Exactly one is true")
BINARY(bitwise_and, "bitwise_and", BIT_AND, "Bits set in both")
BINARY(bitwise_or, "bitwise_or", BIT_OR, "Bits set in one")
BINARY(bitwise_xor, "bitwise_xor", BIT_XOR, "Bits set in exactly one")
BINARY(left_shift, "left_shift", SHIFT_LEFT, "Bits moved up")
BINARY(right_shift, "right_shift", SHIFT_RIGHT, "Bits moved down, the sign kept")
