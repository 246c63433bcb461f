// SPDX-License-Identifier: Apache-2.0
// The report as JSON: its field table, walked (json_fields.c).
#include "results/print/document.h"
#include "results/print/out.h"

static void write_json(const struct stk_report *report, const struct stk_out_options *options,
                       struct stk_sink *sink)
{
    (void)options;
    stk_json_document(&stk_report_info, report, false, sink);
}

const struct stk_out stk_out_json = {
    .name = "json",
    .summary = "the versioned contract, for programs (stoker schema report)",
    .write = write_json,
};
