// SPDX-License-Identifier: Apache-2.0
// Who makes the batches, and what more makers would save. A profile doesn't show how many CPU cores
// exist, and a maker that computes needs one. So the expected saving assumes two cores, and the
// evidence shows how many makers hide the whole wait.
//
//   the loop itself                one background worker, by the replay, is the minimum
//   makers in the background       twice as many halve the wait on two cores, which the makers
//                                  and the step already keep busy; with a device, a batch's time
//   many short calls per batch     for the whole batch at once they are few: no core is needed
//   makers that wait for replies   several requests at once hide all of it
//
// Limit: a profile of a few steps doesn't include the cost of a worker that restarts in each epoch.
#include <math.h>

#include "answers/rules/input_makers.h"
#include "answers/rules/on_machine.h"

#include <string.h>

#include "profile/model/input/input_kinds.h"
#include "evidence_says.h"

const struct stk_threshold stk_input_thresholds[] = {
    [STK_FROM_DEVICE] = {"input wait, device", "share of the step", 0.03,
                         "moderate from here; healthy pipelines hide their fetch almost fully"},
    [STK_FROM_HOST] =
        {"input wait, CPU step", "share of the step", 0.15,
         "on a CPU, parts of a step run in turn, so healthy jobs also spend time reading"},
    [STK_INPUT_FROM_ONE_FETCH] =
        {"one step's wait", "share of the total wait", 0.5,
         "if most of the wait is in one step, the problem is unevenness, not the rate"},
    [STK_INPUT_FROM_ONE_STEPS] = {"steps needed to call a wait uneven", "steps", 4,
                                  "with fewer, one step may hold much of it by chance"},
    [STK_INPUT_FROM_FEW] = {"waiting in long steps", "share of the total wait", 0.8,
                            "then the wait of the other steps isn't worth a separate fix"},
    [STK_INPUT_FROM_INNER] = {"steps between two waits for a batch", "of the mean step", 1.1,
                              "less doesn't show in the figures"},
    [STK_INPUT_FROM_FEW_STEPS] = {"long steps that wait, at most", "share of the steps", 0.25,
                                  "if more of them wait long, the rate is the problem"},
    [STK_INPUT_FROM_PYTHON] =
        {"Python called by tf.data", "share of the wait", 0.3,
         "summed over threads; less than a third isn't what the step waits for"},
    [STK_INPUT_FROM_SHARED] = {"sharing cores, or the GIL, with the pipeline", "share of the wait",
                               0.1, "less isn't what the step waits for"},
    [STK_INPUT_FROM_BUSY] =
        {"workers at work", "share of their time", 0.7,
         "workers that limit the step hardly wait; workers that wait for room do"},
    [STK_INPUT_FROM_COLLATE] = {"collating batches", "share of the workers' work", 0.5,
                                "from half of the work on, fix this first"},
    [STK_INPUT_FROM_MANY] = {"calls of tf.data's functions", "a batch", 64,
                             "with fewer, calling them isn't what takes the time"},
    [STK_INPUT_FROM_SMALL] = {"a tf.data element, at most", "us", 300,
                              "under the profiler, calls and bookkeeping take about 50 us of it"},
    [STK_INPUT_FROM_ASLEEP] = {"waiting on I/O", "share of the fetches' time", 0.5,
                               "from half of the time on, fix this first"},
    [STK_INPUT_FROM_HANDING] = {"passing a batch on", "share of making it", 0.5,
                                "from half of the time on, fix this first"},
    [STK_INPUT_FROM_OPS] = {"PyTorch operators in a fetch", "a batch", 200,
                            "with fewer, calling them isn't what takes the time"},
    [STK_INPUT_FROM_FINE] = {"short calls", "share of the fetches' time", 0.7,
                             "then no single piece of work, such as decoding, holds up a batch"},
    [STK_INPUT_FROM_TENSOR] = {"passing on one tensor of a batch", "us", 400,
                               "350 to 470 us of the training process, measured with 2 to 40 "
                               "tensors: a file descriptor, messages and a mapping each"},
    [STK_INPUT_FROM_JAX_CALLS] = {"calls of JAX's compiled code", "a step", 20,
                                  "a loop that calls one compiled function has a few"},
    [STK_INPUT_FROM_DRAWING] = {"drawing the sample order", "share of the fetches' time", 0.5,
                                "from half of the time on, fix this first"},
    {0},
};

