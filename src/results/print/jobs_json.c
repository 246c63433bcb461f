// SPDX-License-Identifier: Apache-2.0
// Several jobs as JSON: their field table, walked (json_fields.c).
#include "results/print/jobs_out.h"
#include "results/print/document.h"

static void write_json(const struct stk_jobs *jobs, const struct stk_out_options *options,
                       struct stk_sink *sink)
{
    (void)options;
    stk_json_document(&stk_jobs_info, jobs, false, sink);
}

const struct stk_jobs_out stk_jobs_out_json = {
    .name = "json",
    .summary = "the versioned contract, for programs (stoker schema jobs)",
    .write = write_json,
};
