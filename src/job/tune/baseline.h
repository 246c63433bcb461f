// SPDX-License-Identifier: Apache-2.0
// The job as it is: captured once, then measured; and the strong baseline beside it.
#ifndef STK_TUNE_BASELINE_H
#define STK_TUNE_BASELINE_H

#include "job/tune/candidates.h"
#include "job/tune/pairs.h"

// Captures, finds the candidates, settles how many steps a run has, and measures twice.
STK_MUST_CHECK enum stoker_status
stk_baseline_measure(struct stk_tuning *t, struct stk_candidates *found, struct stoker_err *err);
// What who knows the framework has on anyway, where that is not what was kept: in two runs, if
// reserve_s of the budget are left behind them, and if it was not measured before.
STK_MUST_CHECK enum stoker_status
stk_baseline_measure_strong(struct stk_tuning *t, double reserve_s, struct stoker_err *err);

#endif