#define RECORDED_OP_NS 2000.0  // that PyTorch's profiler adds to an operator
#define RECORDED_CALL_NS 700.0 // to a Python call
#define MOST_PROCESSORS 100    // nobody has a machine with more for this
#define IDLE_CPU 0.5           // of a core; Python that computes would keep one busy

static double value_of(int row)
{
    return stk_input_thresholds[row].value;
}

static double saved(double step_share)
{
    return step_share < 1 ? 1 - step_share : 0;
}

static bool is_named(const struct stk_rule_ctx *ctx, const char *word)
{
    return stk_rule_cause_names(ctx, STK_PART_INPUT, word);
}

bool stk_input_has_workers(const struct stk_rule_ctx *ctx)
{
    return is_named(ctx, "MultiProcessingDataLoaderIter") || ctx->pass.run->workers.workers > 0;
}

bool stk_input_is_alone(const struct stk_rule_ctx *ctx)
{
    return !stk_input_has_workers(ctx) && is_named(ctx, "SingleProcessDataLoaderIter");
}

bool stk_input_is_handed_over(const struct stk_rule_ctx *ctx)
{
    static const char *const pools[] = {"multiprocessing/pool.py",
                                        "$pool.py",
                                        "result_iterator",
                                        "multiprocessing/queues.py",
                                        "$queues.py",
                                        "concurrent/futures/_base.py",
                                        "$_base.py",
                                        NULL};
    return ctx->pass.run->facts.input_filler ||
           stk_rule_cause_names_any(ctx, STK_PART_INPUT, pools);
}

bool stk_input_owns_fetch(const struct stk_rule_ctx *ctx)
{
    const struct stk_cause *c = &ctx->pass.run->causes[STK_PART_INPUT];
    int64_t ns = 0;
    for (int i = 0; i < c->owner_count; i++) {
        ns += c->owners[i].count > 1 ? c->owners[i].ns : 0; // the loop itself is called once
    }
    return 2 * ns > c->ns;
}

bool stk_input_waits_for_answer(const struct stk_rule_ctx *ctx)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    return facts->loader_fetch_ns > 0 &&
           (double)facts->input_asleep_ns >=
               value_of(STK_INPUT_FROM_ASLEEP) * (double)facts->loader_fetch_ns &&
           !is_named(ctx, "MultiProcessingDataLoaderIter"); // which waits for its workers
}

// Is the job off the CPU for most of the time that its steps wait for Python? Unknown without a
// machine record.
bool stk_input_python_waits(const struct stk_rule_ctx *ctx)
{
    const struct stk_machine_view *v = ctx->pass.run->machine;
    double rest = 1 - stk_rule_part_share(ctx, STK_PART_INPUT);
    double cpu = v ? stk_machine_mean(v, STK_SAMPLE_OF_JOB_CPU) : 0;
    bool queues = v && stk_machine_mean(v, STK_SAMPLE_OF_JOB_QUEUE) >= IDLE_CPU;
    return stk_input_python_limits(ctx) && cpu > 0 && !queues && cpu < rest + IDLE_CPU * (1 - rest);
}

uint64_t stk_input_requests(const struct stk_rule_ctx *ctx)
{
    double rest = 1 - stk_rule_part_share(ctx, STK_PART_INPUT);
    return rest * STK_INPUT_MOST_REQUESTS > 1 ? (uint64_t)(1 / rest + 1) : (uint64_t)STK_NOT_KNOWN;
}

// A limiting generator counts as Python's, however little of it tf.data's thread shows: other
// threads may fill the queue that it reads.
bool stk_input_python_limits(const struct stk_rule_ctx *ctx)
{
    const struct stk_run_sum *run = ctx->pass.run;
    const struct stk_slow_stage *s = &run->slow_stage;
    const struct stk_sign_sum *python = &run->facts.signs[STK_SIGN_PY_FUNC];
    bool generates = s->stage && strcmp(stk_input_stage_itself(s->stage), "Generator") == 0 &&
                     strcmp(s->kind, "read") == 0;
    double least = value_of(STK_INPUT_FROM_PYTHON) * (double)run->causes[STK_PART_INPUT].ns;
    return python->count > 0 && (generates || (double)python->ns >= least);
}

bool stk_input_shares_lock(const struct stk_rule_ctx *ctx)
{
    const struct stk_run_sum *run = ctx->pass.run;
    return run->facts.lock_ns > 0 &&
           (double)run->facts.lock_ns >=
               value_of(STK_INPUT_FROM_SHARED) * (double)run->parts[STK_PART_INPUT];
}

