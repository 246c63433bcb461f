// SPDX-License-Identifier: Apache-2.0
// What must hold of columns and blocks whenever they go from one stage to another, and how to look
// at them: for assertions, tests and the debugger. Nothing else of the program calls these.
#pragma once

#include <stdio.h>

#include "base/assert.h"
#include "engine/memory/col.h"

// What is wrong, in words; NULL: it is whole. Looks at every offset and at the first strings.
const char *stk_col_check(const struct stk_col *c);
const char *stk_block_check(const struct stk_block *b);
// A line for each column; to == NULL: standard error. Usable from a debugger.
void stk_col_dump(const struct stk_col *c, FILE *to);
void stk_block_dump(const struct stk_block *b, FILE *to);

// A block that is handed over: with assertions on, a broken one is shown and ends the program.
#if STOKER_ASSERTIONS
#define STK_ASSERT_BLOCK(b) stk_block_assert(b, __FILE__, __LINE__, __func__)
#else
#define STK_ASSERT_BLOCK(b) ((void)sizeof(b))
#endif
void stk_block_assert(const struct stk_block *b, const char *file, int line, const char *func);
