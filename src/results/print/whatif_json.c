// SPDX-License-Identifier: Apache-2.0
// Prices as JSON: their field table, walked (json_fields.c).
#include "results/print/document.h"
#include "results/print/whatif_out.h"

static void write_json(const struct stk_whatif *whatif, const struct stk_out_options *options,
                       struct stk_sink *sink)
{
    (void)options;
    stk_json_document(&stk_whatif_info, whatif, false, sink);
}

const struct stk_whatif_out stk_whatif_out_json = {
    .name = "json",
    .summary = "the versioned contract, for programs (stoker schema whatif)",
    .write = write_json,
};
