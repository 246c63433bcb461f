// SPDX-License-Identifier: Apache-2.0
// When does the device stand idle, and what is the host doing then?
// gaps: those between operations of a device, the longest first, with their cause, the host event
// that fills most of that cause, the operator around it (inside) or, where nothing runs, what ended
// last (after), and the host's stack there; causes: all gaps, summed exactly (a
// gap may have several causes); between_steps: what runs between the steps of the host. Time before
// a device's first operation and after its last is no gap here. How each is found, and its limits:
// stats_gaps_find.c, stats_gaps_between.c.
#include "base/alloc.h"
#include "passes/stats/stats.h"
#include "passes/stats/stats_gaps.h"

static enum stk_status gaps_see(const struct stk_analysis *view, struct stk_arena *arena,
                                void **partial, struct stk_err *err)
{
    struct stk_gap_sums *out = stk_arena_alloc(arena, sizeof *out);
    if (!out || !stk_gaps_find(view, arena, out) || !stk_gaps_between_steps(view, arena, out)) {
        return stk_err_nomem(err);
    }
    out->base_ns = view->sum->base_ns;
    *partial = out;
    return STK_OK;
}

static const struct stk_column gap_columns[] = {
    {.id = "device", .type = STK_CELL_TEXT},
    {.id = "start_ns", .type = STK_CELL_NS},
    {.id = "dur_ns", .type = STK_CELL_NS},
    {.id = "cause", .type = STK_CELL_TEXT},
    {.id = "what", .type = STK_CELL_TEXT, .is_name = true},
    {.id = "inside", .type = STK_CELL_TEXT, .is_name = true, .is_detail = true},
    {.id = "step", .type = STK_CELL_COUNT},
    {.id = "after", .type = STK_CELL_TEXT, .is_name = true, .is_detail = true},
    {.id = "stack", .type = STK_CELL_TEXT, .is_name = true, .is_path = true, .is_detail = true},
};
static const struct stk_column cause_columns[] = {
    {.id = "cause", .type = STK_CELL_TEXT},
    {.id = "gaps", .type = STK_CELL_COUNT},
    {.id = "total_ns", .type = STK_CELL_NS},
    {.id = "idle_share", .type = STK_CELL_SHARE},
};

static const struct stk_column between_columns[] = {
    {.id = "rank", .type = STK_CELL_COUNT, .is_detail = true},
    {.id = "after_step", .type = STK_CELL_COUNT},
    {.id = "start_ns", .type = STK_CELL_NS, .is_detail = true},
    {.id = "dur_ns", .type = STK_CELL_NS},
    {.id = "fetch_ns", .type = STK_CELL_NS},
    {.id = "idle_ns", .type = STK_CELL_NS},
    {.id = "what", .type = STK_CELL_TEXT, .is_name = true},
    {.id = "every", .type = STK_CELL_COUNT},
    {.id = "stack", .type = STK_CELL_TEXT, .is_name = true, .is_path = true, .is_detail = true},
};

static bool fill_between(struct stk_table *table, const struct stk_rank_sum *rank,
                         struct stk_gap_sums *all)
{
    const struct stk_gap_sums *p = rank->partial;
    int64_t shift_ns = p ? p->base_ns - rank->base_ns : 0; // onto the clock of all ranks
    for (size_t i = 0; p && i < p->between_count; i++) {
        const struct stk_between_row *b = &p->between[i];
        struct stk_cell *row = stk_table_row(table);
        if (!row) {
            return false;
        }
        row[0] = stk_cell_number(rank->rank);
        row[1] = stk_cell_number(b->step);
        row[2] = stk_cell_number(b->start_ns + shift_ns);
        row[3] = stk_cell_number(b->dur_ns);
        row[4] = stk_cell_number(b->fetch_ns);
        row[5] = b->idle_ns >= 0 ? stk_cell_number(b->idle_ns) : stk_cell_unknown();
        row[6] = stk_cell_text(b->what);
        row[7] = b->every > 0 ? stk_cell_number(b->every) : stk_cell_unknown();
        row[8] = stk_cell_text(b->stack);
    }
    all->between_ns += p ? p->between_ns : 0;
    all->steps_ns += p ? p->steps_ns : 0;
    return true;
}

