// SPDX-License-Identifier: Apache-2.0
// What the rules of a kind of kernel share: how much of the step it takes, and the evidence.
#pragma once

#include "answers/rules/finding.h"

// Below this share of multiprocessors with a block, rule small-grid speaks of it.
#define STK_GRID_FILLED 0.6
#define STK_GRID_KNOWN 0.5 // of the kernels' time must have grids that are recorded
// Multiprocessors that have a block while kernels run, as a share of those there are, averaged over
// the time whose grids are known; below 0: not known, or of too little.
double stk_rule_grid_filled(const struct stk_rule_ctx *ctx);

// A finding of a kind of kernel from a share of the kernels' time on: fills all but the fixes; `is`
// goes on the sentence "34% of the kernels' time ...". The saving is at most `of_it` of their
// time.
enum stk_rule_state stk_rule_check_kernels(const struct stk_rule_ctx *ctx,
                                           struct stk_rep_finding *f, enum stk_kernel_kind kind,
                                           const struct stk_threshold *from, double of_it,
                                           const char *is, const char **why);

// Devices of a process hardly work at the same time: devices-in-turn fires.
bool stk_rule_in_turn(const struct stk_rule_ctx *ctx);
