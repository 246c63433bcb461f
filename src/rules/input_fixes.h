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
    STK_INPUT_FROM_JAX_CALLS
};
extern const struct stk_threshold stk_input_thresholds[]; // ends with name == NULL
extern const struct stk_rep_fix stk_input_fixes[];        // ends with text == NULL

// Whoever prepares a batch waits for an answer most of the time (a store, a network), and keeps no
// processor busy: asked several times at once, it would answer as fast as the step goes on.
bool stk_input_waits_for_answer(const struct stk_rule_ctx *ctx);
// The loop makes its batches itself, and most of that is the calls that hand them over.
bool stk_input_is_handing(const struct stk_rule_ctx *ctx);
// Says which stage limits, where the profile tells.
void stk_input_fixes_say(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f);
// `even`: the wait is spread over the steps.
void stk_input_fixes_choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, bool even);

#endif
