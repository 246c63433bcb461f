// SPDX-License-Identifier: Apache-2.0
// When is the device idle, and what does the host do then?
// gaps: those between operations of a device, the longest first, with their cause, the host event
// that fills most of that cause, the operator around it (inside) or, where nothing runs, what ended
// last (after), and the host's stack there; causes: all gaps, summed exactly (a
// gap may have several causes); between_steps: what runs between the steps of the host. Time before
// a device's first operation and after its last is no gap here. How each is found, and its limits:
// stats_gaps_find.c, stats_gaps_between.c.
#include "base/alloc.h"
#include "answers/passes/stats/stats.h"
#include "answers/passes/stats/stats_gaps.h"

static enum stoker_status gaps_see(const struct stk_analysis *view, struct stk_arena *arena,
                                   void **partial, struct stoker_err *err)
{
    struct stk_gap_sums *out = stk_arena_alloc(arena, sizeof *out);
    if (!out || !stk_gaps_find(view, arena, out) || !stk_gaps_between_steps(view, arena, out)) {
        return stk_err_nomem(err);
    }
    out->base_ns = view->sum->base_ns;
    *partial = out;
    return STOKER_OK;
}

#define GAPS_COLUMNS(C, R)                                                                         \
    C(R, device, TEXT, STK_DOC_DEVICE)                                                             \
    C(R, start_ns, NS, "end of the operation before the gap")                                      \
    C(R, dur_ns, NS, "length of the gap, up to the next operation of the device")                  \
    C(R, cause, TEXT,                                                                              \
      "part of a step that most of the gap belongs to, as in the report's breakdown; "             \
      "unknown outside steps")                                                                     \
    C(R, what, TEXT, "CPU event that fills the longest piece of that cause", .is_name = true)      \
    C(R, inside, TEXT, "operator around that event", .is_name = true, .is_detail = true)           \
    C(R, step, COUNT, "step of the device in which the gap starts")                                \
    C(R, after, TEXT, "the last event that ended, if nothing runs on the CPU", .is_name = true,    \
      .is_detail = true)                                                                           \
    C(R, stack, TEXT, "the CPU's stack at `what`, or at `inside`; only for a rank's longest gaps", \
      .is_name = true, .is_path = true, .is_detail = true)
STK_TABLE(gaps, "Longest gaps", GAPS_COLUMNS)

#define CAUSES_COLUMNS(C, R)                                                                       \
    C(R, cause, TEXT, "part of a step, as in the report's breakdown")                              \
    C(R, gaps, COUNT, "gaps with some of it; a gap may have several causes")                       \
    C(R, total_ns, NS, "time of this cause in all gaps, summed")                                   \
    C(R, idle_share, SHARE, "share of the time of all gaps")
STK_TABLE(causes, "Causes of all gaps", CAUSES_COLUMNS)

#define BETWEEN_STEPS_COLUMNS(C, R)                                                                \
    C(R, rank, COUNT, STK_DOC_RANK, .is_detail = true)                                             \
    C(R, after_step, COUNT, "number of the step before")                                           \
    C(R, start_ns, NS,                                                                             \
      "end of that step's mark, or of its last optimizer step if marks follow each other "         \
      "directly",                                                                                  \
      .is_detail = true)                                                                           \
    C(R, dur_ns, NS, "time up to the start of the next step")                                      \
    C(R, fetch_ns, NS, "part of `dur_ns` in fetches of the next batch")                            \
    C(R, idle_ns, NS, "part of `dur_ns` in which the rank's first device is idle")                 \
    C(R, what, TEXT, "longest event of the main thread that is wholly inside, except fetches",     \
      .is_name = true)                                                                             \
    C(R, every, COUNT,                                                                             \
      "distance in steps at which the same event is longest again, if four of five "               \
      "distances agree")                                                                           \
    C(R, stack, TEXT, "the CPU's stack at `what`; only for a rank's longest rows",                 \
      .is_name = true, .is_path = true, .is_detail = true)
STK_TABLE(between_steps, "Between steps on the CPU", BETWEEN_STEPS_COLUMNS)

static void fill_between(struct stk_table *table, const struct stk_rank_sum *rank,
                         struct stk_gap_sums *all)
{
    const struct stk_gap_sums *p = rank->partial;
    int64_t shift_ns = p ? p->base_ns - rank->base_ns : 0; // onto the clock of all ranks
    for (size_t i = 0; p && i < p->between_count; i++) {
        const struct stk_between_row *b = &p->between[i];
        const struct between_steps_row row = {
            .rank = stk_cell_number(rank->rank),
            .after_step = stk_cell_number(b->step),
            .start_ns = stk_cell_number(b->start_ns + shift_ns),
            .dur_ns = stk_cell_number(b->dur_ns),
            .fetch_ns = stk_cell_number(b->fetch_ns),
            .idle_ns = b->idle_ns >= 0 ? stk_cell_number(b->idle_ns) : stk_cell_unknown(),
            .what = stk_cell_text(b->what),
            .every = b->every > 0 ? stk_cell_number(b->every) : stk_cell_unknown(),
            .stack = stk_cell_text(b->stack),
        };
        stk_table_put(table, &row);
    }
    all->between_ns += p ? p->between_ns : 0;
    all->steps_ns += p ? p->steps_ns : 0;
}

