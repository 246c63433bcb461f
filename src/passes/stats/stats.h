// SPDX-License-Identifier: Apache-2.0
// Tables about one question each: `stoker stats NAME`. To add one: a file
// passes/stats/stats_<name>.c that ends in its descriptor `const struct stk_stats
// stk_stats_<name>`, and one line X(<name>) in stats.def; the command, its help and its list take
// it from there.
//
// Only one trace is in memory at a time: `see` looks at one rank while its trace is there and keeps
// what is small; `describe` makes the tables of all ranks. Either may be missing from the trace's
// point of view: an analysis that needs nothing but the summaries has no `see`.
#ifndef STK_PASSES_STATS_H
#define STK_PASSES_STATS_H

#include "model/view.h"
#include "passes/name_cache.h"
#include "passes/pass.h"
#include "passes/running_union.h"
#include "report/table.h"

struct stk_stats {
    const char *name;          // "kernels"
    const char *question;      // "Which kernels take the device's time?"
    const char *needs;         // what a profile must hold for it
    struct stk_view_hook hook; // hook.see may be NULL
    // Fill the document's summary, tables and what is missing; ctx->run->ranks[i]->partial is what
    // `see` kept of each rank, NULL where it was not called.
    STK_MUST_CHECK enum stk_status (*describe)(const struct stk_pass_ctx *ctx,
                                               struct stk_table_doc *doc, struct stk_err *err);
};

#define X(name) extern const struct stk_stats stk_stats_##name;
#include "passes/stats/stats.def"
#undef X
extern const struct stk_stats *const stk_stats_all[];
extern const int stk_stats_count;
const struct stk_stats *stk_stats_find(const char *name); // NULL: none

// The profile's part of the document, then its tables, cut at ctx->limit.
STK_MUST_CHECK enum stk_status stk_stats_describe(const struct stk_stats *stats,
                                                  const struct stk_pass_ctx *ctx,
                                                  struct stk_table_doc *doc, struct stk_err *err);

// Says that the profile holds no device operation, and how to record them. True if so.
bool stk_stats_lacks_device(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc);

#endif
