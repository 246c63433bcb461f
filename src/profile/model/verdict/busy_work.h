// SPDX-License-Identifier: Apache-2.0
// Work that a step could do without although it is the model's own by all names.
#pragma once

#include "profile/model/summary.h"

enum stk_busy_work {
    STK_BUSY_NONE,
    STK_BUSY_ANOMALY, // PyTorch's anomaly detection searches each gradient for NaN
    STK_BUSY_TINY,    // a step on the host is thousands of tiny operations of PyTorch's
};

// The first of them that the run shows.
enum stk_busy_work stk_busy_work_of(const struct stk_run_sum *run);
// The share of the steps that calls of tiny operations are, and no work; 0 where they are not what
// a step is made of.
double stk_tiny_share(const struct stk_run_sum *run);
// Events of a sign in a step, on average; where no steps are marked, in all.
double stk_sign_a_step(const struct stk_run_sum *run, enum stk_sign which);

// TensorFlow runs the steps operation by operation, each called from Python.
bool stk_runs_eagerly(const struct stk_run_sum *run);
