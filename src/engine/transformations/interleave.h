// SPDX-License-Identifier: Apache-2.0
// interleave with threads; implements the kind "interleave".
#pragma once

#include "engine/run/nested.h"

struct stk_interleave; // the iterator state of that kind starts with a pointer to it

STK_MUST_CHECK enum stoker_status stk_interleave_open(struct stk_interleave **out,
                                                      struct stk_iter *it, struct stk_nest *nest,
                                                      int64_t cycle_length, int64_t block_length,
                                                      struct stoker_err *err);
void stk_interleave_close(struct stk_interleave *p); // takes NULL
STK_MUST_CHECK enum stoker_status stk_interleave_next(struct stk_interleave *p, int64_t want,
                                                      struct stk_block *out,
                                                      struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_interleave_skip(struct stk_interleave *p, int64_t n,
                                                      int64_t *done, struct stoker_err *err);
