// SPDX-License-Identifier: Apache-2.0
// Steps that evaluate the model besides training it.
#pragma once

#include "profile/model/analysis.h"

// is_long has a flag for each of a->steps. Clears those of long steps that don't evaluate; usual_ns
// is the length of the other steps. The driving thread must be known. False: no memory.
bool stk_evaluating_steps(const struct stk_analysis *a, int64_t usual_ns, bool *is_long);
