// SPDX-License-Identifier: Apache-2.0
// The tables of `stoker stats overview` that are made from the run's summary alone
// (stats_overview_run.c).
#pragma once

#include "answers/passes/stats/stats.h"

extern const struct stk_table_info stk_overview_breakdown_table, stk_overview_step_times_table,
    stk_overview_environment_table;
// Add and fill a table each.
void stk_overview_add_breakdown(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc);
void stk_overview_add_step_times(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc);
void stk_overview_add_environment(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc);
