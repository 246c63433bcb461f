// SPDX-License-Identifier: Apache-2.0
// How long until the job runs at its steady pace? Phases of each rank, one after the other:
// before_device (first event to the first device operation or step), before_steps (to the first
// step), warm_up (to the first steady step), steady (to the end of the last step). The first steady
// step is the first within 1.5 times the median after which two more are. Steps are those of the
// report: of the busiest device, or of the host if no device ran. first_use_ns: compilation and
// first use anywhere in the profile. A second table sums the work until the first steady step ended
// (without one, in the whole profile): stats_startup_work.c.
// Limits: a profile begins when recording begins, which may be long after the job did.
#include <string.h>

#include "profile/model/median.h"
#include "answers/passes/stats/stats.h"
#include "answers/passes/stats/stats_startup.h"

#define STEADY_STEPS 3

struct pace {
    const struct stk_step **steps; // of one device, in order
    size_t count;
    size_t steady; // index of the first steady step, SIZE_MAX none
};

// The device whose steps represent the rank; STK_NONE: host steps.
static uint32_t busiest(const struct stk_rank_sum *rank)
{
    uint32_t best = STK_NONE;
    for (uint32_t d = 0; d < rank->device_count; d++) {
        if (rank->devices[d].analysed &&
            (best == STK_NONE || rank->devices[d].busy_ns > rank->devices[best].busy_ns)) {
            best = d;
        }
    }
    return best;
}

static bool is_steady(const struct stk_step *s, int64_t median_ns)
{
    return s->dur_ns <= median_ns + median_ns / 2;
}

// False: no memory.
static bool find_pace(const struct stk_rank_sum *rank, struct stk_arena *arena, struct pace *out)
{
    uint32_t device = busiest(rank);
    int64_t *durations = stk_arena_array(arena, (size_t)rank->step_count + 1, sizeof *durations);
    *out = (struct pace){.steady = SIZE_MAX};
    out->steps = stk_arena_array(arena, (size_t)rank->step_count + 1, sizeof *out->steps);
    if (!durations || !out->steps) {
        return false;
    }
    for (uint32_t i = 0; i < rank->step_count; i++) {
        const char *excluded = rank->steps[i].excluded;
        if (rank->steps[i].device != device ||
            (excluded && strcmp(excluded, STK_EXCLUDED_UNSELECTED) == 0)) {
            continue;
        }
        durations[out->count] = rank->steps[i].dur_ns;
        out->steps[out->count++] = &rank->steps[i];
    }
    if (out->count < STEADY_STEPS) {
        return true;
    }
    int64_t median_ns = stk_median_low(durations, out->count);
    for (size_t i = 0; i + STEADY_STEPS <= out->count && out->steady == SIZE_MAX; i++) {
        if (is_steady(out->steps[i], median_ns) && is_steady(out->steps[i + 1], median_ns) &&
            is_steady(out->steps[i + 2], median_ns)) {
            out->steady = i;
        }
    }
    return true;
}

static enum stoker_status startup_see(const struct stk_analysis *view, struct stk_arena *arena,
                                      void **partial, struct stoker_err *err)
{
    struct stk_startup_sums *out = stk_arena_alloc(arena, sizeof *out);
    struct pace pace;
    if (!out || !find_pace(view->sum, arena, &pace)) {
        return stk_err_nomem(err);
    }
    const struct stk_step *s = pace.steady == SIZE_MAX ? NULL : pace.steps[pace.steady];
    int64_t steps_ns = pace.count ? pace.steps[0]->start_ns : INT64_MAX;
    if (!stk_startup_sum(view, steps_ns, s ? s->start_ns + s->dur_ns : INT64_MAX, arena, out)) {
        return stk_err_nomem(err);
    }
    *partial = out;
    return STOKER_OK;
}

