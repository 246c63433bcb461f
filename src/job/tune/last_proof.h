// SPDX-License-Identifier: Apache-2.0
// The end of a search: all that was kept, against the job as it was.
#pragma once

#include "job/tune/pairs.h"

// Proves what was kept in fresh pairs, where the pairs of its trials cannot tell at the search's
// error. What comes out slower, or no different, is not kept.
STK_MUST_CHECK enum stoker_status stk_tune_last_proof(struct stk_tuning *t, struct stoker_err *err);
