// SPDX-License-Identifier: Apache-2.0
// The analyses of `stoker stats` by name, and their shared functions.
#include "answers/passes/stats/stats.h"

#include <string.h>

#include "base/assert.h"
#include "base/near.h"

const struct stk_stats *const stk_stats_all[] = {
#define X(name) &stk_stats_##name,
#include "answers/passes/stats/stats.def"
#undef X
};
const int stk_stats_count = sizeof stk_stats_all / sizeof stk_stats_all[0];

const struct stk_stats *stk_stats_find(const char *name)
{
    for (int i = 0; i < stk_stats_count; i++) {
        if (strcmp(stk_stats_all[i]->name, name) == 0) {
            return stk_stats_all[i];
        }
    }
    return NULL;
}

enum stoker_status stk_stats_unknown(const char *name, struct stoker_err *err)
{
    const char *best = NULL;
    for (int i = 0; i < stk_stats_count; i++) {
        best = stk_near_best(name, best, stk_stats_all[i]->name);
    }
    if (best) {
        return stk_err_set(err, STOKER_EUSAGE, "no analysis '%.80s'; did you mean '%s'?", name,
                           best);
    }
    return stk_err_set(err, STOKER_EUSAGE, "no analysis '%.80s'; 'stoker stats' lists them all",
                       name);
}

const struct stk_stats *stk_stats_by(const struct stk_stats *stats, const char *by,
                                     struct stoker_err *err)
{
    char known[200] = "";
    if (!by) {
        return stats;
    }
    if (!stats->by) {
        stk_err_set(err, STOKER_EUSAGE, "the analysis %s has no other keys", stats->name);
        return NULL;
    }
    for (size_t i = 0; stats->by[i]; i++) {
        if (strcmp(stats->by[i]->name, by) == 0) {
            return stats->by[i];
        }
        strncat(known, i ? ", " : "", sizeof known - strlen(known) - 1);
        strncat(known, stats->by[i]->name, sizeof known - strlen(known) - 1);
    }
    stk_err_set(err, STOKER_EUSAGE, "no key '%.80s' for %s; choose from: %s", by, stats->name,
                known);
    return NULL;
}

bool stk_stats_check(const struct stk_stats *stats, const struct stk_table_doc *doc)
{
    STK_ASSERT(stats->name && stats->question);
    for (size_t i = 0; i < doc->table_count; i++) {
        size_t t = 0;
        while (stats->tables[t] && stats->tables[t]->columns != doc->tables[i].columns) {
            t++;
        }
        if (!stats->tables[t]) {
            return false;
        }
    }
    for (size_t i = 0; i < doc->missing_count; i++) {
        size_t m = 0;
        while (stats->missing[m] && stats->missing[m]->what != doc->missing[i].what) {
            m++;
        }
        if (!stats->missing[m]) {
            return false;
        }
    }
    return (doc->summary_count == 0 || doc->summary_count == stats->summary->figure_count) &&
           stk_table_check(doc) == NULL;
}

enum stoker_status stk_stats_describe(const struct stk_stats *stats, const struct stk_pass_ctx *ctx,
                                      struct stk_table_doc *doc, struct stoker_err *err)
{
    struct stk_report report = {.schema = NULL};
    enum stoker_status status = stk_pass_profile.describe(ctx, &report, err);
    doc->profile = report.profile;
    if (status == STOKER_OK) {
        stats->describe(ctx, doc);
        status = stk_table_doc_ran_out(doc) ? stk_err_nomem(err) : STOKER_OK;
        STK_ASSERT(status != STOKER_OK || stk_stats_check(stats, doc));
    }
    for (size_t i = 0; i < doc->table_count; i++) {
        stk_table_cut(&doc->tables[i], ctx->limit);
    }
    return status;
}

const struct stk_missing stk_missing_device = {
    "device operations", "the profile has no kernel, copy or memset",
    "record GPU activity: ProfilerActivity.CUDA in torch.profiler, --trace=cuda in nsys profile, a "
    "TensorFlow or JAX build with GPU tracing"};

bool stk_stats_lacks_device(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    for (uint32_t d = 0; d < ctx->run->device_count; d++) {
        if (ctx->run->devices[d].ops > 0) {
            return false;
        }
    }
    stk_table_lacks(doc, &stk_missing_device);
    doc->inconclusive = true;
    return true;
}
