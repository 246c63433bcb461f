// SPDX-License-Identifier: Apache-2.0
// The loops of operations on two values: one for each operation and type, in three forms, two
// arrays and a scalar on either side. They are two files, because they take long to compile.
#ifndef STK_DATA_OPS_OP_BINARY_H
#define STK_DATA_OPS_OP_BINARY_H

#include "engine/ops/op_util.h"

enum stk_op_binary {
    ADD,
    SUB,
    MUL,
    TRUEDIV,
    FLOORDIV,
    MOD,
    POW,
    MAXIMUM,
    MINIMUM,
    SQUARED_DIFFERENCE,
    ATAN2,
    EQUAL,
    NOT_EQUAL,
    LESS,
    LESS_EQUAL,
    GREATER,
    GREATER_EQUAL,
    LOGICAL_AND,
    LOGICAL_OR,
    LOGICAL_XOR,
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    SHIFT_LEFT,
    SHIFT_RIGHT,
    DIV_NO_NAN
};

// step 0: a scalar. *failed: the place of a division by zero or a negative power, else untouched.
typedef void stk_op_binary_loop(void *out, const void *a, const void *b, int64_t n, int step_a,
                                int step_b, int64_t *failed);

#define STK_OP_BINARY_LOOP(name, T, R, expr)                                                       \
    static void name(void *out_, const void *a_, const void *b_, int64_t n, int sa, int sb,        \
                     int64_t *failed)                                                              \
    {                                                                                              \
        R *restrict out = out_;                                                                    \
        const T *pa = a_, *pb = b_;                                                                \
        (void)failed;                                                                              \
        if (sa && sb) {                                                                            \
            for (int64_t i = 0; i < n; i++) {                                                      \
                T a = pa[i], b = pb[i];                                                            \
                out[i] = (R)(expr);                                                                \
            }                                                                                      \
        } else if (sa) {                                                                           \
            T b = pb[0];                                                                           \
            for (int64_t i = 0; i < n; i++) {                                                      \
                T a = pa[i];                                                                       \
                out[i] = (R)(expr);                                                                \
            }                                                                                      \
        } else {                                                                                   \
            T a = pa[0];                                                                           \
            int64_t values = sb || n < 1 ? n : 1; /* two scalars have one result */                \
            for (int64_t i = 0; i < values; i++) {                                                 \
                T b = pb[i];                                                                       \
                out[i] = (R)(expr);                                                                \
            }                                                                                      \
            for (int64_t i = values; i < n; i++) {                                                 \
                out[i] = out[0];                                                                   \
            }                                                                                      \
        }                                                                                          \
    }

// X(NAME, type, type whose arithmetic wraps) of unsigned integers, and X(NAME, NAME of the unsigned
// type as wide) of all.
#define STK_OP_FOR_UNSIGNED(X)                                                                     \
    X(U8, uint8_t, uint32_t)                                                                       \
    X(U16, uint16_t, uint32_t)                                                                     \
    X(U32, uint32_t, uint32_t)                                                                     \
    X(U64, uint64_t, uint64_t)
#define STK_OP_FOR_WIDTHS(X)                                                                       \
    X(U8, U8) X(I8, U8) X(U16, U16) X(I16, U16) X(U32, U32) X(I32, U32) X(U64, U64) X(I64, U64)

// Comparison, logic and bits (op_binary_bits.c). NULL: of another kind, or not for that type.
stk_op_binary_loop *stk_op_binary_bits_loop(enum stk_op_binary op, enum stk_dtype dtype);

#endif