static bool fill_rank(struct stk_table *table, const struct stk_rank_sum *rank,
                      struct stk_gap_sums *all)
{
    const struct stk_gap_sums *p = rank->partial;
    int64_t shift_ns = p ? p->base_ns - rank->base_ns : 0; // onto the clock of all ranks
    for (size_t i = 0; p && i < p->count; i++) {
        const struct stk_gap_row *g = &p->rows[i];
        struct stk_cell *row = stk_table_row(table);
        if (!row) {
            return false;
        }
        row[0] = stk_cell_text(rank->devices[g->line].id);
        row[1] = stk_cell_number(g->start_ns + shift_ns);
        row[2] = stk_cell_number(g->dur_ns);
        row[3] = stk_cell_text(g->part < 0 ? NULL : stk_part_info((enum stk_part)g->part)->key);
        row[4] = stk_cell_text(g->what);
        row[5] = stk_cell_text(g->inside);
        row[6] = g->has_step ? stk_cell_number(g->step) : stk_cell_unknown();
        row[7] = stk_cell_text(g->after);
        row[8] = stk_cell_text(g->stack);
    }
    all->idle_ns += p ? p->idle_ns : 0;
    all->gaps += p ? p->gaps : 0;
    all->dropped += p ? p->dropped : 0;
    for (int i = 0; p && i < STK_PART_COUNT; i++) {
        all->part_ns[i] += p->part_ns[i];
        all->part_gaps[i] += p->part_gaps[i];
    }
    return true;
}

static bool fill_causes(struct stk_table *table, const struct stk_gap_sums *all)
{
    for (int p = 0; p < STK_PART_COUNT; p++) {
        if (all->part_ns[p] == 0) {
            continue;
        }
        struct stk_cell *row = stk_table_row(table);
        if (!row) {
            return false;
        }
        row[0] = stk_cell_text(stk_part_info((enum stk_part)p)->key);
        row[1] = stk_cell_number((int64_t)all->part_gaps[p]);
        row[2] = stk_cell_number(all->part_ns[p]);
        row[3] = stk_cell_share_of(all->part_ns[p], all->idle_ns);
    }
    return true;
}

static void say_figures(struct stk_table_doc *doc, const struct stk_run_sum *run,
                        const struct stk_gap_sums *all, bool has_device)
{
    int64_t known_ns = 0;
    for (int p = 0; p < STK_PART_COUNT; p++) {
        known_ns += p == STK_PART_UNKNOWN ? 0 : all->part_ns[p];
    }
    if (has_device) {
        stk_table_figure(doc, "gaps", STK_CELL_COUNT, stk_cell_number((int64_t)all->gaps));
        stk_table_figure(doc, "idle_ns", STK_CELL_NS, stk_cell_number(all->idle_ns));
        stk_table_figure(doc, "explained_share", STK_CELL_SHARE,
                         stk_cell_share_of(known_ns, all->idle_ns));
    }
    bool known = all->steps_ns > 0;
    stk_table_figure(doc, "between_steps_ns", STK_CELL_NS,
                     known ? stk_cell_number(all->between_ns) : stk_cell_unknown());
    stk_table_figure(doc, "between_steps_share", STK_CELL_SHARE,
                     stk_cell_share_of(all->between_ns, all->steps_ns));
    if (!known) {
        stk_table_lacks(doc, "what runs between steps",
                        run->step_count ? "no two steps in a row are marked on the host"
                                        : "no step is marked on the host",
                        "record several steps, marked with profiler.step() in torch.profiler, "
                        "tf.profiler.experimental.Trace or jax.profiler.StepTraceAnnotation");
    }
}

static enum stk_status gaps_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc,
                                     struct stk_err *err)
{
    struct stk_table *gaps = stk_table_add(doc, "gaps", "Longest gaps", gap_columns,
                                           sizeof gap_columns / sizeof gap_columns[0]);
    struct stk_table *causes = stk_table_add(doc, "causes", "Causes of all gaps", cause_columns,
                                             sizeof cause_columns / sizeof cause_columns[0]);
    struct stk_table *between =
        stk_table_add(doc, "between_steps", "Between the steps of the host", between_columns,
                      sizeof between_columns / sizeof between_columns[0]);
    struct stk_gap_sums all = {.count = 0};
    bool has_device = !stk_stats_lacks_device(ctx, doc);
    stk_table_keep(gaps, "dur_ns", ctx->limit);
    stk_table_keep(between, "dur_ns", ctx->limit);
    for (uint32_t r = 0; r < ctx->run->rank_count; r++) {
        if (!fill_between(between, ctx->run->ranks[r], &all) ||
            !fill_rank(gaps, ctx->run->ranks[r], &all)) {
            return stk_err_nomem(err);
        }
    }
    gaps->rows_left_out += all.dropped;
    if (!fill_causes(causes, &all) || !stk_table_sort(gaps, "dur_ns") ||
        !stk_table_sort(causes, "total_ns") || !stk_table_sort(between, "dur_ns")) {
        return stk_err_nomem(err);
    }
    say_figures(doc, ctx->run, &all, has_device);
    return STK_OK;
}

const struct stk_stats stk_stats_gaps = {
    .name = "gaps",
    .question = "When does the device stand idle, and what is the host doing then?",
    .needs = "operations of a device; host events for the causes",
    .hook = {.see = gaps_see, .wants_gaps = true},
    .describe = gaps_describe,
};
