// SPDX-License-Identifier: Apache-2.0
// Gaps in a thread's calls, if the input ends early (lost_calls.c).
#pragma once

#include "profile/model/analysis.h"

// Of the operators of one name: with a call of their own, without; of these, in the stretch between
// two calls that has the most. `stretch` and `here` are of the stretch in which one was seen last.
struct stk_operator_calls {
    uint32_t with, without, longest, stretch, here;
};

// Start of the first gap in the thread's calls; INT64_MAX: none, INT64_MIN: before the first call.
// names: one per string of the trace, zero before and after.
int64_t stk_lost_calls_find(const struct stk_analysis *a, uint32_t thread,
                            struct stk_operator_calls *names);
