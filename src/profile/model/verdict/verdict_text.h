// SPDX-License-Identifier: Apache-2.0
// The one sentence of a verdict, for people.
#pragma once

#include "profile/model/verdict/verdict.h"

// Uses kind, shares, first, second, median_kind and reason of `v`. In the arena; NULL: no memory.
const char *stk_verdict_sentence(const struct stk_run_sum *run, const struct stk_verdict *v,
                                 struct stk_arena *arena);
// Does a compute-bound run also have a loss that is large enough to be named?
bool stk_verdict_leaves_loss(const struct stk_verdict *v);
// "input", "the host", ...: a group's loss in a sentence.
const char *stk_group_phrase(enum stk_group group);
