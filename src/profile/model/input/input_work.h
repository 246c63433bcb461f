// SPDX-License-Identifier: Apache-2.0
// When threads of tf.data's are at work beside the thread that trains, and when those of the model.
#pragma once

#include "profile/model/analysis.h"

struct stk_input_work {
    struct stk_spans any;   // time in which one of tf.data's works: a set
    struct stk_spans model; // time in which one of all others but the driver is in an event: a set
    bool calls_python;      // functions of Python's make elements
};

// The sets are initialized, and empty. False: no memory.
bool stk_input_work_find(const struct stk_analysis *a, struct stk_input_work *work);
