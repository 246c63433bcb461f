// SPDX-License-Identifier: Apache-2.0
// What PyTorch's operators give away of how a job is written, whatever part of the step it costs.
#ifndef STK_RULES_TORCH_SIGNS_H
#define STK_RULES_TORCH_SIGNS_H

#include "rules/finding.h"

// Says what is seen, and adds its cure. True: it explains the step better than general advice.
bool stk_torch_signs_choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f);

#endif
