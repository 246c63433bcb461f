// SPDX-License-Identifier: Apache-2.0
// Loops that launch work and run ahead of it.
#pragma once

#include "profile/model/analysis.h"

// Do the long steps (`count` indices of a->steps, in order) wait for work that other steps
// launched? *ahead is false if that can't be known. False: no memory.
bool stk_steps_run_ahead(const struct stk_analysis *a, const uint32_t *at, uint32_t count,
                         bool *ahead);
