// SPDX-License-Identifier: Apache-2.0
// Health of the capture: the part of the profile analysis that judges.
#pragma once

#include "answers/passes/pass.h"

// Fill out->health from out->issues, out->events, the facts and the verdict.
STK_MUST_CHECK enum stoker_status stk_health_judge(const struct stk_pass_ctx *ctx,
                                                   struct stk_rep_profile *out,
                                                   struct stoker_err *err);
