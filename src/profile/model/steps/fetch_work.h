// SPDX-License-Identifier: Apache-2.0
// The framework's operations that run for a fetch, not for the step: those called by a function
// that makes a batch, on its own thread and on the framework's.
#pragma once

#include "profile/model/analysis.h"

struct stk_fetch_work {
    const struct stk_analysis *a;
    bool *idle;  // per fetch: the step's work has ended on other threads when it begins
    size_t near; // the last answer: the next one is mostly the same
};

// False: no memory; closed either way.
bool stk_fetch_work_open(struct stk_fetch_work *w, struct stk_analysis *a);
// If an operation that is open at t began in a fetch and runs for it: until when; else t.
int64_t stk_fetch_work_until(struct stk_fetch_work *w, uint32_t event, int64_t t_ns);
