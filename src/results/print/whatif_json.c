// SPDX-License-Identifier: Apache-2.0
// Prices as JSON: their field table, walked (json_fields.c).
#include "results/print/json_fields.h"
#include "results/print/whatif_out.h"

static void write_json(const struct stk_whatif *whatif, const struct stk_out_options *options,
                       struct stk_sink *sink)
{
    (void)options;
    struct stk_json j;
    stk_json_init(&j, sink);
    stk_json_fields(&j, &stk_whatif_info, whatif);
    stk_sink_text(sink, "\n");
}

const struct stk_whatif_out stk_whatif_out_json = {
    .name = "json",
    .summary = "the versioned contract, for programs (stoker schema whatif)",
    .write = write_json,
};
