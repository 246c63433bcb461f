// SPDX-License-Identifier: Apache-2.0
// Loops of comparison, logic and bits, the rows of ops_comparison.def: see op_binary.h.
#include <string.h>

#include "engine/ops/op_binary.h"

static int same_bytes(struct stk_bytes a, struct stk_bytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

#define QUESTION(name, T, expr) STK_OP_BINARY_LOOP(name, T, T, uint8_t, expr)
#define QUESTION_OF_INT(name, T, U, R, expr) QUESTION(name, T, expr)
#define FLOAT_QUESTIONS(id, expr) QUESTION(id##_F32, float, expr) QUESTION(id##_F64, double, expr)
#define ORDER_LOOPS(id, expr)                                                                      \
    STK_OP_EACH_INT(QUESTION_OF_INT, id, expr)                                                     \
    FLOAT_QUESTIONS(id, expr)
#define ORDER_ROW(id) INTS_ROW(id), FLOATS_ROW(id), .is_question = true
// For integers regardless of sign, floats and bools; strings have their own expression.
#define EQUALITY_LOOPS(id, expr, of_strings)                                                       \
    QUESTION(id##_U8, uint8_t, expr)                                                               \
    QUESTION(id##_U16, uint16_t, expr)                                                             \
    QUESTION(id##_U32, uint32_t, expr)                                                             \
    QUESTION(id##_U64, uint64_t, expr)                                                             \
    FLOAT_QUESTIONS(id, expr)                                                                      \
    QUESTION(id##_STRING, struct stk_bytes, of_strings)
#define EQUALITY_ROW(id)                                                                           \
    BITS_ROW(id), FLOATS_ROW(id), .of[STK_DT_BOOL] = id##_U8, .of[STK_DT_STRING] = id##_STRING,    \
                                  .is_question = true
#define BOOLS_LOOPS(id, expr) QUESTION(id##_BOOL, uint8_t, expr)
#define BOOLS_ROW(id) .of[STK_DT_BOOL] = id##_BOOL, .is_question = true

#define BINARY(id, kind, names, arguments, about, ...)                                             \
    kind##_LOOPS(id, __VA_ARGS__) const struct stk_op stk_op_##id =                                \
        STK_OP_BINARY(#id, about, kind##_ROW(id));
#include "engine/ops_comparison.def"
