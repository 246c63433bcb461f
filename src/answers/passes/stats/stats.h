// SPDX-License-Identifier: Apache-2.0
// Tables about one question each: `stoker stats NAME`. To add one: a file
// passes/stats/stats_<name>.c that ends in its descriptor `const struct stk_stats
// stk_stats_<name>`, and one line X(<name>) in stats.def; the command, its help and its list take
// it from there.
//
// Only one trace is in memory at a time: `see` looks at one rank while its trace is there and keeps
// little; `describe` makes the tables of all ranks. An analysis that only needs the summaries has
// no `see`.
//
// Each descriptor declares what its analysis may put into its document; docs/stats.md is generated
// from that.
#pragma once

#include "profile/model/view.h"
#include "answers/passes/name_cache.h"
#include "answers/passes/pass.h"
#include "answers/passes/running_union.h"
#include "results/table.h"

#define STK_STATS_MISSING 10

struct stk_stats {
    const char *name;     // "kernels"
    const char *question; // "Which kernels take the device's time?"
    const char *needs;    // what a profile must contain for it
    const struct stk_table_info *tables[STK_TABLE_MAX + 1]; // in their order, NULL at the end
    const struct stk_summary_info *summary;
    const struct stk_missing *missing[STK_STATS_MISSING + 1]; // that it may report; NULL at the end
    struct stk_view_hook hook;                                // hook.see may be NULL
    // The same question by a key (`--by NAME`): each has its own tables, summary and hook.
    // NULL-terminated; NULL: no keys.
    const struct stk_stats *const *by;
    // Fills the document's summary, tables and the list of missing data;
    // ctx->run->ranks[i]->partial is the data that `see` kept of a rank, NULL if it wasn't called.
    // It can only fail for lack of memory, which the document remembers.
    void (*describe)(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc);
};

// Columns of most tables.
#define STK_DOC_DEVICE "device, as the report names it: `rank/ordinal`"
#define STK_DOC_RANK "rank of its process"

#define X(name) extern const struct stk_stats stk_stats_##name;
#include "answers/passes/stats/stats.def"
#undef X
extern const struct stk_stats *const stk_stats_all[];
extern const int stk_stats_count;
const struct stk_stats *stk_stats_find(const char *name); // NULL: none
// STOKER_EUSAGE: no analysis has that name; suggests similar ones.
enum stoker_status stk_stats_unknown(const char *name, struct stoker_err *err);
// The row of `by`, or the analysis itself if it is NULL. NULL and STOKER_EUSAGE: no such key.
const struct stk_stats *stk_stats_by(const struct stk_stats *stats, const char *by,
                                     struct stoker_err *err);

// The profile's part of the document, then its tables, cut at ctx->limit.
STK_MUST_CHECK enum stoker_status stk_stats_describe(const struct stk_stats *stats,
                                                     const struct stk_pass_ctx *ctx,
                                                     struct stk_table_doc *doc,
                                                     struct stoker_err *err);

// Checks that the document contains exactly what its analysis declares, and each cell what its
// column does: an invariant for any profile.
bool stk_stats_check(const struct stk_stats *stats, const struct stk_table_doc *doc);

// If the profile has no device operations, reports that (stk_missing_device), with how to record
// them, and returns true.
extern const struct stk_missing stk_missing_device;
bool stk_stats_lacks_device(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc);
