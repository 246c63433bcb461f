// SPDX-License-Identifier: Apache-2.0
// Fetches of a loader and of tf.data that belong to an evaluation.
#pragma once

#include "profile/model/analysis.h"

// The step that contains a time; STK_NONE: none. `at` only goes forward.
uint32_t stk_step_at(const struct stk_analysis *a, int64_t t_ns, uint32_t *at);
// Removes from a->fetches those that feed an evaluation or a prediction, and measures a loader's
// fetches after the optimizer. False: no memory.
bool stk_evaluated_drop(struct stk_analysis *a);
