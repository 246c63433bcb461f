// SPDX-License-Identifier: Apache-2.0
// What kinds of events does the profile hold? kinds: how many there are of each, and how long they
// last together; events inside others count again. One pass over the events.
//
// Recipe of an analysis: src/passes/stats/stats_kinds.c and X(kinds) in src/passes/stats/stats.def.
// `stoker stats kinds`, the list of analyses and docs/stats.md come from the descriptor at the end.
#include "passes/stats/stats.h"

// What is kept of a rank: small, since its trace is freed before `describe`.
struct kinds_partial {
    int64_t count[STK_KIND_COUNT], total_ns[STK_KIND_COUNT];
};

static enum stk_status kinds_see(const struct stk_analysis *view, struct stk_arena *arena,
                                 void **partial, struct stk_err *err)
{
    const struct stk_trace *t = view->t;
    struct kinds_partial *out = stk_arena_alloc(arena, sizeof *out); // zeroed
    if (!out) {
        return stk_err_nomem(err);
    }
    for (uint32_t k = 0; k < t->track_count; k++) {
        const struct stk_track *track = &t->tracks[k];
        if (!view->in_rank[track->process]) {
            continue;
        }
        for (uint32_t e = track->first; e < track->first + track->count; e++) {
            out->count[t->kind[e]]++;
            out->total_ns[t->kind[e]] += stk_dur_ns(t, e);
        }
    }
    *partial = out;
    return STK_OK;
}

static const struct stk_column kind_columns[] = {
    {.id = "kind", .type = STK_CELL_TEXT},
    {.id = "count", .type = STK_CELL_COUNT},
    {.id = "total_ns", .type = STK_CELL_NS},
};

static enum stk_status kinds_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc,
                                      struct stk_err *err)
{
    struct stk_table *table = stk_table_add(doc, "kinds", "Kinds of events", kind_columns,
                                            sizeof kind_columns / sizeof kind_columns[0]);
    struct kinds_partial all = {0};
    int64_t events = 0;
    for (uint32_t r = 0; r < ctx->run->rank_count; r++) {
        const struct kinds_partial *p = ctx->run->ranks[r]->partial;
        for (int k = 0; p && k < STK_KIND_COUNT; k++) {
            all.count[k] += p->count[k];
            all.total_ns[k] += p->total_ns[k];
        }
    }
    for (int k = 0; k < STK_KIND_COUNT; k++) {
        struct stk_cell *row = all.count[k] ? stk_table_row(table) : NULL;
        if (all.count[k] && !row) {
            return stk_err_nomem(err);
        }
        if (row) {
            row[0] = stk_cell_text(stk_kind_key((enum stk_kind)k));
            row[1] = stk_cell_number(all.count[k]);
            row[2] = stk_cell_number(all.total_ns[k]);
        }
        events += all.count[k];
    }
    stk_table_figure(doc, "events", STK_CELL_COUNT, stk_cell_number(events));
    return stk_table_sort(table, "count") ? STK_OK : stk_err_nomem(err);
}

const struct stk_stats stk_stats_kinds = {
    .name = "kinds",
    .question = "What kinds of events does the profile hold?",
    .needs = "events",
    .hook = {.see = kinds_see},
    .describe = kinds_describe,
};
