// SPDX-License-Identifier: Apache-2.0
// Several jobs as JSON: their field table, walked (json_fields.c).
#include "results/print/jobs_out.h"
#include "results/print/json_fields.h"

static void write_json(const struct stk_jobs *jobs, const struct stk_out_options *options,
                       struct stk_sink *sink)
{
    (void)options;
    struct stk_json j;
    stk_json_init(&j, sink);
    stk_json_fields(&j, &stk_jobs_info, jobs);
    stk_sink_text(sink, "\n");
}

const struct stk_jobs_out stk_jobs_out_json = {
    .name = "json",
    .summary = "the versioned contract, for programs (stoker schema jobs)",
    .write = write_json,
};
