// SPDX-License-Identifier: Apache-2.0
// The profiler's own work. It is recorded (buffer flushes, instrumentation), or estimated: for a
// Python tracer from the calls that it recorded; else the cost of recording operations and calls in
// a step whose device waits for them, as prices subtract it (answers/replay/gate.h), with its
// range. Other slow-downs by a profiler aren't seen.
#include "base/assert.h"
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/finding.h"

enum { NOTABLE, CONTAMINATING, HOLDS_UP, CALL, MOST, SLOWED };
static const struct stk_threshold thresholds[] = {
    [NOTABLE] = {"profiler overhead", "share of the recorded time", 0.05,
                 "1% warned in every profile; 5% is worth knowing"},
    [CONTAMINATING] = {"profiler overhead, distorting", "share of the recorded time", 0.15,
                       "larger than most losses that decide a verdict"},
    [HOLDS_UP] = {"idle because of the profiler", "share of the step", 0.01,
                  "overhead that overlaps GPU work distorts little"},
    [CALL] = {"recording a Python call", "us", 0.7,
              "a Python tracer runs at each call and return; measured at 0.4 to 1 us"},
    [MOST] = {"overhead reported without a figure", "share of the recorded time", 0.9,
              "the estimated cost per call isn't that certain"},
    [SLOWED] = {"estimated profiling overhead", "share of the step", 0.15,
                "measured at 0.4 to 2.6 times the estimate: less may be negligible"},
    {0},
};

enum { FIX_TORCH, FIX_TF, FIX_JAX, FIX_CUDA, FIX_COMPARE, FIX_DEVICE_ALONE, FIX_STEPS };
static const struct stk_rep_fix fixes[] = {
    [FIX_TORCH] = STK_FIX(capture_overhead_torch),
    [FIX_TF] = STK_FIX(capture_overhead_tf),
    [FIX_JAX] = STK_FIX(capture_overhead_jax),
    [FIX_CUDA] = STK_FIX(capture_overhead_cuda),
    [FIX_COMPARE] = STK_FIX(capture_overhead_compare),
    [FIX_DEVICE_ALONE] = STK_FIX(capture_overhead_device_alone),
    [FIX_STEPS] = STK_FIX(capture_overhead_steps),
    {0},
};

// The records that such a profiler can leave out.
static void record_less(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    for (int k = FIX_TORCH; k <= FIX_COMPARE; k++) {
        stk_finding_fix(ctx, f, &fixes[k]);
    }
}

// A Python tracer doesn't record its own cost. It follows from the recorded calls, which all hold
// one interpreter's lock.
static double tracer_share(const struct stk_rule_ctx *ctx)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    double share = (double)facts->python_events * thresholds[CALL].value * 1e3 /
                   (double)stk_rule_recorded_ns(ctx);
    return share < 1 ? share : 1;
}

// An estimate that reaches the whole time only shows that it is most of it.
static double unless_most(double share)
{
    STK_ASSERT(share >= 0);
    return share < thresholds[MOST].value ? share : (double)STK_NOT_KNOWN;
}

static void say_tracer(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, double share)
{
    const struct stk_run_sum *run = ctx->pass.run;
    uint64_t calls = run->facts.python_events;
    f->title = "Recording Python slows the job down";
    stk_say_python_calls_recorded(
        ctx, f, calls, run->step_marks > 0 ? calls / run->step_marks : (uint64_t)STK_NOT_KNOWN,
        thresholds[CALL].value, unless_most(share));
}

// Profiling overhead of a host step, if steps can be replayed: an estimate from the number of
// operations and calls.
static enum stk_rule_state check_slowed(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                                        const char **why)
{
    const struct stk_pricing *p = ctx->prices;
    double share = p && p->gate.ok ? p->gate.profiler : 0;
    if (share < thresholds[SLOWED].value) {
        return STK_RULE_PASSED;
    }
    *why = stk_why_recording_adds(ctx, share);
    f->title = "Profiling slows the steps down";
    f->severity = STK_LEVEL_LOW;
    f->confidence = STK_LEVEL_LOW;
    stk_say_recording_adds(ctx, f, share, share * STK_PROFILER_LEAST, p->gate.profiler_most);
    stk_finding_fix(ctx, f, &fixes[FIX_STEPS]);
    stk_finding_fix(ctx, f, &fixes[FIX_DEVICE_ALONE]);
    return STK_RULE_FIRED;
}

static enum stk_rule_state check_tracer(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                                        const char **why)
{
    double share = tracer_share(ctx);
    if (share < thresholds[NOTABLE].value) {
        return check_slowed(ctx, f, why);
    }
    *why = stk_why_python_recorded(ctx, unless_most(share));
    f->severity = share >= thresholds[CONTAMINATING].value ? STK_LEVEL_MEDIUM : STK_LEVEL_LOW;
    f->confidence = STK_LEVEL_MEDIUM;
    say_tracer(ctx, f, share);
    if (ctx->pass.run->machine) { // stoker run recorded it, only this window
        stk_say_stokers_tracer(ctx, f);
        stk_finding_fix(ctx, f, &fixes[FIX_COMPARE]);
    } else {
        record_less(ctx, f);
    }
    return STK_RULE_FIRED;
}

static enum stk_rule_state capture_overhead_check(const struct stk_rule_ctx *ctx,
                                                  struct stk_rep_finding *f, const char **why)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    double recorded = (double)facts->profiler_overhead_ns / (double)stk_rule_recorded_ns(ctx);
    double inside = stk_rule_part_share(ctx, STK_PART_OVERHEAD);
    double share = inside > recorded ? inside : recorded;
    if (facts->profiler_overhead_ns <= 0 && inside <= 0) {
        *why = "the profile records no overhead";
        return check_tracer(ctx, f, why);
    }
    *why = stk_why_of_time(ctx, share);
    if (share < thresholds[NOTABLE].value) {
        return check_tracer(ctx, f, why);
    }
    record_less(ctx, f);
    bool holds_up = stk_rule_on_host(ctx) || inside >= thresholds[HOLDS_UP].value;
    f->severity =
        holds_up && share >= thresholds[CONTAMINATING].value ? STK_LEVEL_MEDIUM : STK_LEVEL_LOW;
    stk_say_profiler_takes(ctx, f, facts->profiler_overhead_ns, recorded);
    if (holds_up && inside > 0) {
        stk_say_profiler_idles(ctx, f, inside);
    } else {
        stk_say_profiler_is_beside(ctx, f);
    }
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_capture_overhead = {
    .page = STK_PAGE(capture_overhead),
    .kind = STK_TOPIC_RECORDING,
    .thresholds = thresholds,
    .fixes = fixes,
    .fixes_recorder = true,
    .check = capture_overhead_check,
};