#define WORK_COLUMNS(C, R)                                                                         \
    C(R, work, TEXT,                                                                               \
      "model_building, tracing, compilation, autotuning, module_load, capture, "                   \
      "first_call, allocation, weights_to_device (copies before the first step, maybe "            \
      "with a first batch), copy_to_device (later ones)")                                          \
    C(R, rank, COUNT, STK_DOC_RANK, .is_detail = true)                                             \
    C(R, recorded, TEXT,                                                                           \
      "yes; none: the profile would show it; not recorded: the profile can't show it")             \
    C(R, count, COUNT,                                                                             \
      "events of it that started before the first steady step ended (without one, in the "         \
      "whole profile)")                                                                            \
    C(R, first_ns, NS, "start of the first of them", .is_detail = true)                            \
    C(R, total_ns, NS,                                                                             \
      "durations, summed over threads and devices; compilation inside another counts as "          \
      "part of that one")                                                                          \
    C(R, bytes, BYTES, "recorded sizes of the copies, summed")                                     \
    C(R, longest_ns, NS, "duration of the longest")                                                \
    C(R, what, TEXT, "name of the longest", .is_name = true)
STK_TABLE(work, "Work done until then", WORK_COLUMNS)

// Work that every start has: listed even if it is zero.
static bool is_always_told(enum stk_startup_work work)
{
    return work == STK_STARTUP_BUILD || work == STK_STARTUP_TRACING ||
           work == STK_STARTUP_MODULE_LOAD || work == STK_STARTUP_ALLOCATION ||
           work == STK_STARTUP_WEIGHTS;
}

static void fill_work(struct stk_table *table, const struct stk_rank_sum *rank)
{
    const struct stk_cell unknown = stk_cell_unknown();
    const struct stk_startup_sums *p = rank->partial;
    for (int w = 0; p && w < STK_STARTUP_WORKS; w++) {
        const struct stk_startup_row *r = &p->rows[w];
        bool is_recorded = stk_startup_is_recorded((enum stk_startup_work)w, &rank->facts);
        if (r->count == 0 && !is_always_told((enum stk_startup_work)w)) {
            continue;
        }
        const struct work_row row = {
            .work = stk_cell_text(stk_startup_work_key((enum stk_startup_work)w)),
            .rank = stk_cell_number(rank->rank),
            .recorded = stk_cell_text(r->count      ? "yes"
                                      : is_recorded ? "none"
                                                    : "not recorded"),
            .count = r->count || is_recorded ? stk_cell_number((int64_t)r->count) : unknown,
            .first_ns = r->count ? stk_cell_number(r->first_ns) : unknown,
            .total_ns = r->count || is_recorded ? stk_cell_number(r->total_ns) : unknown,
            .bytes = r->sized ? stk_cell_number(r->bytes) : unknown,
            .longest_ns = r->count ? stk_cell_number(r->longest_ns) : unknown,
            .what = stk_cell_text(r->longest),
        };
        stk_table_put(table, &row);
    }
}

#define PHASES_COLUMNS(C, R)                                                                       \
    C(R, phase, TEXT,                                                                              \
      "before_device (to the first device operation or step), before_steps (to the first "         \
      "step), warm_up (to the first steady step), steady (to the end of the last step)")           \
    C(R, rank, COUNT, STK_DOC_RANK)                                                                \
    C(R, start_ns, NS, "start of the phase")                                                       \
    C(R, dur_ns, NS, "length of the phase")                                                        \
    C(R, steps, COUNT, "steps in the phase")
STK_TABLE(phases, "Phases", PHASES_COLUMNS)

static void add_phase(struct stk_table *table, const struct stk_rank_sum *rank, const char *phase,
                      int64_t from_ns, int64_t to_ns, size_t steps)
{
    if (to_ns <= from_ns) {
        return;
    }
    const struct phases_row row = {
        .phase = stk_cell_text(phase),
        .rank = stk_cell_number(rank->rank),
        .start_ns = stk_cell_number(from_ns),
        .dur_ns = stk_cell_number(to_ns - from_ns),
        .steps = stk_cell_number((int64_t)steps),
    };
    stk_table_put(table, &row);
}

static int64_t first_operation(const struct stk_rank_sum *rank, int64_t otherwise_ns)
{
    int64_t first = INT64_MAX;
    for (uint32_t d = 0; d < rank->device_count; d++) {
        if (rank->devices[d].ops && rank->devices[d].first_ns < first) {
            first = rank->devices[d].first_ns;
        }
    }
    return first == INT64_MAX || first > otherwise_ns ? otherwise_ns : first;
}

