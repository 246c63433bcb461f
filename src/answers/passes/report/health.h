// SPDX-License-Identifier: Apache-2.0
// Judges the health of the capture, for the profile analysis.
#pragma once

#include "answers/passes/pass.h"

// Fills out->health from out->issues, out->events, the facts and the verdict.
STK_MUST_CHECK enum stoker_status stk_health_judge(const struct stk_pass_ctx *ctx,
                                                   struct stk_rep_profile *out,
                                                   struct stoker_err *err);
