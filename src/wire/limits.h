// SPDX-License-Identifier: Apache-2.0
// The words of an annotation that names the stage that limited a pipeline (STK_WIRE_LIMIT in
// wire.h).
#pragma once

#include <stddef.h>

enum stk_wire_limit {
#define L(id, word, what) STK_WIRE_LIMIT_##id,
#include "wire/limits.def"
#undef L
    STK_WIRE_LIMIT_COUNT
};
const char *stk_wire_limit_word(enum stk_wire_limit limit);
// The limit for the word text[0, n); STK_WIRE_LIMIT_OTHER if it isn't in the table (newer files).
enum stk_wire_limit stk_wire_limit_find(const char *text, size_t n);
