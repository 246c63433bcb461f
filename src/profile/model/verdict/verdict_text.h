// SPDX-License-Identifier: Apache-2.0
// The one sentence of a verdict, for people.
#pragma once

#include "profile/model/verdict/verdict.h"

// Uses kind, shares, first, second, median_kind and reason of `v`. In the arena; NULL: no memory.
const char *stk_verdict_sentence(const struct stk_run_sum *run, const struct stk_verdict *v,
                                 struct stk_arena *arena);
// Beside the compute of a compute-bound run, is one loss large enough to be named?
bool stk_verdict_leaves_loss(const struct stk_verdict *v);
// "input", "the host", ...: what a group's loss is called in a sentence.
const char *stk_group_phrase(enum stk_group group);
