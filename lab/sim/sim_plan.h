// SPDX-License-Identifier: Apache-2.0
// Converts a job to what its threads do: the instructions of a step.
#ifndef SIM_PLAN_H
#define SIM_PLAN_H

#include "sim_world.h"

// Puts the thread's next step (a loader's next batch) into its empty program; false: it has ended.
bool sim_plan_fill(struct sim_world *w, struct sim_thread *t);
// Do loader workers make the batches? Otherwise the training thread loads.
bool sim_plan_has_loaders(const struct sim_job *job);

#endif
