// SPDX-License-Identifier: Apache-2.0
// Where the work of each step is on the host: what comes before it may prepare its data.
#pragma once

#include "profile/model/steps/notable.h"

// The begin of the first and the last, and the number of a step's model operations outside of all
// fetches, and of calls that hand data over. Without any: INT64_MAX, INT64_MIN, 0.
struct stk_step_work {
    int64_t first_ns, last_ns;
    uint32_t count;
};

// Of the rank's threads, for each of the steps. False: no memory.
bool stk_step_work_find(const struct stk_analysis *a, struct stk_notable *notable,
                        struct stk_step_work *work);
// If a compiled function does the work, operations before it aren't the step's work: a function
// that prepares data also makes the framework's arrays. False: no memory.
bool stk_step_work_begin_with_main(const struct stk_analysis *a, struct stk_notable *notable,
                                   struct stk_step_work *work);
