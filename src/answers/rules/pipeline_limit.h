// SPDX-License-Identifier: Apache-2.0
// The part of rule input-wait for pipelines of stoker.data, which record their own limit.
#pragma once

#include "answers/rules/finding.h"

// A line of evidence. False: the profile has nothing of that kind.
bool stk_pipeline_limit_say(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f);
// The fix for it; none without a recorded limit.
void stk_pipeline_limit_fix(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f);
