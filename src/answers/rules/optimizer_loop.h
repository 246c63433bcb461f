// SPDX-License-Identifier: Apache-2.0
// Advice for a PyTorch optimizer that updates its parameters one by one.
#pragma once

#include "answers/rules/finding.h"

// Adds the advice if a cause of the part names an optimizer and the change pays off. `most`: the
// most of the step that it can save, 0 not known. False: none was added.
bool stk_optimizer_choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                          enum stk_part part, double most);
// The time in the optimizer that the part's causes name, over all used steps; 0: none, or it
// updates all parameters in few calls.
int64_t stk_optimizer_loop_ns(const struct stk_rule_ctx *ctx, enum stk_part part);
