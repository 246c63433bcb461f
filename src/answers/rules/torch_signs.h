// SPDX-License-Identifier: Apache-2.0
// What PyTorch's operators show about how a job is written, even if it costs the step little.
#pragma once

#include "answers/rules/finding.h"

// The fixes, as rows for the tables of rules that may print them (`stoker explain`), in the order
// of enum stk_torch_cure.
enum stk_torch_cure {
    STK_CURE_ANOMALY,
    STK_CURE_LSTM,
    STK_CURE_WHOLE,
    STK_CURE_BATCH,
    STK_CURE_COMPILE
};
#define STK_FIXES_TORCH_SIGNS                                                                      \
    STK_FIX(torch_anomaly_detection), STK_FIX(torch_whole_sequence), STK_FIX(torch_whole_tensors), \
        STK_FIX(torch_larger_batch), STK_FIX(torch_compile)

// Adds the evidence and its fix. True: it explains the step better than general advice.
bool stk_torch_signs_choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f);
// Without a device: the share of the step in an optimizer that updates its parameters one by one,
// if that deserves a fix; 0: nothing.
double stk_torch_update_share(const struct stk_rule_ctx *ctx);
// Adds it, and chooses the fix. False: there is nothing to add.
bool stk_torch_update_choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f);