// Half of the steps create an iterator; Keras creates one for many steps.
bool stk_input_makes_iterators(const struct stk_rule_ctx *ctx)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    return ctx->pass.run->step_marks > 2 && facts->signs[STK_SIGN_KERAS].count == 0 &&
           2 * facts->signs[STK_SIGN_ITERATOR].count >= ctx->pass.run->step_marks;
}

bool stk_input_makes_loader_iterators(const struct stk_rule_ctx *ctx)
{
    const struct stk_run_sum *run = ctx->pass.run;
    uint64_t made = run->facts.signs[STK_SIGN_LOADER_ITERATOR].count;
    // If the profiler's step is an epoch, each one rightly has its own iterator.
    return run->step_marks > 2 && 2 * made >= run->step_marks &&
           run->facts.loader_fetches < 3 * made;
}

bool stk_input_is_beside_loader(const struct stk_rule_ctx *ctx)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    const struct stk_cause *c = &ctx->pass.run->causes[STK_PART_INPUT];
    return stk_input_is_alone(ctx) && stk_rule_owners_tell(c) && 2 * facts->loader_fetch_ns < c->ns;
}

bool stk_input_is_drawing(const struct stk_rule_ctx *ctx)
{
    const struct stk_facts *f = &ctx->pass.run->facts;
    return f->fetch_draw_ns > 0 && f->loader_fetch_ns > 0 &&
           (double)f->fetch_draw_ns >=
               value_of(STK_INPUT_FROM_DRAWING) * (double)f->loader_fetch_ns;
}

bool stk_input_many_calls(const struct stk_rule_ctx *ctx)
{
    const struct stk_facts *f = &ctx->pass.run->facts;
    return stk_input_is_alone(ctx) && f->loader_fetches > 0 &&
           (double)f->fetch_ops >= value_of(STK_INPUT_FROM_OPS) * (double)f->loader_fetches &&
           (double)f->fetch_fine_ns >= value_of(STK_INPUT_FROM_FINE) * (double)f->loader_fetch_ns;
}

// The fetches' time minus each call's profiling overhead; at least half of it stays.
static double unrecorded_fetch_ns(const struct stk_facts *f)
{
    double added_ns = RECORDED_OP_NS * (double)f->fetch_ops +
                      RECORDED_CALL_NS * (double)(f->fetch_calls - f->fetch_ops);
    double most_ns = 0.5 * (double)f->loader_fetch_ns;
    return (double)f->loader_fetch_ns - (added_ns < most_ns ? added_ns : most_ns);
}

bool stk_input_workers_pay(const struct stk_rule_ctx *ctx)
{
    const struct stk_facts *f = &ctx->pass.run->facts;
    uint64_t tensors = f->fetch_stacks > f->loader_fetches ? f->fetch_stacks : f->loader_fetches;
    return f->loader_fetches == 0 || f->loader_fetch_ns <= 0 ||
           (double)tensors * value_of(STK_INPUT_FROM_TENSOR) * 1e3 < unrecorded_fetch_ns(f);
}

// Makers run in the background, and compute.
static bool is_beside(const struct stk_rule_ctx *ctx, bool by_pipeline)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    const struct stk_slow_stage *s = &ctx->pass.run->slow_stage;
    bool grain = facts->signs[STK_SIGN_GRAIN_MERGE].count > 0 &&
                 facts->signs[STK_SIGN_GRAIN_READ].count == 0;
    bool pipeline = s->stage && s->is_pipeline && s->is_buffered &&
                    !stk_input_makes_iterators(ctx) && by_pipeline;
    if (facts->own_batches > 0 || stk_input_makes_loader_iterators(ctx)) {
        return false;
    }
    return stk_input_has_workers(ctx) || stk_input_is_handed_over(ctx) || grain || pipeline;
}

static bool price_of(const struct stk_rule_ctx *ctx, const char *fix, struct stk_price *price)
{
    struct stk_price_asked set;
    return stk_rule_may_price(ctx, fix, &set) && stk_price_set(ctx->prices, &set, 1, price);
}

static void level(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, enum stk_effort effort,
                  uint64_t count, const char *whatif, const struct stk_price *price)
{
    stk_finding_level(ctx, f,
                      (struct stk_rep_level){.effort = effort,
                                             .price = whatif,
                                             .count = count,
                                             .low_share = saved(price->high),
                                             .expected_share = saved(price->expected),
                                             .high_share = saved(price->low)});
}

