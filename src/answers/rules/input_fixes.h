// SPDX-License-Identifier: Apache-2.0
// What rule input-wait advises, chosen by what the profile shows of the input pipeline.
#pragma once

#include "answers/rules/input_fix_rows.h"

// The loop makes its batches itself, and most of that is the calls that hand them over.
bool stk_input_is_handing(const struct stk_rule_ctx *ctx);
// Says which stage limits, where the profile tells.
void stk_input_fixes_say(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f);
// What is advised to a pipeline of tf.data is to do its work on more threads.
bool stk_input_tf_adds_makers(const struct stk_rule_ctx *ctx);
// `even`: the wait is spread over the steps.
void stk_input_fixes_choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, bool even);
