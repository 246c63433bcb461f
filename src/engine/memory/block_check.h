// SPDX-License-Identifier: Apache-2.0
// Invariants of columns and blocks at every hand-over between stages, and a dump: for assertions,
// tests and the debugger only.
#pragma once

#include <stdio.h>

#include "base/assert.h"
#include "engine/memory/col.h"

// What is wrong, in words; NULL: nothing. Checks every offset and the first strings.
const char *stk_col_check(const struct stk_col *c);
const char *stk_block_check(const struct stk_block *b);
// One line for each column; to == NULL: stderr. Usable from a debugger.
void stk_col_dump(const struct stk_col *c, FILE *to);
void stk_block_dump(const struct stk_block *b, FILE *to);

// A block being handed over: with assertions on, an invalid one is dumped and ends the program.
#if STOKER_ASSERTIONS
#define STK_ASSERT_BLOCK(b) stk_block_assert(b, __FILE__, __LINE__, __func__)
#else
#define STK_ASSERT_BLOCK(b) ((void)sizeof(b))
#endif
void stk_block_assert(const struct stk_block *b, const char *file, int line, const char *func);
