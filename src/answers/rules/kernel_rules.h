// SPDX-License-Identifier: Apache-2.0
// Shared by the rules about a kind of kernel: its share of the step, and the evidence.
#pragma once

#include "answers/rules/finding.h"

// Below this share of multiprocessors with a block, rule small-grid reports it.
#define STK_GRID_FILLED 0.6
#define STK_GRID_KNOWN 0.5 // of the kernels' time must have recorded grids
// The share of multiprocessors that have a block while kernels run, averaged over the time with
// known grids; below 0: unknown, or known for too little time.
double stk_rule_grid_filled(const struct stk_rule_ctx *ctx);

// A finding about a kind of kernel from a share of the kernels' time on: fills everything except
// the fixes; `is` continues the sentence "34% of the kernels' time ...". The saving is at most
// `of_it` of their time.
enum stk_rule_state stk_rule_check_kernels(const struct stk_rule_ctx *ctx,
                                           struct stk_rep_finding *f, enum stk_kernel_kind kind,
                                           const struct stk_threshold *from, double of_it,
                                           const char *is, const char **why);

// The devices of a process hardly work at the same time: devices-in-turn fires.
bool stk_rule_in_turn(const struct stk_rule_ctx *ctx);
