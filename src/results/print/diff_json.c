// SPDX-License-Identifier: Apache-2.0
// A comparison as JSON: its field table, walked (json_fields.c).
#include "results/print/diff_out.h"
#include "results/print/document.h"

static void write_json(const struct stk_diff *diff, const struct stk_out_options *options,
                       struct stk_sink *sink)
{
    (void)options;
    stk_json_document(&stk_diff_info, diff, false, sink);
}

const struct stk_diff_out stk_diff_out_json = {
    .name = "json",
    .summary = "the versioned contract, for programs (stoker schema diff)",
    .write = write_json,
};
