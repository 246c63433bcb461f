// SPDX-License-Identifier: Apache-2.0
// What each fix makes of a job, and the exact time of its steps then: the counterfactual.
#ifndef SIM_FIX_H
#define SIM_FIX_H

#include <stdbool.h>
#include <stdint.h>

#include "sim_job.h"

struct sim_fix {
    const char *id; // with = at its end where it takes a value
    const char *value, *changes;
};

extern const struct sim_fix sim_fixes[];
extern const int sim_fix_count;

// As the user writes it: "fuse", "batch=4"; "batch=" or "batch" takes the table's value. NULL if
// unknown, with the nearest id in the error. `value` points into `text` or the table.
const struct sim_fix *sim_fix_find(const char *text, const char **value, struct stoker_err *err);
// Changes the job; false: it cannot be done to this one.
bool sim_fix_apply(const struct sim_fix *fix, const char *value, struct sim_job *job,
                   struct stoker_err *err);
// Mean step of the job as it runs without a profiler, over SIM_TRUTH_STEPS steps: as many as the
// periods of callbacks, slow batches and compilations divide.
int64_t sim_truth_ns(const struct sim_job *job);

enum { SIM_TRUTH_STEPS = 30 };

#endif
