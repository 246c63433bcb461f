// SPDX-License-Identifier: Apache-2.0
// The length of a union of intervals, computed incrementally.
#pragma once

#include "profile/model/intervals.h"

// Intervals must be added in order of start.
struct stk_running_union {
    int64_t end_ns, total_ns;
};
#define STK_RUNNING_UNION ((struct stk_running_union){INT64_MIN, 0})
// Adds [start, end) and returns the part that is new. Empty: start == end.
struct stk_span stk_running_union_add(struct stk_running_union *u, int64_t start_ns,
                                      int64_t end_ns);
