// SPDX-License-Identifier: Apache-2.0
// The table of dialects.
#include <string.h>

#include "sim_writer.h"

static const struct sim_writer *const writers[] = {
#define X(name) &sim_writer_##name,
#include "sim_writers.def"
#undef X
};

const struct sim_writer *sim_writer_find(const char *name)
{
    for (size_t i = 0; i < sizeof writers / sizeof writers[0]; i++) {
        if (strcmp(writers[i]->name, name) == 0) {
            return writers[i];
        }
    }
    return NULL;
}

const struct sim_writer *sim_writer_of(const struct sim_job *job)
{
    static const struct sim_writer *const of[] = {[SIM_PYTORCH] = &sim_writer_kineto,
                                                  [SIM_TENSORFLOW] = &sim_writer_xplane,
                                                  [SIM_CUDA] = &sim_writer_nsys};
    return of[job->framework];
}
