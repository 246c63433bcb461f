// SPDX-License-Identifier: Apache-2.0
// Operations of the framework that run for a fetch and not for the step: those that a function that
// makes a batch calls, on its own thread and on the framework's.
#pragma once

#include "profile/model/analysis.h"

struct stk_fetch_work {
    const struct stk_analysis *a;
    bool *idle;  // per fetch: nothing of the step's runs on other threads when it begins
    size_t near; // the fetch that the last question was about: the next one is mostly the same
};

// False: no memory; closed either way.
bool stk_fetch_work_open(struct stk_fetch_work *w, struct stk_analysis *a);
// Until when an operation that is open at t runs for a fetch that it began in; t itself: for none.
int64_t stk_fetch_work_until(struct stk_fetch_work *w, uint32_t event, int64_t t_ns);
