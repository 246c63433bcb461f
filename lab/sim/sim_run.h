// SPDX-License-Identifier: Apache-2.0
// A run of a job, from begin to end.
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include <stdbool.h>

#include "sim_job.h"
#include "sim_row.h"

// Whose time is added: none; that of one that slows every call of the runtime; of one that sees
// only calls that queue work or wait for it.
enum sim_profiler { SIM_UNPROFILED, SIM_PROFILED, SIM_PROFILED_WORK };

struct sim_result {
    uint32_t steps;
    // Of rank 0: where a step begins on its device: when the host begins it or, if later, when all
    // work that was launched before has ended. steps + 1 of them: the last is where all ends.
    int64_t *bounds_ns;
    int64_t step_ns;   // mean of the steps from WARMUP on, the last one left out
    int64_t median_ns; // lower median of them
    uint64_t events;
};

enum {
    SIM_WARMUP = 2
}; // steps that fill queues and buffers, and may compile; the last has no successor to prepare

// `see` gets each row when what it tells of has ended; NULL where only times are asked for.
void sim_run(const struct sim_job *job, enum sim_profiler profiler,
             void (*see)(void *arg, const struct sim_row *row), void *arg, struct sim_result *out);
void sim_result_free(struct sim_result *r);

#endif
