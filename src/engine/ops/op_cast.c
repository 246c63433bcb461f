// SPDX-License-Identifier: Apache-2.0
// cast: values as another type. saturate_cast: values outside the new type's range become its ends.
//
// Floats are truncated toward 0. A float outside the new range becomes what x86 conversions give
// (through int32 for narrow types), on every machine. Anything but 0 is true.
#include <string.h>

#include "base/assert.h"
#include "engine/memory/whole.h"
#include "engine/ops/op_util.h"

enum { ARG_DTYPE };
static const struct stk_arg_row cast_args[] = {
    [ARG_DTYPE] = STK_ARG("dtype", DTYPE, "the result's type", .is_required = true), {0}};

enum { CAST, SATURATE };

typedef void loop_fn(void *restrict out, const void *restrict in, int64_t n);

static inline int32_t cut32(double x)
{
    return x > -2147483649.0 && x < 2147483648.0 ? (int32_t)x : INT32_MIN;
}
static inline uint64_t cutu64(double x)
{
    return x < 0x1p63 ? (uint64_t)stk_whole_of(x) : x < 0x1p64 ? (uint64_t)x : 0;
}

#define LOOP(name, A, B, expr)                                                                     \
    static void name(void *restrict out, const void *restrict in, int64_t n)                       \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            A x = ((const A *)in)[i];                                                              \
            ((B *)out)[i] = (B)(expr);                                                             \
        }                                                                                          \
    }
