// SPDX-License-Identifier: Apache-2.0
// Elementwise operations on one value: the rows of ops_unary.def. The type stays the same, except
// for tests (is_nan, ...).
#include <tgmath.h>

#include "engine/ops/float_math.h"
#include "base/assert.h"
#include "engine/ops/op_util.h"

typedef void loop_fn(void *restrict out, const void *restrict in, int64_t n);

struct unary {
    loop_fn *of[STK_DT_COUNT]; // NULL: not for this type
    bool is_question;          // returns bools
    bool is_rounding;          // integers are already round
};

#define LOOP(name, T_, U_, R, expr)                                                                \
    static void name(void *restrict out, const void *restrict in, int64_t n)                       \
    {                                                                                              \
        typedef T_ T __attribute__((unused));                                                      \
        typedef U_ U __attribute__((unused));                                                      \
        for (int64_t i = 0; i < n; i++) {                                                          \
            T_ x = ((const T_ *)in)[i];                                                            \
            ((R *)out)[i] = (R)(expr);                                                             \
        }                                                                                          \
    }
// Is x negative, or 0? Always false for unsigned types, without comparing them with 0.
#define BELOW_1(x) ((T) - 1 < (T)1 && x < (T)1)

// A row's loops, by kind, as fields of its struct. Integers:
#define INTS_LOOPS(id, expr)                                                                       \
    LOOP(id##_U8, uint8_t, uint32_t, uint8_t, expr)                                                \
    LOOP(id##_I8, int8_t, uint32_t, int8_t, expr)                                                  \
    LOOP(id##_U16, uint16_t, uint32_t, uint16_t, expr)                                             \
    LOOP(id##_I16, int16_t, uint32_t, int16_t, expr)                                               \
    LOOP(id##_U32, uint32_t, uint32_t, uint32_t, expr)                                             \
    LOOP(id##_I32, int32_t, uint32_t, int32_t, expr)                                               \
    LOOP(id##_U64, uint64_t, uint64_t, uint64_t, expr)                                             \
    LOOP(id##_I64, int64_t, uint64_t, int64_t, expr)
#define INTS_ROW(id)                                                                               \
    .of[STK_DT_U8] = id##_U8, .of[STK_DT_I8] = id##_I8, .of[STK_DT_U16] = id##_U16,                \
    .of[STK_DT_I16] = id##_I16, .of[STK_DT_U32] = id##_U32, .of[STK_DT_I32] = id##_I32,            \
    .of[STK_DT_U64] = id##_U64, .of[STK_DT_I64] = id##_I64
// Floats (half precision goes through float32).
#define FLOATS_LOOPS(id, expr)                                                                     \
    LOOP(id##_F32, float, float, float, expr)                                                      \
    LOOP(id##_F64, double, double, double, expr)
#define FLOATS_ROW(id) .of[STK_DT_F32] = id##_F32, .of[STK_DT_F64] = id##_F64
// Both: an expression for integers, one for floats.
#define NUMBERS_LOOPS(id, of_int, of_float) INTS_LOOPS(id, of_int) FLOATS_LOOPS(id, of_float)
#define NUMBERS_ROW(id) INTS_ROW(id), FLOATS_ROW(id)
// Floats; float32 has a loop in float_math.h.
#define MATH_LOOPS(id, expr)                                                                       \
    static void id##_F32(void *restrict out, const void *restrict in, int64_t n)                   \
    {                                                                                              \
        stk_float_##id(out, in, n);                                                                \
    }                                                                                              \
    LOOP(id##_F64, double, double, double, expr)
#define MATH_ROW(id) FLOATS_ROW(id)
#define ROUNDING_LOOPS(id, expr) FLOATS_LOOPS(id, expr)
#define ROUNDING_ROW(id) FLOATS_ROW(id), .is_rounding = true
#define QUESTIONS_LOOPS(id, expr)                                                                  \
    LOOP(id##_F32, float, float, uint8_t, expr)                                                    \
    LOOP(id##_F64, double, double, uint8_t, expr)
#define QUESTIONS_ROW(id) FLOATS_ROW(id), .is_question = true
#define BOOLS_LOOPS(id, expr) LOOP(id##_BOOL, uint8_t, uint8_t, uint8_t, expr)
#define BOOLS_ROW(id) .of[STK_DT_BOOL] = id##_BOOL

static enum stoker_status unary_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stk_dtype t = stk_op_is_half(c->in[0].dtype) ? STK_DT_F32 : c->in[0].dtype;
    const struct unary *own = c->op->own;
    if (!own->of[t] && !(own->is_rounding && stk_dtype_is_int(t))) {
        return stk_err_set(err, STOKER_EINVAL, "%s: not for %s%s", c->op->name,
                           stk_dtype_name(c->in[0].dtype),
                           stk_dtype_is_int(t) ? "; cast to a float first" : "");
    }
    c->out[0].shape = c->in[0].shape;
    c->out[0].dtype = own->is_question ? STK_DT_BOOL : c->in[0].dtype;
    return STOKER_OK;
}

static enum stoker_status unary_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    if (stk_op_is_half(in->dtype)) {
        return stk_op_run_halves(r, err, unary_run);
    }
    const struct unary *own = r->op->own;
    loop_fn *loop = own->of[in->dtype];
    if (!loop) { // integers are already round
        return stk_op_pass(r, 0, 0, NULL, err);
    }
    enum stk_dtype dtype = own->is_question ? STK_DT_BOOL : in->dtype;
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

#define UNARY(id, kind, names, arguments, about, ...)                                              \
    kind##_LOOPS(id, __VA_ARGS__) static const struct unary unary_##id = {kind##_ROW(id)};         \
    const struct stk_op stk_op_##id = {.name = #id,                                                \
                                       .summary = about,                                           \
                                       .is_elementwise = true,                                     \
                                       .cost_ns = 1,                                               \
                                       .signature = "any",                                         \
                                       .infer = unary_infer,                                       \
                                       .run = unary_run,                                           \
                                       .own = &unary_##id};
#include "engine/ops_unary.def"
