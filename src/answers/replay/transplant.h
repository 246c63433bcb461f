// SPDX-License-Identifier: Apache-2.0
// A prediction that the profile itself can check: since steps differ, predicts the time of step k +
// 1 from the graph of step k with the durations of step k + 1, and compares.
#pragma once

#include "answers/replay/replay.h"

// Errors, as shares, for pairs of neighboring used steps that do the same work: up to step_count of
// them. `was` has the recorded borders of the steps, `t` is overwritten. False: no memory.
bool stk_transplant_check(const struct stk_graph *g, struct stk_times *t, const int64_t *was,
                          double *errors, size_t *count);
