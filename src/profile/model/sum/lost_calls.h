// SPDX-License-Identifier: Apache-2.0
// Gaps in the calls of a thread, of an input that ends early (lost_calls.c).
#pragma once

#include "profile/model/analysis.h"

// Of the operators of one name: with a call of their own, without; of these, in the stretch between
// two calls that has the most. `stretch` and `here` are of the stretch in which one was seen last.
struct stk_operator_calls {
    uint32_t with, without, longest, stretch, here;
};

// Start of the first gap in the calls of the thread; INT64_MAX without one, INT64_MIN if it comes
// before the first call. names: one per string of the trace, zero, and zero again.
int64_t stk_lost_calls_find(const struct stk_analysis *a, uint32_t thread,
                            struct stk_operator_calls *names);
