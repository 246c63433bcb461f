// SPDX-License-Identifier: Apache-2.0
// Does the input pipeline keep up, and which of its stages limits it? Stages
// (profile/model/input/input_stages.h): tf.data's iterators, fetches, and functions that prepare
// data. The wait is the report's part input_wait; a stage is called limiting only where that wait
// is worth a finding (rule input-wait). elements: as recorded (stoker.data), else one per call.
// per_element_ns: own work per element, on all threads. capacity_per_s: elements per second if the
// stage alone worked, on as many threads as it was seen on; the stages' elements differ (an image,
// a batch). Limits: see profile/model/input/input_see.c; calls under a microsecond that stoker.data
// left out are not in its stages' times, their elements are; worker processes of a DataLoader are
// not in a profile.
#include <string.h>

#include "profile/model/input/input_stages.h"
#include "answers/passes/stats/stats.h"

// From here the wait is worth a finding, as in rule input-wait.
#define WAIT_SHARE_DEVICE 0.03
#define WAIT_SHARE_HOST 0.15

#define STAGES_COLUMNS(C, R)                                                                       \
    C(R, stage, TEXT, "name of the stage, without numbers of passes, files and objects",           \
      .is_name = true, .is_path = true)                                                            \
    C(R, kind, TEXT,                                                                               \
      "what it does: fetch, read, decode, preprocess, shuffle, batch, cache, buffer, "             \
      "transfer or control")                                                                       \
    C(R, thread, TEXT, "thread on which it spent most time", .is_name = true, .is_detail = true)   \
    C(R, calls, COUNT, "how often it was called", .is_detail = true)                               \
    C(R, elements, COUNT,                                                                          \
      "elements that its calls returned: as recorded (stoker.data), otherwise one per call")       \
    C(R, total_ns, NS,                                                                             \
      "time in its calls and workers, summed over threads, including nested stages",               \
      .is_detail = true)                                                                           \
    C(R, self_ns, NS,                                                                              \
      "its own work, summed over threads, without nested stages and waiting for workers")          \
    C(R, per_element_ns, NS, "`self_ns` over `elements`", .is_detail = true)                       \
    C(R, parallelism, COUNT, "threads that work while any of them does")                           \
    C(R, capacity_per_s, RATE,                                                                     \
      "elements per second if only this stage worked, at the same parallelism")                    \
    C(R, limiting, BOOL,                                                                           \
      "whether this stage keeps the others waiting; only if the input wait is worth a finding")    \
    C(R, buffer_fill, SHARE, "how full its buffer was when it was called, on average",             \
      .is_detail = true)                                                                           \
    C(R, buffer_limit, COUNT, "elements in its buffer, as recorded", .is_detail = true)            \
    C(R, parallelism_set, COUNT, "parallelism that the pipeline requests, as recorded",            \
      .is_detail = true)                                                                           \
    C(R, autotuned, BOOL, "whether the framework tunes it", .is_detail = true)                     \
    C(R, wait_ns, NS, "time that its calls wait for its workers, or for stages on other threads",  \
      .is_detail = true)                                                                           \
    C(R, threads, COUNT, "threads on which it was called or worked", .is_detail = true)            \
    C(R, rank, COUNT, STK_DOC_RANK, .is_detail = true)
STK_TABLE(stages, "Stages by own work", STAGES_COLUMNS)

#define KINDS_COLUMNS(C, R)                                                                        \
    C(R, kind, TEXT,                                                                               \
      "what the work is: fetch, read, decode, preprocess, shuffle, batch, cache, buffer, "         \
      "transfer or control")                                                                       \
    C(R, calls, COUNT, "calls of this kind")                                                       \
    C(R, self_ns, NS, "work of this kind, summed over threads and stages")                         \
    C(R, self_share, SHARE, "share of the work of all kinds")
STK_TABLE(kinds, "Work by kind", KINDS_COLUMNS)

#define FETCHES_COLUMNS(C, R)                                                                      \
    C(R, fetch, TEXT, "name of the batch fetch that holds up training", .is_name = true,           \
      .is_path = true)                                                                             \
    C(R, calls, COUNT, "how often it was called")                                                  \
    C(R, total_ns, NS, "durations, summed")                                                        \
    C(R, mean_ns, NS, "mean duration")                                                             \
    C(R, median_ns, NS, "lower median of the durations")                                           \
    C(R, p95_ns, NS, "95th percentile of the durations, nearest rank", .is_detail = true)          \
    C(R, max_ns, NS, "longest duration")                                                           \
    C(R, thread, TEXT, "thread that fetches", .is_name = true, .is_detail = true)                  \
    C(R, rank, COUNT, STK_DOC_RANK, .is_detail = true)
STK_TABLE(fetches, "Fetches of the next batch", FETCHES_COLUMNS)

