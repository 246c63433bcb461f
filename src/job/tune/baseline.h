// SPDX-License-Identifier: Apache-2.0
// The unchanged job, captured once and then measured; and the strong baseline.
#pragma once

#include "job/tune/candidates.h"
#include "job/tune/pairs.h"

// Captures, finds the candidates, settles how many steps a run has, and measures once: the second
// run of the job as it is is one of the first pair's.
STK_MUST_CHECK enum stoker_status
stk_baseline_measure(struct stk_tuning *t, struct stk_candidates *found, struct stoker_err *err);
// The second run, where no pair was made.
STK_MUST_CHECK enum stoker_status stk_baseline_measure_again(struct stk_tuning *t,
                                                             struct stoker_err *err);
// What who knows the framework has on anyway: the likeliest value of each such fix that has a place
// in the job.
struct stk_tune_set stk_baseline_strong(const struct stk_tune_facts *facts);
// The same beside what was kept, in two runs, if it is another one, was not measured before, and
// the budget has room.
STK_MUST_CHECK enum stoker_status stk_baseline_measure_strong(struct stk_tuning *t,
                                                              struct stoker_err *err);
