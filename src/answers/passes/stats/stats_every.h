// SPDX-License-Identifier: Apache-2.0
// Every analysis of stats.def at once, on one reading of the profiles: `stoker stats all`.
#pragma once

#include "answers/passes/stats/stats.h"

#define STK_STATS_EVERY "all" // instead of an analysis's name: all of them

// A hook for all of them; a rank's partial is an array of stk_stats_count partials in their order.
struct stk_view_hook stk_stats_every_hook(void);

// docs: stk_stats_count of them, initialized in the order of stk_stats_all. The partials of the
// ranks are as they were again when it returns.
STK_MUST_CHECK enum stoker_status stk_stats_every_describe(const struct stk_pass_ctx *ctx,
                                                           struct stk_table_doc *docs,
                                                           struct stoker_err *err);