static void put_stage(struct stk_table *table, const struct stk_input_stage *s, int32_t rank,
                      bool limits)
{
    double capacity = stk_input_stage_capacity(s);
    const struct stages_row row = {
        .stage = stk_cell_text(s->name),
        .kind = stk_cell_text(stk_input_kind_key(s->kind)),
        .thread = stk_cell_text(s->thread),
        .calls = stk_cell_number((int64_t)s->calls),
        .elements = stk_cell_from_zero(s->elements),
        .total_ns = stk_cell_number(s->total_ns),
        .self_ns = stk_cell_number(s->self_ns),
        .per_element_ns =
            s->elements > 0 ? stk_cell_number(s->self_ns / s->elements) : stk_cell_unknown(),
        .parallelism = s->parallelism > 0 ? stk_cell_number(s->parallelism) : stk_cell_unknown(),
        .capacity_per_s = capacity < 0 ? stk_cell_unknown() : stk_cell_ratio(capacity),
        .limiting = stk_cell_truth(limits),
        .buffer_fill = s->buffer_fill < 0 ? stk_cell_unknown() : stk_cell_ratio(s->buffer_fill),
        .buffer_limit = stk_cell_from_zero(s->buffer_limit),
        .parallelism_set = stk_cell_from_zero(s->parallelism_set),
        .autotuned = s->is_autotuned < 0 ? stk_cell_unknown() : stk_cell_truth(s->is_autotuned > 0),
        .wait_ns = stk_cell_number(s->wait_ns),
        .threads = stk_cell_number(s->threads),
        .rank = stk_cell_number(rank),
    };
    stk_table_put(table, &row);
}

// Whether it was called, or worked for calls outside the profile; otherwise it is only known from
// others' paths.
static bool is_seen_stage(const struct stk_input_stage *s)
{
    return s->calls > 0 || s->self_ns > 0;
}

static void add_rank(struct stk_table *stages, struct stk_table *fetches,
                     const struct stk_rank_sum *rank, uint32_t limiting)
{
    const struct stk_input_sums *p = rank->partial;
    for (uint32_t i = 0; p && i < p->stage_count; i++) {
        if (is_seen_stage(&p->stages[i])) {
            put_stage(stages, &p->stages[i], rank->rank, i == limiting);
        }
    }
    for (uint32_t i = 0; p && i < p->fetch_count; i++) {
        const struct stk_input_fetch *f = &p->fetches[i];
        const struct fetches_row row = {
            .fetch = stk_cell_text(f->name),
            .calls = stk_cell_number((int64_t)f->calls),
            .total_ns = stk_cell_number(f->total_ns),
            .mean_ns = stk_cell_number(f->mean_ns),
            .median_ns = stk_cell_number(f->median_ns),
            .p95_ns = stk_cell_number(f->p95_ns),
            .max_ns = stk_cell_number(f->max_ns),
            .thread = stk_cell_text(f->thread),
            .rank = stk_cell_number(rank->rank),
        };
        stk_table_put(fetches, &row);
    }
}

