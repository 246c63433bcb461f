// SPDX-License-Identifier: Apache-2.0
// How does the input pipeline keep up, and which of its stages limits it?
// Stages (model/input/input_stages.h): tf.data's iterators, fetches, and functions that prepare
// data. The wait is the report's part input_wait; a stage is said to limit only where that wait is
// worth a finding (rule input-wait). elements: as recorded (stoker.data), else one per call.
// per_element_ns: own work per element, on all threads. capacity_per_s: elements per second if the
// stage alone worked, on as many threads as it was seen on; the stages' elements differ (an image,
// a batch). Limits: see model/input/input_see.c; calls under a microsecond that stoker.data left
// out are not in its stages' times, their elements are; worker processes of a DataLoader are not in
// a profile.
#include <string.h>

#include "model/input/input_stages.h"
#include "passes/stats/stats.h"

// From here the wait is worth a finding, as in rule input-wait.
#define WAIT_SHARE_DEVICE 0.03
#define WAIT_SHARE_HOST 0.15

static const struct stk_column stage_columns[] = {
    {.id = "stage", .type = STK_CELL_TEXT, .is_name = true, .is_path = true},
    {.id = "kind", .type = STK_CELL_TEXT},
    {.id = "thread", .type = STK_CELL_TEXT, .is_name = true, .is_detail = true},
    {.id = "calls", .type = STK_CELL_COUNT, .is_detail = true},
    {.id = "elements", .type = STK_CELL_COUNT},
    {.id = "total_ns", .type = STK_CELL_NS, .is_detail = true},
    {.id = "self_ns", .type = STK_CELL_NS},
    {.id = "per_element_ns", .type = STK_CELL_NS, .is_detail = true},
    {.id = "parallelism", .type = STK_CELL_COUNT},
    {.id = "capacity_per_s", .type = STK_CELL_RATE},
    {.id = "limiting", .type = STK_CELL_BOOL},
    {.id = "buffer_fill", .type = STK_CELL_SHARE, .is_detail = true},
    {.id = "buffer_limit", .type = STK_CELL_COUNT, .is_detail = true},
    {.id = "parallelism_set", .type = STK_CELL_COUNT, .is_detail = true},
    {.id = "autotuned", .type = STK_CELL_BOOL, .is_detail = true},
    {.id = "wait_ns", .type = STK_CELL_NS, .is_detail = true},
    {.id = "threads", .type = STK_CELL_COUNT, .is_detail = true},
    {.id = "rank", .type = STK_CELL_COUNT, .is_detail = true},
};
static const struct stk_column kind_columns[] = {
    {.id = "kind", .type = STK_CELL_TEXT},
    {.id = "calls", .type = STK_CELL_COUNT},
    {.id = "self_ns", .type = STK_CELL_NS},
    {.id = "self_share", .type = STK_CELL_SHARE},
};
static const struct stk_column fetch_columns[] = {
    {.id = "fetch", .type = STK_CELL_TEXT, .is_name = true, .is_path = true},
    {.id = "calls", .type = STK_CELL_COUNT},
    {.id = "total_ns", .type = STK_CELL_NS},
    {.id = "mean_ns", .type = STK_CELL_NS},
    {.id = "median_ns", .type = STK_CELL_NS},
    {.id = "p95_ns", .type = STK_CELL_NS, .is_detail = true},
    {.id = "max_ns", .type = STK_CELL_NS},
    {.id = "thread", .type = STK_CELL_TEXT, .is_name = true, .is_detail = true},
    {.id = "rank", .type = STK_CELL_COUNT, .is_detail = true},
};
#define COUNT(columns) (sizeof(columns) / sizeof(columns)[0])

static struct stk_cell number_from(int64_t number, int64_t least)
{
    return number >= least ? stk_cell_number(number) : stk_cell_unknown();
}

