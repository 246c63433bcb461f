// SPDX-License-Identifier: Apache-2.0
// What rule input-wait says where the pipeline is stoker.data's, which says itself what limits it.
#pragma once

#include "answers/rules/finding.h"

// A line of evidence. False: the profile has nothing of that kind.
bool stk_pipeline_limit_say(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f);
// What to do about it; nothing where it says nothing.
void stk_pipeline_limit_fix(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f);