static void add_kinds(struct stk_table *table, const struct stk_run_sum *run)
{
    int64_t ns[STK_INPUT_KINDS] = {0}, total_ns = 0;
    uint64_t calls[STK_INPUT_KINDS] = {0};
    for (uint32_t r = 0; r < run->rank_count + run->again_count; r++) {
        const struct stk_input_sums *p = run->ranks[r]->partial;
        for (int k = 0; p && k < STK_INPUT_KINDS; k++) {
            ns[k] = stk_add_ns(ns[k], p->kind_ns[k]);
            calls[k] += p->kind_calls[k];
            total_ns = stk_add_ns(total_ns, p->kind_ns[k]);
        }
    }
    for (int k = 0; k < STK_INPUT_KINDS; k++) {
        if (!calls[k] && !ns[k]) {
            continue;
        }
        const struct kinds_row row = {
            .kind = stk_cell_text(stk_input_kind_key((enum stk_input_kind)k)),
            .calls = stk_cell_number((int64_t)calls[k]),
            .self_ns = stk_cell_number(ns[k]),
            .self_share = stk_cell_share_of(ns[k], total_ns),
        };
        stk_table_put(table, &row);
    }
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

static const struct stk_missing no_input = {
    "events of the input pipeline",
    "the profile has no tf.data iterator, no loader fetch and no function that prepares data",
    "TensorFlow: host_tracer_level 2; PyTorch: ProfilerActivity.CPU, and "
    "record_function(\"data_load\") around your own loader; JAX: python_tracer_level 1; nsys: "
    "--trace=nvtx with a range around the fetch"};
static const struct stk_missing no_steps = {
    "steps", "without them, the input wait has no share",
    "mark steps: profiler.step() in torch.profiler, "
    "tf.profiler.experimental.Trace, jax.profiler.StepTraceAnnotation"};
static const struct stk_missing unknown_work = {
    "what the fetch does",
    "the training process prepares each batch itself (num_workers=0), and only the whole fetch was "
    "recorded",
    "record a few steps with with_stack=True in torch.profiler"};
static const struct stk_missing unknown_wait = {
    "what the fetch waits for",
    "only the fetch itself was recorded: worker processes leave no events",
    "PyTorch: record a few steps with num_workers=0 and with_stack=True; "
    "TensorFlow: host_tracer_level 2"};

static void input_say_missing(struct stk_table_doc *doc, const struct stk_run_sum *run,
                              uint64_t stages, bool fetch_alone, const char *limiting)
{
    if (stages == 0) {
        stk_table_lacks(doc, &no_input);
        doc->inconclusive = true;
        return;
    }
    if (run->wall_ns <= 0) {
        stk_table_lacks(doc, &no_steps);
    }
    bool here = limiting && strstr(limiting, "SingleProcess");
    if (fetch_alone && here) {
        stk_table_lacks(doc, &unknown_work);
    } else if (fetch_alone && limiting) {
        stk_table_lacks(doc, &unknown_wait);
    }
}

#define INPUT_FIGURES(C, R)                                                                        \
    C(R, wait_ns, NS,                                                                              \
      "part `input_wait` of the breakdown: used steps of all devices, or of the CPU if "           \
      "there is no device",                                                                        \
      .label = "waiting for input")                                                                \
    C(R, wait_share, SHARE, "`wait_ns` as a share of the wall time of the breakdown",              \
      .label = "waiting for input, share")                                                         \
    C(R, limiting_stage, TEXT,                                                                     \
      "stage that keeps the others waiting, on the rank that waits most; only if the wait "        \
      "is worth a finding",                                                                        \
      .is_name = true, .label = "limiting stage")                                                  \
    C(R, worker_threads, COUNT, "loader workers in the profile, on the rank with most",            \
      .label = "loader workers")
STK_SUMMARY(input, INPUT_FIGURES)

static void input_describe(const struct stk_pass_ctx *ctx, struct stk_table_doc *doc)
{
    const struct stk_run_sum *run = ctx->run;
    struct stk_table *stages = stk_table_add(doc, &stages_table);
    struct stk_table *kinds = stk_table_add(doc, &kinds_table);
    struct stk_table *fetches = stk_table_add(doc, &fetches_table);
    uint32_t rank, stage;
    uint64_t seen = 0, fetches_seen = 0;
    const char *limiting = NULL;
    doc->ran_out |= !find_limit(run, &rank, &stage);
    for (uint32_t r = 0; r < run->rank_count + run->again_count; r++) {
        const struct stk_input_sums *p = run->ranks[r]->partial;
        add_rank(stages, fetches, run->ranks[r], r == rank ? stage : STK_NONE);
        for (uint32_t i = 0; p && i < p->stage_count; i++) {
            seen += is_seen_stage(&p->stages[i]);
            fetches_seen += is_seen_stage(&p->stages[i]) && p->stages[i].kind == STK_INPUT_FETCH;
        }
        if (r == rank && stage != STK_NONE) {
            limiting = p->stages[stage].name;
        }
    }
    add_kinds(kinds, run);
    stk_table_sort(stages, "self_ns");
    stk_table_sort(kinds, "self_ns");
    stk_table_sort(fetches, "total_ns");
    bool known = seen > 0 && run->wall_ns > 0;
    const int64_t wait_ns = run->parts[STK_PART_INPUT];
    const struct stk_cell unknown = stk_cell_unknown();
    const struct input_summary summary = {
        .wait_ns = known ? stk_cell_number(wait_ns) : unknown,
        .wait_share = known ? stk_cell_share_of(wait_ns, run->wall_ns) : unknown,
        .limiting_stage = stk_cell_text(limiting),
        .worker_threads = run->facts.loader_workers_seen
                              ? stk_cell_number(run->facts.loader_workers_seen)
                              : unknown,
    };
    stk_table_summarize(doc, &input_summary_info, &summary);
    input_say_missing(doc, run, seen, seen == fetches_seen, limiting);
}

const struct stk_stats stk_stats_input = {
    .name = "input",
    .question = "Does the input pipeline keep up, and which stage limits it?",
    .needs = "tf.data iterators, loader fetches, or functions that prepare data",
    .tables = {&stages_table, &kinds_table, &fetches_table},
    .summary = &input_summary_info,
    .missing = {&no_input, &no_steps, &unknown_work, &unknown_wait},
    .hook = {.see = stk_input_stages_see, .wants = STK_WANT_INPUT},
    .describe = input_describe,
};