static void fill_stage(struct stk_cell *row, const struct stk_input_stage *s, int32_t rank,
                       bool limits)
{
    double capacity = stk_input_stage_capacity(s);
    struct stk_cell *c = row;
    *c++ = stk_cell_text(s->name);
    *c++ = stk_cell_text(stk_input_kind_key(s->kind));
    *c++ = stk_cell_text(s->thread);
    *c++ = stk_cell_number((int64_t)s->calls);
    *c++ = number_from(s->elements, 0);
    *c++ = stk_cell_number(s->total_ns);
    *c++ = stk_cell_number(s->self_ns);
    *c++ = s->elements > 0 ? stk_cell_number(s->self_ns / s->elements) : stk_cell_unknown();
    *c++ = number_from(s->parallelism, 1);
    *c++ = capacity < 0 ? stk_cell_unknown() : stk_cell_ratio(capacity);
    *c++ = (struct stk_cell){.known = true, .truth = limits};
    *c++ = s->buffer_fill < 0 ? stk_cell_unknown() : stk_cell_ratio(s->buffer_fill);
    *c++ = number_from(s->buffer_limit, 0);
    *c++ = number_from(s->parallelism_set, 0);
    *c++ = s->is_autotuned < 0 ? stk_cell_unknown()
                               : (struct stk_cell){.known = true, .truth = s->is_autotuned > 0};
    *c++ = stk_cell_number(s->wait_ns);
    *c++ = stk_cell_number(s->threads);
    *c++ = stk_cell_number(rank);
}

// Called, or at work for calls that are not in the profile; else only known from others' paths.
static bool is_seen_stage(const struct stk_input_stage *s)
{
    return s->calls > 0 || s->self_ns > 0;
}

static bool add_rank(struct stk_table *stages, struct stk_table *fetches,
                     const struct stk_rank_sum *rank, uint32_t limiting)
{
    const struct stk_input_sums *p = rank->partial;
    for (uint32_t i = 0; p && i < p->stage_count; i++) {
        bool is_seen = is_seen_stage(&p->stages[i]);
        struct stk_cell *row = is_seen ? stk_table_row(stages) : NULL;
        if (is_seen && !row) {
            return false;
        }
        if (row) {
            fill_stage(row, &p->stages[i], rank->rank, i == limiting);
        }
    }
    for (uint32_t i = 0; p && i < p->fetch_count; i++) {
        const struct stk_input_fetch *f = &p->fetches[i];
        struct stk_cell *row = stk_table_row(fetches);
        if (!row) {
            return false;
        }
        row[0] = stk_cell_text(f->name);
        row[1] = stk_cell_number((int64_t)f->calls);
        row[2] = stk_cell_number(f->total_ns);
        row[3] = stk_cell_number(f->mean_ns);
        row[4] = stk_cell_number(f->median_ns);
        row[5] = stk_cell_number(f->p95_ns);
        row[6] = stk_cell_number(f->max_ns);
        row[7] = stk_cell_text(f->thread);
        row[8] = stk_cell_number(rank->rank);
    }
    return true;
}

static bool add_kinds(struct stk_table *table, const struct stk_run_sum *run)
{
    int64_t ns[STK_INPUT_KINDS] = {0}, total_ns = 0;
    uint64_t calls[STK_INPUT_KINDS] = {0};
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct stk_input_sums *p = run->ranks[r]->partial;
        for (int k = 0; p && k < STK_INPUT_KINDS; k++) {
            ns[k] = stk_add_ns(ns[k], p->kind_ns[k]);
            calls[k] += p->kind_calls[k];
            total_ns = stk_add_ns(total_ns, p->kind_ns[k]);
        }
    }
    for (int k = 0; k < STK_INPUT_KINDS; k++) {
        struct stk_cell *row = calls[k] || ns[k] ? stk_table_row(table) : NULL;
        if (!row && (calls[k] || ns[k])) {
            return false;
        }
        if (!row) {
            continue;
        }
        row[0] = stk_cell_text(stk_input_kind_key((enum stk_input_kind)k));
        row[1] = stk_cell_number((int64_t)calls[k]);
        row[2] = stk_cell_number(ns[k]);
        row[3] = stk_cell_share_of(ns[k], total_ns);
    }
    return true;
}

// The rank that waits most; there, the stage that limits. False: no memory.
static bool find_limit(const struct stk_run_sum *run, uint32_t *rank, uint32_t *stage)
{
    double least = run->scope == STK_SCOPE_HOST ? WAIT_SHARE_HOST : WAIT_SHARE_DEVICE;
    int64_t most_ns = 0;
    *rank = *stage = STK_NONE;
    if (run->wall_ns <= 0 || (double)run->parts[STK_PART_INPUT] < least * (double)run->wall_ns) {
        return true;
    }
    for (uint32_t r = 0; r < run->rank_count; r++) {
        int64_t ns = run->ranks[r]->causes[STK_PART_INPUT].ns;
        if (!run->ranks[r]->partial || ns <= most_ns) {
            continue;
        }
        most_ns = ns;
        *rank = r;
    }
    return *rank == STK_NONE || stk_input_stages_limit(run->ranks[*rank]->partial, stage);
}

