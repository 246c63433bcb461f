// SPDX-License-Identifier: Apache-2.0
// The end of a search: all that was kept, against the job as it was.
#ifndef STK_TUNE_LAST_PROOF_H
#define STK_TUNE_LAST_PROOF_H

#include "job/tune/pairs.h"

// Proves what was kept in fresh pairs. Where the strong baseline was measured, holds all of it and
// takes less time, that is proved first and kept instead, if it comes out faster and the job learns
// the same with it: a part of it may have had no turn, or pay only beside another.
STK_MUST_CHECK enum stoker_status stk_tune_last_proof(struct stk_tuning *t, struct stoker_err *err);
// The middle one of `count` times, at most STK_TUNE_PAIRS.
double stk_tune_middle(const double *values, int count);

#endif
