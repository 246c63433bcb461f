// SPDX-License-Identifier: Apache-2.0
// The job's threads wait for CPU cores: more of them are runnable than the job, or the machine, has
// cores. Uses each thread's run-queue wait (schedstat), which counts runnable time without a core.
// Waiting in a throttled cgroup belongs to cgroup-throttled.
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/on_machine.h"

enum { WAITS, LEAST, FULL, WANTED, THROTTLED, THREADS };
static const struct stk_threshold thresholds[] = {
    [WAITS] = {"waiting in the run queue", "share of the time that threads were runnable", 0.2,
               "what waits could run a fifth faster; below it is scheduler noise"},
    [LEAST] = {"threads waiting", "on average", 0.25, "one short-lived thread isn't a queue"},
    [FULL] = {"cores in use", "share of the available ones", 0.85,
              "with cores free, a queue has another cause: affinity, priorities"},
    [WANTED] = {"running and waiting threads", "per core that the job may use", 1.5,
                "then the job alone needs more than all cores"},
    [THROTTLED] = {"throttled periods", "share", 0.05, "then cgroup-throttled reports it"},
    [THREADS] = {"running and waiting threads of a worker process", "on average", 1.5,
                 "a worker that makes its batch in one thread has one"},
    {0},
};

enum { FIX_ONE_THREAD, FIX_MORE, FIX_TORCH_WORKERS, FIX_COUNT };
static const struct stk_rep_fix fixes[] = {
    [FIX_ONE_THREAD] = STK_FIX(processors_short_one_thread),
    [FIX_MORE] = STK_FIX(processors_short_more),
    [FIX_TORCH_WORKERS] = STK_FIX(processors_short_torch_workers),
    {0},
};

// Workers whose libraries start their own threads (OpenCV, OpenMP, BLAS) multiply them.
static void say_crew(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                     const struct stk_crew *crew, double allowed)
{
    double wanted = crew->cpu + crew->queue;
    bool have_threads = wanted >= thresholds[THREADS].value;
    if (have_threads) {
        f->title = "Worker processes start more threads than there are CPU cores";
        stk_say_workers_have_threads(ctx, f, crew->count, stk_rule_name(ctx, crew->name), wanted,
                                     allowed);
    } else {
        stk_say_processes_wait(ctx, f, crew->count, stk_rule_name(ctx, crew->name),
                               wanted < 1 ? wanted : 1, crew->queue / wanted, allowed);
    }
    for (int i = have_threads ? FIX_ONE_THREAD : FIX_MORE; i < FIX_COUNT; i++) {
        stk_finding_fix(ctx, f, &fixes[i]);
    }
}

double stk_rule_queue_share(const struct stk_machine_view *v)
{
    double cpu = stk_machine_mean(v, STK_SAMPLE_OF_JOB_CPU);
    double queue = stk_machine_mean(v, STK_SAMPLE_OF_JOB_QUEUE);
    double waits = cpu + queue > 0 ? queue / (cpu + queue) : 0;
    return waits < thresholds[WAITS].value || queue < thresholds[LEAST].value ? 0 : waits;
}

static enum stk_rule_state processors_short_check(const struct stk_rule_ctx *ctx,
                                                  struct stk_rep_finding *f, const char **why)
{
    const struct stk_machine_view *v = stk_rule_machine(ctx, why);
    if (!v) {
        return STK_RULE_NOT_APPLICABLE;
    }
    double cpu = stk_machine_mean(v, STK_SAMPLE_OF_JOB_CPU);
    double queue = stk_machine_mean(v, STK_SAMPLE_OF_JOB_QUEUE);
    double own = stk_machine_mean(v, STK_SAMPLE_OF_JOB_PROCESSORS);
    double machine = stk_machine_mean(v, STK_SAMPLE_OF_MACHINE_CPU);
    double waits = cpu + queue > 0 ? queue / (cpu + queue) : 0;
    bool is_own = own > 0 && cpu >= thresholds[FULL].value * own;
    *why = stk_why_threads_waited(ctx, waits);
    if (stk_rule_queue_share(v) <= 0) {
        return STK_RULE_PASSED;
    }
    if (stk_machine_mean(v, STK_SAMPLE_OF_CGROUP_PERIODS) >= thresholds[THROTTLED].value) {
        *why = "cgroup-throttled reports it";
        return STK_RULE_PASSED;
    }
    if (!is_own && machine < thresholds[FULL].value) {
        *why = "threads wait while cores are free";
        return STK_RULE_PASSED;
    }
    struct stk_crew crew;
    bool has_crew = stk_rule_crew(v, &crew);
    if (has_crew && own > 0) {
        say_crew(ctx, f, &crew, own);
    } else {
        stk_finding_fix(ctx, f, &fixes[FIX_MORE]);
        stk_finding_fix(ctx, f, &fixes[FIX_TORCH_WORKERS]);
    }
    stk_say_threads_wait(ctx, f, cpu, queue, own);
    if (!is_own) {
        if (cpu + queue < thresholds[WANTED].value * own) {
            f->title = "Other programs use the cores that the job's threads wait for";
        }
        stk_say_machine_is_busy(ctx, f, machine);
    }
    stk_finding_held(ctx, f, STK_HELD_HOST, waits);
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_processors_short = {
    .page = STK_PAGE(processors_short),
    .thresholds = thresholds,
    .fixes = fixes,
    .is_live = true,
    .check = processors_short_check,
};
