// SPDX-License-Identifier: Apache-2.0
// What kinds of events does the profile hold? kinds: how many there are of each, and how long they
// last together; events inside others count again. One pass over the events.
//
// Recipe of an analysis: src/answers/passes/stats/stats_kinds.c and X(kinds) in
// src/answers/passes/stats/stats.def. `stoker stats kinds`, the list of analyses and docs/stats.md
// come from the descriptor at the end.
#include "answers/passes/stats/stats.h"

// What is kept of a rank: small, since its trace is freed before `describe`.
struct kinds_partial {
    int64_t count[STK_KIND_COUNT], total_ns[STK_KIND_COUNT];
};

static enum stoker_status kinds_see(const struct stk_analysis *view, struct stk_arena *arena,
                                    void **partial, struct stoker_err *err)
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
    return STOKER_OK;
}

#define KINDS_COLUMNS(C, R)                                                                        \
    C(R, kind, TEXT, "kind of the events")                                                         \
    C(R, count, COUNT, "events of the kind on host and device")                                    \
    C(R, total_ns, NS, "their durations, summed")
STK_TABLE(kinds, "Kinds of events", KINDS_COLUMNS)

#define KINDS_FIGURES(C, R) C(R, events, COUNT, "events of all kinds")
STK_SUMMARY(kinds, KINDS_FIGURES)

static void kinds_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    struct stk_table *table = stk_table_add(doc, &kinds_table);
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
        const struct kinds_row row = {
            .kind = stk_cell_text(stk_kind_key((enum stk_kind)k)),
            .count = stk_cell_number(all.count[k]),
            .total_ns = stk_cell_number(all.total_ns[k]),
        };
        if (all.count[k]) {
            stk_table_put(table, &row);
        }
        events += all.count[k];
    }
    const struct kinds_summary summary = {.events = stk_cell_number(events)};
    stk_table_summarize(doc, &kinds_summary_info, &summary);
    stk_table_sort(table, "count");
}

const struct stk_stats stk_stats_kinds = {
    .name = "kinds",
    .question = "What kinds of events does the profile hold?",
    .needs = "events",
    .tables = {&kinds_table},
    .summary = &kinds_summary_info,
    .hook = {.see = kinds_see},
    .describe = kinds_describe,
};
