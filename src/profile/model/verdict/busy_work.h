// SPDX-License-Identifier: Apache-2.0
// Work that a step doesn't need, although by its names it is the model's.
#pragma once

#include "profile/model/summary.h"

enum stk_busy_work {
    STK_BUSY_NONE,
    STK_BUSY_ANOMALY, // PyTorch's anomaly detection searches each gradient for NaN
    STK_BUSY_TINY,    // a step on the host is thousands of tiny PyTorch operations
};

// The first of them that the run shows.
enum stk_busy_work stk_busy_work_of(const struct stk_run_sum *run);
// The share of the steps that is call overhead of tiny operations; 0 if the steps don't consist of
// them.
double stk_tiny_share(const struct stk_run_sum *run);
// The share of the steps that is PyTorch's operators, without their waits for a core.
double stk_calls_share(const struct stk_run_sum *run);
// Events of a sign per step, on average; in total if no steps are marked.
double stk_sign_a_step(const struct stk_run_sum *run, enum stk_sign which);

// TensorFlow runs the steps operation by operation, each called from Python.
bool stk_runs_eagerly(const struct stk_run_sum *run);
