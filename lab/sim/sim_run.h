// SPDX-License-Identifier: Apache-2.0
// A run of a job, from start to end.
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include <stdbool.h>

#include "sim_job.h"
#include "sim_row.h"

// Whose overhead is added: none; a profiler that slows every runtime call; one that only sees calls
// that queue work or wait for it.
enum sim_profiler { SIM_UNPROFILED, SIM_PROFILED, SIM_PROFILED_WORK };

struct sim_result {
    uint32_t steps;
    // Rank 0: where a step starts on its device: when the CPU starts it or, if later, when all work
    // launched before has ended. steps + 1 of them: the last is the end of everything.
    int64_t *bounds_ns;
    int64_t step_ns;   // mean of the steps from WARMUP on, without the last
    int64_t median_ns; // lower median of them
    uint64_t events;
};

enum {
    SIM_WARMUP = 2
}; // steps that fill queues and buffers, and may compile; the last has no successor to prepare

// `see` gets each row when its event has ended; NULL if only times are needed.
void sim_run(const struct sim_job *job, enum sim_profiler profiler,
             void (*see)(void *arg, const struct sim_row *row), void *arg, struct sim_result *out);
void sim_result_free(struct sim_result *r);

#endif
