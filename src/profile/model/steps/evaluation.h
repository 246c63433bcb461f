// SPDX-License-Identifier: Apache-2.0
// Steps that evaluate the model besides training it.
#pragma once

#include "profile/model/analysis.h"

// Leaves those of the long steps (a flag for each of a->steps) that evaluate; the others take
// usual_ns. The driving thread must be known. False: no memory.
bool stk_evaluating_steps(const struct stk_analysis *a, int64_t usual_ns, bool *is_long);
