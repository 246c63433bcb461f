// SPDX-License-Identifier: Apache-2.0
// Calls of JAX's compiled functions ("PjitFunction(NAME)"), and their programs in the profile
// (XLA's modules "jit_NAME").
#pragma once

#include "profile/model/analysis.h"

// "train_step" of "PjitFunction(train_step)"; empty: not a JAX call.
struct stk_str stk_jitted_function(struct stk_str call);

// The programs of a function are neighbors in the trace: [*first, *end), which may be empty.
void stk_jitted_programs(const struct stk_trace *t, struct stk_str function, uint32_t *first,
                         uint32_t *end);

// Does a call compute gradients? True if the profile has programs of its function and all of them
// do: functions of one name ("<lambda>") count as one.
bool stk_jitted_differentiates(const struct stk_trace *t, struct stk_str call);
