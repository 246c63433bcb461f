// SPDX-License-Identifier: Apache-2.0
// Does the model run on the CPU although there is a device?
#pragma once

#include "answers/rules/finding.h"

// Whether the profile shows it: operators on the host take the time, the accelerator's runtime was
// called, and nothing was launched. *share: of the recorded time in operators.
bool stk_device_is_unused(const struct stk_rule_ctx *ctx, double *share);
