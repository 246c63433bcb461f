// SPDX-License-Identifier: Apache-2.0
// The cost of packing replicas' gradients and splitting them again.
#pragma once

#include "answers/rules/finding.h"

// The rule's threshold from which on it is reported.
#define STK_THRESHOLD_PACK_SIGNS                                                                   \
    {"packing and splitting tensors, with replicas", "share of the step", 0.05,                    \
     "less is lost in a step's noise"}

// Reports it if it is large enough. True: it was.
bool stk_pack_signs_say(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                        const struct stk_threshold *worth);