// The number of cores needed so that the step doesn't wait: one for its own thread, and those for
// makers that make a batch in the time of a step without the wait. One of the two is known.
static void processors_for(const struct stk_rule_ctx *ctx, double makers, uint64_t *about,
                           uint64_t *above)
{
    double rest = 1 - stk_rule_part_share(ctx, STK_PART_INPUT);
    bool many = rest * MOST_PROCESSORS < makers;
    *about = many ? (uint64_t)STK_NOT_KNOWN : (uint64_t)(makers / rest + 1.999);
    *above = many ? MOST_PROCESSORS : (uint64_t)STK_NOT_KNOWN;
}

static void price_calls(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    struct stk_price some, most, free;
    if (price_of(ctx, STK_PRICE_INPUT_HALF, &some) &&
        price_of(ctx, STK_PRICE_INPUT_EIGHTH, &most) && price_of(ctx, "input-free", &free)) {
        most.low = free.low;
        level(ctx, f, STK_EFFORT_HALF, 0, STK_PRICE_INPUT_HALF, &some);
        level(ctx, f, STK_EFFORT_EIGHTH, 0, STK_PRICE_INPUT_EIGHTH, &most);
    }
}

static void price_more(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    struct stk_price free;
    double makers = ctx->pass.run->workers.workers > 1 ? ctx->pass.run->workers.workers : 1;
    uint64_t about, above;
    if (!price_of(ctx, "input-free", &free)) {
        return;
    }
    double most = saved(free.expected), half = most / 2;
    if (!stk_rule_on_host(ctx)) { // the step's own work needs one core
        half = most < 0.5 ? most : 0.5;
    }
    processors_for(ctx, makers, &about, &above);
    stk_say_more_makers(ctx, f, half, stk_rule_on_host(ctx), about, above);
    struct stk_price twice = {.low = free.low, .expected = 1 - half, .high = 1};
    level(ctx, f, STK_EFFORT_TWICE, 0, "input-free", &twice);
    if (about != (uint64_t)STK_NOT_KNOWN) {
        level(ctx, f, STK_EFFORT_WORKERS, about, "input-free", &free);
    }
}

// One background worker takes as long per batch as the loop did, which is the minimum saving.
static void price_one(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, uint64_t about,
                      uint64_t above)
{
    struct stk_price beside;
    double most = stk_level_most(ctx);
    if (price_of(ctx, "input-overlap", &beside)) {
        stk_say_one_worker(ctx, f, fmin(saved(beside.high), most), fmin(saved(beside.low), most),
                           about, above);
        level(ctx, f, STK_EFFORT_ONE_WORKER, 0, "input-overlap", &beside);
    }
}

// As many workers as the wait needs hide all of it; several concurrent requests need no cores.
// Threads of tf.data that wait in Python already work in the background.
static void price_beside(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    struct stk_price free;
    uint64_t about = (uint64_t)STK_NOT_KNOWN, above = (uint64_t)STK_NOT_KNOWN;
    bool python = stk_input_python_waits(ctx), asleep = python || stk_input_waits_for_answer(ctx);
    if (!price_of(ctx, "input-free", &free)) {
        return;
    }
    if (!asleep) {
        processors_for(ctx, stk_rule_part_share(ctx, STK_PART_INPUT), &about, &above);
    }
    if (!python) {
        price_one(ctx, f, about, above);
    }
    if (asleep) {
        about = stk_input_requests(ctx);
    }
    if ((python || f->levels.count > 0) && about != (uint64_t)STK_NOT_KNOWN && about > 1) {
        level(ctx, f, asleep ? STK_EFFORT_REQUESTS : STK_EFFORT_WORKERS, about, "input-free",
              &free);
    }
}

void stk_input_price(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, bool even,
                     bool by_pipeline)
{
    bool alone = stk_input_is_alone(ctx) && !stk_input_is_beside_loader(ctx);
    if (alone && (stk_input_many_calls(ctx) || !stk_input_workers_pay(ctx))) {
        price_calls(ctx, f);
    } else if (even && is_beside(ctx, by_pipeline) && !stk_input_waits_for_answer(ctx) &&
               !(stk_input_has_workers(ctx) && stk_input_owns_fetch(ctx))) {
        price_more(ctx, f);
    } else {
        price_beside(ctx, f);
    }
}
