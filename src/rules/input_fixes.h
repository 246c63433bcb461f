// SPDX-License-Identifier: Apache-2.0
// What rule input-wait advises, chosen by what the profile shows of the input pipeline.
#ifndef STK_RULES_INPUT_FIXES_H
#define STK_RULES_INPUT_FIXES_H

#include "rules/finding.h"

// Rows of the rule's thresholds behind STK_FROM_DEVICE and STK_FROM_HOST.
enum {
    STK_INPUT_FROM_ONE_FETCH = STK_FROM_HOST + 1,
    STK_INPUT_FROM_ONE_STEPS,
    STK_INPUT_FROM_FEW,
    STK_INPUT_FROM_FEW_STEPS,
    STK_INPUT_FROM_PYTHON,
    STK_INPUT_FROM_BUSY,
    STK_INPUT_FROM_COLLATE,
    STK_INPUT_FROM_MANY,
    STK_INPUT_FROM_SMALL,
    STK_INPUT_FROM_ASLEEP,
    STK_INPUT_FROM_HANDING,
    STK_INPUT_FROM_OPS,
    STK_INPUT_FROM_FINE,
    STK_INPUT_FROM_TENSOR,
    STK_INPUT_FROM_JAX_CALLS
};
extern const struct stk_threshold stk_input_thresholds[]; // ends with name == NULL
extern const struct stk_rep_fix stk_input_fixes[];        // ends with text == NULL

// The loop makes its batches itself, and most of that is the calls that hand them over.
bool stk_input_is_handing(const struct stk_rule_ctx *ctx);
// Says which stage limits, where the profile tells.
void stk_input_fixes_say(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f);
// What is advised to a pipeline of tf.data is to do its work on more threads.
bool stk_input_tf_adds_makers(const struct stk_rule_ctx *ctx);
// `even`: the wait is spread over the steps.
void stk_input_fixes_choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, bool even);

#endif
