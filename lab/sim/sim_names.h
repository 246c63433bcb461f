// SPDX-License-Identifier: Apache-2.0
// The name of an event in a dialect.
#ifndef SIM_NAMES_H
#define SIM_NAMES_H

#include <stddef.h>

#include "sim_job.h"
#include "sim_row.h"

enum sim_dialect { SIM_KINETO, SIM_XPLANE, SIM_NSYS, SIM_DIALECTS };
enum { SIM_NAME_SIZE = 192 };

// Written to `to`, or a constant. Empty: this producer doesn't record such events.
const char *sim_name(const struct sim_job *job, const struct sim_row *row, enum sim_dialect dialect,
                     char to[SIM_NAME_SIZE]);
const char *sim_name_of_gpu(const struct sim_job *job);

#endif