static void startup_fill_rank(struct stk_table *table, const struct stk_rank_sum *rank,
                              const struct pace *pace)
{
    int64_t begin = rank->facts.first_ns, end = rank->facts.last_ns;
    if (pace->count == 0) {
        add_phase(table, rank, "before_device", begin, first_operation(rank, end), 0);
        return;
    }
    const struct stk_step *last = pace->steps[pace->count - 1];
    int64_t steps_from = pace->steps[0]->start_ns, steps_to = last->start_ns + last->dur_ns;
    int64_t device_from = first_operation(rank, steps_from);
    size_t warm = pace->steady == SIZE_MAX ? pace->count : pace->steady;
    int64_t steady_from = warm < pace->count ? pace->steps[warm]->start_ns : steps_to;
    if (device_from < begin) {
        device_from = begin;
    }
    add_phase(table, rank, "before_device", begin, device_from, 0);
    add_phase(table, rank, "before_steps", device_from, steps_from, 0);
    add_phase(table, rank, "warm_up", steps_from, steady_from, warm);
    add_phase(table, rank, "steady", steady_from, steps_to, pace->count - warm);
}

#define STARTUP_FIGURES(C, R)                                                                      \
    C(R, first_steady_ns, NS,                                                                      \
      "end of the slowest rank's first steady step: the first within 1.5 times the "               \
      "median, followed by two more",                                                              \
      .label = "first steady step ends at")                                                        \
    C(R, first_use_ns, NS,                                                                         \
      "compilation and first use anywhere in the profile: union per rank, summed over the ranks",  \
      .label = "compilation and first use")
STK_SUMMARY(startup, STARTUP_FIGURES)

static const struct stk_missing no_start = {
    "the start of the job",
    "no model is built, nothing loaded and no weights copied before the first step: recording "
    "started later, or such work isn't recorded",
    "start the profiler in the program's first lines, with Python's tracer (with_stack=True, "
    "python_tracer_level=1) to see the model being built"};
static const struct stk_missing no_steady = {
    "a steady step", "no three consecutive steps are within 1.5 times the median step",
    "record ten or more steps from the start of the job, with a step marker: profiler.step() in "
    "torch.profiler, tf.profiler.experimental.Trace, jax.profiler.StepTraceAnnotation"};

// Whether any rank has all the work that every start includes.
static bool has_start(const struct stk_run_sum *run)
{
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct stk_startup_sums *p = run->ranks[r]->partial;
        for (int w = 0; p && w < STK_STARTUP_WORKS; w++) {
            if (is_always_told((enum stk_startup_work)w) && p->rows[w].count > 0) {
                return true;
            }
        }
    }
    return false;
}

static void startup_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    struct stk_table *table = stk_table_add(doc, &phases_table);
    struct stk_table *work = stk_table_add(doc, &work_table);
    int64_t steady_ns = 0; // since the profile's first event, of the slowest rank
    uint32_t without = 0;
    for (uint32_t r = 0; r < ctx->run->rank_count; r++) {
        const struct stk_rank_sum *rank = ctx->run->ranks[r];
        struct pace pace;
        doc->ran_out |= !find_pace(rank, ctx->arena, &pace);
        startup_fill_rank(table, rank, &pace);
        fill_work(work, rank);
        without += pace.steady == SIZE_MAX;
        if (pace.steady == SIZE_MAX) {
            continue;
        }
        const struct stk_step *s = pace.steps[pace.steady];
        int64_t at_ns = s->start_ns + s->dur_ns;
        steady_ns = at_ns > steady_ns ? at_ns : steady_ns;
    }
    stk_table_sort(work, "total_ns");
    bool known = without == 0 && ctx->run->rank_count > 0;
    const struct startup_summary summary = {
        .first_steady_ns = known ? stk_cell_number(steady_ns) : stk_cell_unknown(),
        .first_use_ns = ctx->run->facts.events ? stk_cell_number(ctx->run->facts.first_use_ns)
                                               : stk_cell_unknown(),
    };
    stk_table_summarize(doc, &startup_summary_info, &summary);
    if (ctx->run->rank_count > 0 && !has_start(ctx->run)) {
        stk_table_lacks(doc, &no_start);
    }
    if (!known) {
        stk_table_lacks(doc, &no_steady);
        doc->inconclusive = true;
    }
}

const struct stk_stats stk_stats_startup = {
    .name = "startup",
    .question = "How long is the warm-up?",
    .needs = "three or more steps, and the start of the job",
    .tables = {&phases_table, &work_table},
    .summary = &startup_summary_info,
    .missing = {&no_start, &no_steady},
    .hook = {.see = startup_see},
    .describe = startup_describe,
};
