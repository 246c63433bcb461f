// SPDX-License-Identifier: Apache-2.0
// When tf.data's threads work next to the training thread, and when the model's do.
#pragma once

#include "profile/model/analysis.h"

struct stk_input_work {
    struct stk_spans any; // set of time in which a tf.data thread works
    struct stk_spans
        model;         // set of time in which another thread, except the driver, is in an event
    bool calls_python; // Python functions make elements
};

// The sets are initialized, and empty. False: no memory.
bool stk_input_work_find(const struct stk_analysis *a, struct stk_input_work *work);
