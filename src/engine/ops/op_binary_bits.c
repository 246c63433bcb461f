// SPDX-License-Identifier: Apache-2.0
// Loops of comparison, logic and bits: see op_binary.h.
#include <string.h>

#include "engine/ops/op_binary.h"

// Bits, not values, as far as the sign is concerned: signed integers go through the unsigned loops.
#define EQUAL_LOOPS(N, T, U)                                                                       \
    STK_OP_BINARY_LOOP(equal_##N, T, uint8_t, a == b)                                              \
    STK_OP_BINARY_LOOP(not_equal_##N, T, uint8_t, a != b)
#define BIT_LOOPS(N, T, U)                                                                         \
    EQUAL_LOOPS(N, T, U)                                                                           \
    STK_OP_BINARY_LOOP(bit_and_##N, T, T, a &b)                                                    \
    STK_OP_BINARY_LOOP(bit_or_##N, T, T, a | b)                                                    \
    STK_OP_BINARY_LOOP(bit_xor_##N, T, T, a ^ b)                                                   \
    STK_OP_BINARY_LOOP(shift_left_##N, T, T, (uint64_t)b < sizeof(T) * 8 ? (U)a << b : 0)
#define ORDER_LOOPS(N, T, U)                                                                       \
    STK_OP_BINARY_LOOP(less_##N, T, uint8_t, a < b)                                                \
    STK_OP_BINARY_LOOP(less_equal_##N, T, uint8_t, a <= b)                                         \
    STK_OP_BINARY_LOOP(greater_##N, T, uint8_t, a > b)                                             \
    STK_OP_BINARY_LOOP(greater_equal_##N, T, uint8_t, a >= b)
#define INT_LOOPS(N, T, U)                                                                         \
    ORDER_LOOPS(N, T, U)                                                                           \
    STK_OP_BINARY_LOOP(shift_right_##N, T, T,                                                      \
                       a >> ((uint64_t)b < sizeof(T) * 8 ? (int)b : (int)sizeof(T) * 8 - 1))
#define FLOAT_LOOPS(N, T, U)                                                                       \
    EQUAL_LOOPS(N, T, U)                                                                           \
    ORDER_LOOPS(N, T, U)
STK_OP_FOR_UNSIGNED(BIT_LOOPS)
STK_FOR_INTS(INT_LOOPS)
STK_FOR_FLOATS(FLOAT_LOOPS)
EQUAL_LOOPS(BOOL, uint8_t, uint8_t)
STK_OP_BINARY_LOOP(and_BOOL, uint8_t, uint8_t, a &b)
STK_OP_BINARY_LOOP(or_BOOL, uint8_t, uint8_t, a | b)
STK_OP_BINARY_LOOP(xor_BOOL, uint8_t, uint8_t, a ^ b)

static int same_bytes(struct stk_bytes a, struct stk_bytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}
STK_OP_BINARY_LOOP(equal_STRING, struct stk_bytes, uint8_t, same_bytes(a, b))
STK_OP_BINARY_LOOP(not_equal_STRING, struct stk_bytes, uint8_t, !same_bytes(a, b))

static stk_op_binary_loop *const loops[][STK_DT_COUNT] = {
#define ROW(op, N) [op][STK_DT_##N]
#define ORDER_ROWS(N, W)                                                                           \
    ROW(EQUAL, N) = equal_##W, ROW(NOT_EQUAL, N) = not_equal_##W, ROW(LESS, N) = less_##N,         \
               ROW(LESS_EQUAL, N) = less_equal_##N, ROW(GREATER, N) = greater_##N,                 \
               ROW(GREATER_EQUAL, N) = greater_equal_##N,
#define INT_ROWS(N, W)                                                                             \
    ORDER_ROWS(N, W)                                                                               \
    ROW(BIT_AND, N) = bit_and_##W, ROW(BIT_OR, N) = bit_or_##W, ROW(BIT_XOR, N) = bit_xor_##W,     \
                 ROW(SHIFT_LEFT, N) = shift_left_##W, ROW(SHIFT_RIGHT, N) = shift_right_##N,
    STK_OP_FOR_WIDTHS(INT_ROWS) ORDER_ROWS(F32, F32) ORDER_ROWS(F64, F64) ROW(EQUAL, BOOL) =
        equal_BOOL,
    ROW(NOT_EQUAL, BOOL) = not_equal_BOOL,
    ROW(LOGICAL_AND, BOOL) = and_BOOL,
    ROW(LOGICAL_OR, BOOL) = or_BOOL,
    ROW(LOGICAL_XOR, BOOL) = xor_BOOL,
    ROW(EQUAL, STRING) = equal_STRING,
    ROW(NOT_EQUAL, STRING) = not_equal_STRING,
};

stk_op_binary_loop *stk_op_binary_bits_loop(enum stk_op_binary op, enum stk_dtype dtype)
{
    return (size_t)op < sizeof loops / sizeof loops[0] ? loops[op][dtype] : NULL;
}
