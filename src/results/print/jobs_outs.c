// SPDX-License-Identifier: Apache-2.0
// The outputs of several jobs by name.
#include <string.h>

#include "results/print/jobs_out.h"

#define X(name) extern const struct stk_jobs_out stk_jobs_out_##name;
#include "results/print/jobs_outs.def"
#undef X

static const struct stk_jobs_out *const outs[] = {
#define X(name) &stk_jobs_out_##name,
#include "results/print/jobs_outs.def"
#undef X
};

const struct stk_jobs_out *stk_jobs_out_find(const char *name)
{
    for (size_t i = 0; i < sizeof outs / sizeof outs[0]; i++) {
        if (strcmp(outs[i]->name, name) == 0) {
            return outs[i];
        }
    }
    return NULL;
}
