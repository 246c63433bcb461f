// SPDX-License-Identifier: Apache-2.0
// The part of rule input-wait for stoker.data pipelines, which record their own limit.
#pragma once

#include "answers/rules/finding.h"

// Adds a line of evidence. False: the profile has no such record.
bool stk_pipeline_limit_say(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f);
// Adds its fix; none without a recorded limit.
void stk_pipeline_limit_fix(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f);