static void gaps_fill_rank(struct stk_table *table, const struct stk_rank_sum *rank,
                           struct stk_gap_sums *all)
{
    const struct stk_gap_sums *p = rank->partial;
    int64_t shift_ns = p ? p->base_ns - rank->base_ns : 0; // onto the clock of all ranks
    for (size_t i = 0; p && i < p->count; i++) {
        const struct stk_gap_row *g = &p->rows[i];
        const struct gaps_row row = {
            .device = stk_cell_text(rank->devices[g->line].id),
            .start_ns = stk_cell_number(g->start_ns + shift_ns),
            .dur_ns = stk_cell_number(g->dur_ns),
            .cause = stk_cell_text(g->part < 0 ? NULL : stk_part_info((enum stk_part)g->part)->key),
            .what = stk_cell_text(g->what),
            .inside = stk_cell_text(g->inside),
            .step = g->has_step ? stk_cell_number(g->step) : stk_cell_unknown(),
            .after = stk_cell_text(g->after),
            .stack = stk_cell_text(g->stack),
        };
        stk_table_put(table, &row);
    }
    all->idle_ns += p ? p->idle_ns : 0;
    all->gaps += p ? p->gaps : 0;
    all->dropped += p ? p->dropped : 0;
    for (int i = 0; p && i < STK_PART_COUNT; i++) {
        all->part_ns[i] += p->part_ns[i];
        all->part_gaps[i] += p->part_gaps[i];
    }
}

static void fill_causes(struct stk_table *table, const struct stk_gap_sums *all)
{
    for (int p = 0; p < STK_PART_COUNT; p++) {
        if (all->part_ns[p] == 0) {
            continue;
        }
        const struct causes_row row = {
            .cause = stk_cell_text(stk_part_info((enum stk_part)p)->key),
            .gaps = stk_cell_number((int64_t)all->part_gaps[p]),
            .total_ns = stk_cell_number(all->part_ns[p]),
            .idle_share = stk_cell_share_of(all->part_ns[p], all->idle_ns),
        };
        stk_table_put(table, &row);
    }
}

#define GAPS_FIGURES(C, R)                                                                         \
    C(R, gaps, COUNT, "gaps between operations of a device, including those not listed")           \
    C(R, idle_ns, NS,                                                                              \
      "lengths of all gaps, summed; excludes the time before a device's first operation "          \
      "and after its last",                                                                        \
      .label = "total idle time")                                                                  \
    C(R, explained_share, SHARE, "share of `idle_ns` whose cause is known",                        \
      .label = "idle time with a known cause")                                                     \
    C(R, between_steps_ns, NS, "time between steps without fetches, summed over the ranks",        \
      .label = "time between steps")                                                               \
    C(R, between_steps_share, SHARE,                                                               \
      "`between_steps_ns` as a share of the steps' time, each counted to the start of the next",   \
      .label = "time between steps, share")
STK_SUMMARY(gaps, GAPS_FIGURES)

#define STEPS_REMEDY                                                                               \
    "record several steps, marked with profiler.step() in torch.profiler, "                        \
    "tf.profiler.experimental.Trace or jax.profiler.StepTraceAnnotation"
static const struct stk_missing no_marks = {"what runs between steps",
                                            "no step is marked on the CPU", STEPS_REMEDY};
static const struct stk_missing no_two_marks = {
    "what runs between steps", "no two consecutive steps are marked on the CPU", STEPS_REMEDY};

static void gaps_say_figures(struct stk_table_doc *doc, const struct stk_run_sum *run,
                             const struct stk_gap_sums *all, bool has_device)
{
    int64_t known_ns = 0;
    for (int p = 0; p < STK_PART_COUNT; p++) {
        known_ns += p == STK_PART_UNKNOWN ? 0 : all->part_ns[p];
    }
    const struct stk_cell unknown = stk_cell_unknown();
    bool known = all->steps_ns > 0;
    const struct gaps_summary summary = {
        .gaps = has_device ? stk_cell_number((int64_t)all->gaps) : unknown,
        .idle_ns = has_device ? stk_cell_number(all->idle_ns) : unknown,
        .explained_share = has_device ? stk_cell_share_of(known_ns, all->idle_ns) : unknown,
        .between_steps_ns = known ? stk_cell_number(all->between_ns) : unknown,
        .between_steps_share = stk_cell_share_of(all->between_ns, all->steps_ns),
    };
    stk_table_summarize(doc, &gaps_summary_info, &summary);
    if (!known) {
        stk_table_lacks(doc, run->step_count ? &no_two_marks : &no_marks);
    }
}

static void gaps_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    struct stk_table *gaps = stk_table_add(doc, &gaps_table);
    struct stk_table *causes = stk_table_add(doc, &causes_table);
    struct stk_table *between = stk_table_add(doc, &between_steps_table);
    struct stk_gap_sums all = {.count = 0};
    bool has_device = !stk_stats_lacks_device(ctx, doc);
    stk_table_keep(gaps, "dur_ns", ctx->limit);
    stk_table_keep(between, "dur_ns", ctx->limit);
    for (uint32_t r = 0; r < ctx->run->rank_count; r++) {
        fill_between(between, ctx->run->ranks[r], &all);
        gaps_fill_rank(gaps, ctx->run->ranks[r], &all);
    }
    gaps->rows_left_out += all.dropped;
    fill_causes(causes, &all);
    stk_table_sort(gaps, "dur_ns");
    stk_table_sort(causes, "total_ns");
    stk_table_sort(between, "dur_ns");
    gaps_say_figures(doc, ctx->run, &all, has_device);
}

const struct stk_stats stk_stats_gaps = {
    .name = "gaps",
    .question = "When is the device idle, and what does the CPU do then?",
    .needs = "operations of a device; CPU events for the causes",
    .tables = {&gaps_table, &causes_table, &between_steps_table},
    .summary = &gaps_summary_info,
    .missing = {&stk_missing_device, &no_marks, &no_two_marks},
    .hook = {.see = gaps_see, .wants_gaps = true},
    .describe = gaps_describe,
};
