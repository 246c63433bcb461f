// SPDX-License-Identifier: Apache-2.0
// Elementwise operations on two values: what their rows expand to. Each row and type gets a loop in
// three forms: two arrays, and a scalar on either side. Rows and loops are split into two files,
// because they take long to compile: op_binary.c and op_binary_bits.c.
#pragma once

#include "engine/ops/op_util.h"

// step 0: a scalar. *failed: index of a division by zero or a negative power, else unchanged.
typedef void stk_op_binary_loop(void *out, const void *a, const void *b, int64_t n, int step_a,
                                int step_b, int64_t *failed);

struct stk_op_binary {
    stk_op_binary_loop *of[STK_DT_COUNT]; // NULL: not for this type
    bool is_question;                     // returns bools
    bool is_quotient;                     // integers give floats
    bool joins_strings;                   // concatenates strings, without a loop
    const char *failure;                  // what is wrong if *failed is set
};

#define STK_OP_BINARY_LOOP(name, T_, U_, R_, expr)                                                 \
    static void name(void *out_, const void *a_, const void *b_, int64_t n, int sa, int sb,        \
                     int64_t *failed)                                                              \
    {                                                                                              \
        typedef T_ T __attribute__((unused));                                                      \
        typedef U_ U __attribute__((unused));                                                      \
        typedef R_ R;                                                                              \
        R *restrict out = out_;                                                                    \
        const T_ *pa = a_, *pb = b_;                                                               \
        (void)failed;                                                                              \
        if (sa && sb) {                                                                            \
            for (int64_t i = 0; i < n; i++) {                                                      \
                T_ a = pa[i], b = pb[i];                                                           \
                out[i] = (R)(expr);                                                                \
            }                                                                                      \
        } else if (sa) {                                                                           \
            T_ b = pb[0];                                                                          \
            for (int64_t i = 0; i < n; i++) {                                                      \
                T_ a = pa[i];                                                                      \
                out[i] = (R)(expr);                                                                \
            }                                                                                      \
        } else {                                                                                   \
            T_ a = pa[0];                                                                          \
            int64_t values = sb || n < 1 ? n : 1; /* two scalars have one result */                \
            for (int64_t i = 0; i < values; i++) {                                                 \
                T_ b = pb[i];                                                                      \
                out[i] = (R)(expr);                                                                \
            }                                                                                      \
            for (int64_t i = values; i < n; i++) {                                                 \
                out[i] = out[0];                                                                   \
            }                                                                                      \
        }                                                                                          \
    }

// A row's loops, by kind, as fields of its struct. Floats:
#define FLOATS_LOOPS(id, expr)                                                                     \
    STK_OP_BINARY_LOOP(id##_F32, float, float, float, expr)                                        \
    STK_OP_BINARY_LOOP(id##_F64, double, double, double, expr)
#define FLOATS_ROW(id) .of[STK_DT_F32] = id##_F32, .of[STK_DT_F64] = id##_F64
// Integers whose results have the same bits signed or unsigned: both use the unsigned loops.
#define BITS_LOOPS(id, expr)                                                                       \
    STK_OP_BINARY_LOOP(id##_U8, uint8_t, uint32_t, uint8_t, expr)                                  \
    STK_OP_BINARY_LOOP(id##_U16, uint16_t, uint32_t, uint16_t, expr)                               \
    STK_OP_BINARY_LOOP(id##_U32, uint32_t, uint32_t, uint32_t, expr)                               \
    STK_OP_BINARY_LOOP(id##_U64, uint64_t, uint64_t, uint64_t, expr)
#define BITS_ROW(id)                                                                               \
    .of[STK_DT_U8] = id##_U8, .of[STK_DT_I8] = id##_U8, .of[STK_DT_U16] = id##_U16,                \
    .of[STK_DT_I16] = id##_U16, .of[STK_DT_U32] = id##_U32, .of[STK_DT_I32] = id##_U32,            \
    .of[STK_DT_U64] = id##_U64, .of[STK_DT_I64] = id##_U64
// Integers, each with its loop. L(name, T, U, R, ...) makes one.
#define STK_OP_EACH_INT(L, id, ...)                                                                \
    L(id##_U8, uint8_t, uint32_t, uint8_t, __VA_ARGS__)                                            \
    L(id##_I8, int8_t, uint32_t, int8_t, __VA_ARGS__)                                              \
    L(id##_U16, uint16_t, uint32_t, uint16_t, __VA_ARGS__)                                         \
    L(id##_I16, int16_t, uint32_t, int16_t, __VA_ARGS__)                                           \
    L(id##_U32, uint32_t, uint32_t, uint32_t, __VA_ARGS__)                                         \
    L(id##_I32, int32_t, uint32_t, int32_t, __VA_ARGS__)                                           \
    L(id##_U64, uint64_t, uint64_t, uint64_t, __VA_ARGS__)                                         \
    L(id##_I64, int64_t, uint64_t, int64_t, __VA_ARGS__)
#define INTS_LOOPS(id, expr) STK_OP_EACH_INT(STK_OP_BINARY_LOOP, id, expr)
#define INTS_ROW(id)                                                                               \
    .of[STK_DT_U8] = id##_U8, .of[STK_DT_I8] = id##_I8, .of[STK_DT_U16] = id##_U16,                \
    .of[STK_DT_I16] = id##_I16, .of[STK_DT_U32] = id##_U32, .of[STK_DT_I32] = id##_I32,            \
    .of[STK_DT_U64] = id##_U64, .of[STK_DT_I64] = id##_I64

// The descriptor of a row; the arguments after the texts are its struct's fields.
#define STK_OP_BINARY(text, about, ...)                                                            \
    {                                                                                              \
        .name = text, .summary = about, .is_elementwise = true, .cost_ns = 0.5,                    \
        .signature = "any, any", .infer = stk_op_binary_infer, .run = stk_op_binary_run,           \
        .own = &(const struct stk_op_binary)                                                       \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
enum stoker_status stk_op_binary_infer(struct stk_op_infer *c, struct stoker_err *err);
enum stoker_status stk_op_binary_run(struct stk_op_run *r, struct stoker_err *err);
