// SPDX-License-Identifier: Apache-2.0
// The unchanged job, captured once and then measured, and the strong baseline.
#pragma once

#include "job/tune/candidates.h"
#include "job/tune/pairs.h"

// Captures, finds the candidates, sets the number of steps per run, and measures once: the second
// run of the unchanged job is one of the first pair's.
STK_MUST_CHECK enum stoker_status
stk_baseline_measure(struct stk_tuning *t, struct stk_candidates *found, struct stoker_err *err);
// The second run, if no pair was made.
STK_MUST_CHECK enum stoker_status stk_baseline_measure_again(struct stk_tuning *t,
                                                             struct stoker_err *err);
// Settings that experts use anyway: the likeliest value of each such fix that applies to the job.
struct stk_tune_set stk_baseline_strong(const struct stk_tune_facts *facts);
// Measures it in two runs, if it differs from what was kept, was not measured before, and the
// budget allows it.
STK_MUST_CHECK enum stoker_status stk_baseline_measure_strong(struct stk_tuning *t,
                                                              struct stoker_err *err);