#define FROM_INT(N, A, U)                                                                          \
    LOOP(N##_BOOL, A, uint8_t, x != 0)                                                             \
    LOOP(N##_U8, A, uint8_t, x)                                                                    \
    LOOP(N##_I8, A, int8_t, x)                                                                     \
    LOOP(N##_U16, A, uint16_t, x)                                                                  \
    LOOP(N##_I16, A, int16_t, x)                                                                   \
    LOOP(N##_U32, A, uint32_t, x)                                                                  \
    LOOP(N##_I32, A, int32_t, x)                                                                   \
    LOOP(N##_U64, A, uint64_t, x)                                                                  \
    LOOP(N##_I64, A, int64_t, x) LOOP(N##_F32, A, float, x) LOOP(N##_F64, A, double, x)
#define FROM_FLOAT(N, A, U)                                                                        \
    LOOP(N##_BOOL, A, uint8_t, x != 0)                                                             \
    LOOP(N##_U8, A, uint8_t, cut32(x))                                                             \
    LOOP(N##_I8, A, int8_t, cut32(x))                                                              \
    LOOP(N##_U16, A, uint16_t, cut32(x))                                                           \
    LOOP(N##_I16, A, int16_t, cut32(x))                                                            \
    LOOP(N##_U32, A, uint32_t, stk_whole_of(x))                                                    \
    LOOP(N##_I32, A, int32_t, cut32(x))                                                            \
    LOOP(N##_U64, A, uint64_t, cutu64(x))                                                          \
    LOOP(N##_I64, A, int64_t, stk_whole_of(x))                                                     \
    LOOP(N##_F32, A, float, x) LOOP(N##_F64, A, double, x)
STK_FOR_INTS(FROM_INT)
STK_FOR_FLOATS(FROM_FLOAT)
FROM_INT(BOOL, uint8_t, uint8_t)

static loop_fn *const loops[STK_DT_COUNT][STK_DT_COUNT] = {
#define FROM(N, A, U)                                                                              \
    [STK_DT_##N] = {[STK_DT_BOOL] = N##_BOOL, [STK_DT_U8] = N##_U8,   [STK_DT_I8] = N##_I8,        \
                    [STK_DT_U16] = N##_U16,   [STK_DT_I16] = N##_I16, [STK_DT_U32] = N##_U32,      \
                    [STK_DT_I32] = N##_I32,   [STK_DT_U64] = N##_U64, [STK_DT_I64] = N##_I64,      \
                    [STK_DT_F32] = N##_F32,   [STK_DT_F64] = N##_F64},
    STK_FOR_NUMBERS(FROM) FROM(BOOL, uint8_t, uint8_t)};

// Limits of the integer types as doubles; those of uint64 and int64 round up, which the loops allow
// for.
static void range_of(enum stk_dtype t, double *low, double *high)
{
    static const double ends[STK_DT_COUNT][2] = {
        [STK_DT_U8] = {0, UINT8_MAX},   [STK_DT_I8] = {INT8_MIN, INT8_MAX},
        [STK_DT_U16] = {0, UINT16_MAX}, [STK_DT_I16] = {INT16_MIN, INT16_MAX},
        [STK_DT_U32] = {0, UINT32_MAX}, [STK_DT_I32] = {INT32_MIN, INT32_MAX},
        [STK_DT_U64] = {0, 0x1p64},     [STK_DT_I64] = {-0x1p63, 0x1p63},
    };
    *low = ends[t][0];
    *high = ends[t][1];
}

static void put_end(void *out, int64_t i, enum stk_dtype t, bool is_high)
{
    switch (t) {
    case STK_DT_U8:
        ((uint8_t *)out)[i] = is_high ? UINT8_MAX : 0;
        break;
    case STK_DT_I8:
        ((int8_t *)out)[i] = is_high ? INT8_MAX : INT8_MIN;
        break;
    case STK_DT_U16:
        ((uint16_t *)out)[i] = is_high ? UINT16_MAX : 0;
        break;
    case STK_DT_I16:
        ((int16_t *)out)[i] = is_high ? INT16_MAX : INT16_MIN;
        break;
    case STK_DT_U32:
        ((uint32_t *)out)[i] = is_high ? UINT32_MAX : 0;
        break;
    case STK_DT_I32:
        ((int32_t *)out)[i] = is_high ? INT32_MAX : INT32_MIN;
        break;
    case STK_DT_U64:
        ((uint64_t *)out)[i] = is_high ? UINT64_MAX : 0;
        break;
    case STK_DT_I64:
        ((int64_t *)out)[i] = is_high ? INT64_MAX : INT64_MIN;
        break;
    default:
        break;
    }
}

static double as_double(const void *in, int64_t i, enum stk_dtype t)
{
    double x;
    loops[t][STK_DT_F64](&x, (const uint8_t *)in + (size_t)i * stk_dtype_bytes(t), 1);
    return x;
}

static void saturate(void *out, const void *in, int64_t n, enum stk_dtype from, enum stk_dtype to)
{
    double low, high;
    range_of(to, &low, &high);
    loops[from][to](out, in, n);
    for (int64_t i = 0; i < n; i++) {
        double x = as_double(in, i, from);
        if (x <= low || x >= high) {
            put_end(out, i, to, x >= high);
        }
    }
}

static enum stoker_status cast_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stoker_status s = stk_op_want_inputs(c, 1, 1, err);
    int64_t to = c->args[ARG_DTYPE].i;
    enum stk_dtype from = s == STOKER_OK ? c->in[0].dtype : STK_DT_BOOL;
    if (s == STOKER_OK && (to < 0 || to >= STK_DT_STRING || from >= STK_DT_STRING)) {
        bool is_same = to == (int64_t)from;
        s = is_same ? STOKER_OK
                    : stk_err_set(err, STOKER_EINVAL, "%s: cannot make %s of %s", c->op->name,
                                  to >= 0 && to < STK_DT_COUNT ? stk_dtype_name((enum stk_dtype)to)
                                                               : "an unknown type",
                                  stk_dtype_name(from));
    }
    if (s == STOKER_OK) {
        stk_spec_copy(&c->out[0], &c->in[0]);
        c->out[0].dtype = (enum stk_dtype)to;
    }
    return s;
}

static enum stoker_status cast_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    enum stk_dtype from = in->dtype, to = r->spec[0].dtype;
    if (from == to) {
        return stk_op_pass(r, 0, 0, NULL, err);
    }
    if (stk_op_is_half(from) || stk_op_is_half(to)) {
        return stk_op_run_halves(r, err, cast_run);
    }
    uint8_t *out = stk_op_out(r, 0, to, &in->shape, err);
    if (!out) {
        return err->code;
    }
    STK_ASSERT(loops[from][to] && in->n >= r->n);
    int64_t each = stk_shape_count(&in->shape);
    bool is_one = stk_col_is_dense(in);
    int64_t times = is_one ? 1 : r->n, run = is_one ? r->n * each : each;
    for (int64_t i = 0; i < times; i++) {
        void *at = out + (size_t)(i * run) * stk_dtype_bytes(to);
        if (r->op->arg == SATURATE && stk_dtype_is_int(to)) {
            saturate(at, stk_col_at(in, i), run, from, to);
        } else {
            loops[from][to](at, stk_col_at(in, i), run);
        }
    }
    return STOKER_OK;
}

const struct stk_op stk_op_cast = {.name = "cast",
                                   .summary = "Converts the type",
                                   .is_elementwise = true,
                                   .cost_ns = 0.3,
                                   .infer = cast_infer,
                                   .run = cast_run,
                                   .arg = CAST,
                                   .args = cast_args};
const struct stk_op stk_op_saturate_cast = {.name = "saturate_cast",
                                            .summary = "Converts the type and clips to its range",
                                            .is_elementwise = true,
                                            .cost_ns = 2,
                                            .infer = cast_infer,
                                            .run = cast_run,
                                            .arg = SATURATE,
                                            .args = cast_args};
