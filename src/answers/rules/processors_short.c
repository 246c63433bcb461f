// SPDX-License-Identifier: Apache-2.0
// The job's threads wait for CPU cores: more of them are runnable than the job, or the machine, has
// cores. Uses each thread's run-queue wait (schedstat), which counts runnable time without a core.
// Waiting in a throttled cgroup belongs to cgroup-throttled.
//
// If other programs hold the cores, no change to the job helps. This is then a remark about the
// recording, after what the job itself can change, with the step time that free cores would allow
// at best. Limit: a job gets cores one thread at a time, so it can use at most as many free cores
// as it has runnable threads on average. Whether they all work on the step isn't known.
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/on_machine.h"

enum { WAITS, LEAST, FULL, WANTED, OTHERS, THROTTLED, THREADS };
static const struct stk_threshold thresholds[] = {
    [WAITS] = {"waiting in the run queue", "share of the time that threads were runnable", 0.2,
               "what waits could run a fifth faster; below it is scheduler noise"},
    [LEAST] = {"threads waiting", "on average", 0.25, "one short-lived thread isn't a queue"},
    [FULL] = {"cores in use", "share of the available ones", 0.85,
              "with cores free, a queue has another cause: affinity, priorities"},
    [WANTED] = {"running and waiting threads", "per core that the job may use", 1.5,
                "then the job alone needs more than all cores"},
    [OTHERS] = {"cores that other programs hold", "per core that the job runs on", 1,
                "then they wait as much for the job as it does for them, or more"},
    [THROTTLED] = {"throttled periods", "share", 0.05, "then cgroup-throttled reports it"},
    [THREADS] = {"running and waiting threads of a worker process", "on average", 1.5,
                 "a worker that makes its batch in one thread has one"},
    {0},
};

enum { FIX_ONE_THREAD, FIX_MORE, FIX_TORCH_WORKERS, FIX_COUNT, FIX_OTHERS = FIX_COUNT };
static const struct stk_rep_fix fixes[] = {
    [FIX_ONE_THREAD] = STK_FIX(processors_short_one_thread),
    [FIX_MORE] = STK_FIX(processors_short_more),
    [FIX_TORCH_WORKERS] = STK_FIX(processors_short_torch_workers),
    [FIX_OTHERS] = STK_FIX(processors_short_others),
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

// Cores on average; 0: not known.
struct shortage {
    double cpu, queue;   // of the job
    double own, machine; // that the job may use, that the machine has
    double busy;         // share of the machine's
};

static struct shortage shortage_of(const struct stk_machine_view *v)
{
    return (struct shortage){.cpu = stk_machine_mean(v, STK_SAMPLE_OF_JOB_CPU),
                             .queue = stk_machine_mean(v, STK_SAMPLE_OF_JOB_QUEUE),
                             .own = stk_machine_mean(v, STK_SAMPLE_OF_JOB_PROCESSORS),
                             .machine = stk_machine_mean(v, STK_SAMPLE_OF_MACHINE_PROCESSORS),
                             .busy = stk_machine_mean(v, STK_SAMPLE_OF_MACHINE_CPU)};
}

static bool fills_its_cores(const struct shortage *s)
{
    return s->own > 0 && s->cpu >= thresholds[FULL].value * s->own;
}

// Do other programs hold the cores? The job alone would do with those it has, or gets fewer of them
// than the others do.
static bool others_hold(const struct shortage *s)
{
    if (s->own <= 0 || fills_its_cores(s)) {
        return false;
    }
    double in_use = s->busy * s->machine;
    double others = (in_use < s->own ? in_use : s->own) - s->cpu;
    return s->cpu + s->queue < thresholds[WANTED].value * s->own ||
           others >= thresholds[OTHERS].value * s->cpu;
}

// The step as it is, and as it would be at best if the job's threads found its cores free.
static void say_of_recording(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                             const struct stk_machine_view *v)
{
    f->kind = STK_TOPIC_RECORDING;
    f->title = "Other programs hold the cores that the job's threads wait for";
    f->fix.count = 0;
    stk_finding_fix(ctx, f, &fixes[FIX_OTHERS]);
    stk_finding_held(ctx, f, STK_HELD_HOST, stk_machine_crowded_share(v));
    struct stk_rule_steps steps = stk_rule_spread(ctx, (1u << STK_PART_COUNT) - 1);
    if (f->severity < STK_LEVEL_INFO && f->saving.has_high && steps.used > 0) {
        int64_t now_ns = steps.total_ns / steps.used;
        int64_t least_ns = (int64_t)((1 - f->saving.high_share) * (double)now_ns);
        stk_say_step_on_free_cores(ctx, f, least_ns, now_ns);
        f->title = stk_why_others_hold_cores(ctx, least_ns, now_ns);
    }
}

// False: threads wait, but this rule has nothing to say; *why tells.
static bool is_short(const struct stk_machine_view *v, const struct shortage *s, const char **why)
{
    if (stk_rule_queue_share(v) <= 0) {
        return false;
    }
    if (stk_machine_mean(v, STK_SAMPLE_OF_CGROUP_PERIODS) >= thresholds[THROTTLED].value) {
        *why = "cgroup-throttled reports it";
        return false;
    }
    if (!fills_its_cores(s) && s->busy < thresholds[FULL].value) {
        *why = "threads wait while cores are free";
        return false;
    }
    return true;
}

static enum stk_rule_state processors_short_check(const struct stk_rule_ctx *ctx,
                                                  struct stk_rep_finding *f, const char **why)
{
    const struct stk_machine_view *v = stk_rule_machine(ctx, why);
    if (!v) {
        return STK_RULE_NOT_APPLICABLE;
    }
    struct shortage s = shortage_of(v);
    double waits = s.cpu + s.queue > 0 ? s.queue / (s.cpu + s.queue) : 0;
    *why = stk_why_threads_waited(ctx, waits);
    if (!is_short(v, &s, why)) {
        return STK_RULE_PASSED;
    }
    struct stk_crew crew;
    bool has_crew = stk_rule_crew(v, &crew) && s.own > 0;
    bool have_threads = has_crew && crew.cpu + crew.queue >= thresholds[THREADS].value;
    if (has_crew) {
        say_crew(ctx, f, &crew, s.own);
    } else {
        stk_finding_fix(ctx, f, &fixes[FIX_MORE]);
        stk_finding_fix(ctx, f, &fixes[FIX_TORCH_WORKERS]);
    }
    stk_say_threads_wait(ctx, f, s.cpu, s.queue, s.own);
    if (!fills_its_cores(&s)) {
        stk_say_machine_is_busy(ctx, f, s.busy);
    }
    if (!have_threads && others_hold(&s)) {
        say_of_recording(ctx, f, v);
    } else {
        stk_finding_held(ctx, f, STK_HELD_HOST, waits);
    }
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_processors_short = {
    .page = STK_PAGE(processors_short),
    .thresholds = thresholds,
    .fixes = fixes,
    .is_live = true,
    .check = processors_short_check,
};
