// SPDX-License-Identifier: Apache-2.0
// The advice of rule input-wait, chosen by what the profile shows of the input pipeline.
#pragma once

#include "answers/rules/input_fix_rows.h"

// The loop makes its batches itself, and most of that is calls that pass them on.
bool stk_input_is_handing(const struct stk_rule_ctx *ctx);
// Names the limiting stage, if the profile shows it.
void stk_input_fixes_say(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f);
// A tf.data pipeline is advised to use more threads.
bool stk_input_tf_adds_makers(const struct stk_rule_ctx *ctx);
// `even`: the wait is spread over the steps.
void stk_input_fixes_choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, bool even);
