// SPDX-License-Identifier: Apache-2.0
// An output prints the jobs that profiles are of, where they are several. To add one: a file
// render/jobs_<name>.c that ends in its descriptor `const struct stk_jobs_out stk_jobs_out_<name>`,
// and one line X(<name>) in jobs_outs.def.
#ifndef STK_OUT_JOBS_OUT_H
#define STK_OUT_JOBS_OUT_H

#include "results/print/out.h"
#include "results/jobs.h"

struct stk_jobs_out {
    const char *name, *summary;
    void (*write)(const struct stk_jobs *jobs, const struct stk_out_options *options,
                  struct stk_sink *sink);
};
const struct stk_jobs_out *stk_jobs_out_find(const char *name); // NULL: none

#endif
