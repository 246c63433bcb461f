// SPDX-License-Identifier: Apache-2.0
// Fetches of a loader and of tf.data that are an evaluation's.
#pragma once

#include "profile/model/analysis.h"

// Step that holds a time; STK_NONE: none. `at` only goes forward.
uint32_t stk_step_at(const struct stk_analysis *a, int64_t t_ns, uint32_t *at);
// Takes those out of a->fetches that feed an evaluation, or a prediction, and measures those of a
// loader's after the optimizer. False: no memory.
bool stk_evaluated_drop(struct stk_analysis *a);
