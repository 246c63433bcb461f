// SPDX-License-Identifier: Apache-2.0
// Calls of JAX's compiled functions ("PjitFunction(NAME)"), and the programs that the profile holds
// of them (XLA's modules "jit_NAME").
#pragma once

#include "profile/model/analysis.h"

// "train_step" of "PjitFunction(train_step)"; empty: it is no call of JAX's.
struct stk_str stk_jitted_function(struct stk_str call);

// The programs of a function are neighbors in the trace: [*first, *end), none where they are
// equal.
void stk_jitted_programs(const struct stk_trace *t, struct stk_str function, uint32_t *first,
                         uint32_t *end);

// Does a call work out gradients? True where the profile holds programs of its function, and all of
// them do: functions of one name ("<lambda>") are one.
bool stk_jitted_differentiates(const struct stk_trace *t, struct stk_str call);
