// SPDX-License-Identifier: Apache-2.0
// Loops that launch work and run ahead of it.
#pragma once

#include "profile/model/analysis.h"

// Are the long steps (`count` indices of a->steps, in order) those that wait for work which others
// launched? *ahead is false where it cannot be known. False: no memory.
bool stk_steps_run_ahead(const struct stk_analysis *a, const uint32_t *at, uint32_t count,
                         bool *ahead);
