// SPDX-License-Identifier: Apache-2.0
// The length of a union of intervals, as they come.
#pragma once

#include "profile/model/intervals.h"

// Length of a union of intervals that come in start order.
struct stk_running_union {
    int64_t end_ns, total_ns;
};
#define STK_RUNNING_UNION ((struct stk_running_union){INT64_MIN, 0})
// The part of [start, end) that is not in the union yet; it is added. Empty: start == end.
struct stk_span stk_running_union_add(struct stk_running_union *u, int64_t start_ns,
                                      int64_t end_ns);
