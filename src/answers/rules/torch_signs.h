// SPDX-License-Identifier: Apache-2.0
// What PyTorch's operators show of how a job is written, at any cost to the step.
#pragma once

#include "answers/rules/finding.h"

// The cures, as rows for the tables of the rules that may print them (`stoker explain`), in the
// order of enum stk_torch_cure.
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

// Says what is seen, and adds its cure. True: it explains the step better than general advice.
bool stk_torch_signs_choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f);
// Without a device: what an optimizer takes of the step that updates its parameters one by one,
// where that is worth a fix; 0: nothing.
double stk_torch_update_share(const struct stk_rule_ctx *ctx);
// Says it, and chooses the fix. False: there is nothing to say.
bool stk_torch_update_choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f);
