// SPDX-License-Identifier: Apache-2.0
// Whether a job still learns the same with a fix: its losses against those of two runs without.
//
// Losses are aligned on the number of the step (batches are as large with a fix as without), and
// compared as means over up to four stretches of steps. The envelope of a stretch is the range
// between the two runs, and on either side as much again as they are apart; unless the fix must
// change no bit, two standard errors of a stretch's mean too, since another order of samples or
// sums moves it by as much.
// Limits: some dozen steps say nothing of what a run of days converges to.
#pragma once

#include <stddef.h>

#include "job/tune/job_facts.h"
#include "job/tune/tries.h"

enum stk_tune_numerics { STK_NUMERICS_UNKNOWN, STK_NUMERICS_SAME, STK_NUMERICS_DIFFER };
enum { STK_LOSSES_MIN = 4 }; // aligned losses; with fewer there is no verdict

struct stk_tune_losses {
    enum stk_tune_numerics numerics;
    size_t aligned; // steps that all three runs have a loss of
    bool is_equal;  // bit for bit those of the first run
    double off;     // where they differ: by how much of the loss
    int64_t step;   // and from which step on
};
struct stk_tune_losses stk_losses_compare(const struct stk_vec *a, const struct stk_vec *b,
                                          const struct stk_vec *fixed,
                                          enum stk_tune_changes changes);
