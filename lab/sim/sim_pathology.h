// SPDX-License-Identifier: Apache-2.0
// Healthy jobs, and what can be wrong with one.
#ifndef SIM_PATHOLOGY_H
#define SIM_PATHOLOGY_H

#include "sim_job.h"

struct sim_pathology {
    const char *id;
    const char *fix; // its cure, by id and value
    // `step_us`: of the healthy job. `u`: severity, in [0, 1).
    void (*apply)(struct sim_job *job, double step_us, double u);
};

extern const struct sim_pathology sim_pathologies[];
extern const int sim_pathology_count;

// A job whose GPU is busy and uses its tensor cores; the CPU doesn't hold it up.
void sim_pathology_healthy(struct sim_job *job, uint64_t seed);

#endif
