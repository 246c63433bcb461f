// SPDX-License-Identifier: Apache-2.0
// Whether a job still learns the same with a fix: its losses against those of two runs without.
//
// Losses are aligned by step number (a fix doesn't change the batch size), and compared as means
// over up to four stretches of steps. The envelope of a stretch is the range between the two runs,
// extended on each side by the width of that range. Unless the fix must not change any bit, it is
// also extended by two standard errors of the stretch's mean, since another order of samples or
// sums changes the mean by as much.
// Limits: a few dozen steps don't show what a run of days converges to.
#pragma once

#include <stddef.h>

#include "job/tune/job_facts.h"
#include "job/tune/tries.h"

enum stk_tune_numerics { STK_NUMERICS_UNKNOWN, STK_NUMERICS_SAME, STK_NUMERICS_DIFFER };
enum { STK_LOSSES_MIN = 4 }; // aligned losses; with fewer there is no verdict

struct stk_tune_losses {
    enum stk_tune_numerics numerics;
    size_t aligned; // steps with a loss in all three runs
    bool is_equal;  // bit for bit as in the first run
    double off;     // if they differ: by which share of the loss
    int64_t step;   // and from which step on
};
struct stk_tune_losses stk_losses_compare(const struct stk_vec *a, const struct stk_vec *b,
                                          const struct stk_vec *fixed,
                                          enum stk_tune_changes changes);
