// SPDX-License-Identifier: Apache-2.0
// How each fix changes a job, and the exact step time then: the counterfactual.
#ifndef SIM_FIX_H
#define SIM_FIX_H

#include <stdbool.h>
#include <stdint.h>

#include "sim_job.h"

struct sim_fix {
    const char *id; // ends with = if it takes a value
    const char *value, *changes;
};

extern const struct sim_fix sim_fixes[];
extern const int sim_fix_count;

// In the user's form: "fuse", "batch=4"; "batch=" or "batch" uses the table's value. NULL if
// unknown, with the nearest id in the error. `value` points into `text` or the table.
const struct sim_fix *sim_fix_find(const char *text, const char **value, struct stoker_err *err);
// Changes the job; false: not possible for this one.
bool sim_fix_apply(const struct sim_fix *fix, const char *value, struct sim_job *job,
                   struct stoker_err *err);
// Mean step of the job without a profiler, over SIM_TRUTH_STEPS steps: a multiple of the periods of
// callbacks, slow batches and compilations.
int64_t sim_truth_ns(const struct sim_job *job);

enum { SIM_TRUTH_STEPS = 30 };

#endif
