// SPDX-License-Identifier: Apache-2.0
// The end of a search: compares all kept fixes with the unchanged job.
#pragma once

#include "job/tune/pairs.h"

// Compares all kept fixes with the unchanged job in new pairs, if the pairs of the trials aren't
// enough for the search's error. Drops them if the result is slower or no different.
STK_MUST_CHECK enum stoker_status stk_tune_last_proof(struct stk_tuning *t, struct stoker_err *err);
