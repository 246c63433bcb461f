// SPDX-License-Identifier: Apache-2.0
// How other programs on the cores distort the steps that were recorded.
#pragma once

#include "profile/model/summary.h"

// Did other programs hold most of the cores that the job's threads wanted?
bool stk_was_crowded_out(const struct stk_run_sum *run);
// Did they, while the job's operators ran on several threads?
bool stk_threads_were_crowded_out(const struct stk_run_sum *run);
// Time of the used steps in which long operators of PyTorch waited for a core; at most all of these
// operators' time, and at most what the steps lost. 0 if the cores were free.
int64_t stk_held_ns(const struct stk_run_sum *run);