static void say_missing(struct stk_table_doc *doc, const struct stk_run_sum *run, uint64_t stages,
                        bool fetch_alone, const char *limiting)
{
    if (stages == 0) {
        stk_table_lacks(doc, "events of the input pipeline",
                        "no tf.data iterator, no fetch of a loader and no function that prepares "
                        "data is in the profile",
                        "TensorFlow: host_tracer_level 2; PyTorch: ProfilerActivity.CPU, and "
                        "record_function(\"data_load\") around a loader of your own; JAX: "
                        "python_tracer_level 1; nsys: --trace=nvtx with a range around the fetch");
        doc->inconclusive = true;
        return;
    }
    if (run->wall_ns <= 0) {
        stk_table_lacks(doc, "steps", "without them the wait for input has no share",
                        "mark steps: profiler.step() in torch.profiler, "
                        "tf.profiler.experimental.Trace, jax.profiler.StepTraceAnnotation");
    }
    bool here = limiting && strstr(limiting, "SingleProcess");
    if (fetch_alone && here) {
        stk_table_lacks(doc, "what the fetch does",
                        "the training process prepares each batch itself (num_workers=0), and only "
                        "the fetch as a whole is recorded",
                        "record a few steps with with_stack=True in torch.profiler");
    } else if (fetch_alone && limiting) {
        stk_table_lacks(doc, "what the fetch waits for",
                        "only the fetch itself is recorded: worker processes write no events",
                        "PyTorch: record a few steps with num_workers=0 and with_stack=True; "
                        "TensorFlow: host_tracer_level 2");
    }
}

static enum stk_status input_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc,
                                      struct stk_err *err)
{
    const struct stk_run_sum *run = ctx->run;
    struct stk_table *stages =
        stk_table_add(doc, "stages", "Stages by own work", stage_columns, COUNT(stage_columns));
    struct stk_table *kinds =
        stk_table_add(doc, "kinds", "Work by kind", kind_columns, COUNT(kind_columns));
    struct stk_table *fetches = stk_table_add(doc, "fetches", "Fetches of the next batch",
                                              fetch_columns, COUNT(fetch_columns));
    uint32_t rank, stage;
    uint64_t seen = 0, fetches_seen = 0;
    const char *limiting = NULL;
    if (!find_limit(run, &rank, &stage)) {
        return stk_err_nomem(err);
    }
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct stk_input_sums *p = run->ranks[r]->partial;
        if (!add_rank(stages, fetches, run->ranks[r], r == rank ? stage : STK_NONE)) {
            return stk_err_nomem(err);
        }
        for (uint32_t i = 0; p && i < p->stage_count; i++) {
            seen += is_seen_stage(&p->stages[i]);
            fetches_seen += is_seen_stage(&p->stages[i]) && p->stages[i].kind == STK_INPUT_FETCH;
        }
        if (r == rank && stage != STK_NONE) {
            limiting = p->stages[stage].name;
        }
    }
    if (!add_kinds(kinds, run) || !stk_table_sort(stages, "self_ns") ||
        !stk_table_sort(kinds, "self_ns") || !stk_table_sort(fetches, "total_ns")) {
        return stk_err_nomem(err);
    }
    bool known = seen > 0 && run->wall_ns > 0;
    stk_table_figure(doc, "wait_ns", STK_CELL_NS,
                     known ? stk_cell_number(run->parts[STK_PART_INPUT]) : stk_cell_unknown());
    stk_table_figure(doc, "wait_share", STK_CELL_SHARE,
                     known ? stk_cell_share_of(run->parts[STK_PART_INPUT], run->wall_ns)
                           : stk_cell_unknown());
    stk_table_figure_name(doc, "limiting_stage", limiting);
    if (run->facts.loader_workers_seen) {
        stk_table_figure(doc, "worker_threads", STK_CELL_COUNT,
                         stk_cell_number(run->facts.loader_workers_seen));
    }
    say_missing(doc, run, seen, seen == fetches_seen, limiting);
    return STK_OK;
}

const struct stk_stats stk_stats_input = {
    .name = "input",
    .question = "How does the input pipeline keep up, and which of its stages limits it?",
    .needs = "tf.data iterators, fetches of a loader, or functions that prepare data",
    .hook = {.see = stk_input_stages_see, .wants = STK_WANT_INPUT},
    .describe = input_describe,
};
