// SPDX-License-Identifier: Apache-2.0
// The control group stops the job: it used up its CPU quota before the period ended. Common in
// containers with a CPU limit, and invisible to profilers: threads are just suspended.
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/on_machine.h"

enum { PERIODS };
static const struct stk_threshold thresholds[] = {
    [PERIODS] = {"throttled periods", "share of the quota's periods", 0.05,
                 "each costs up to the rest of its period, usually 100 ms"},
    {0},
};

static const struct stk_rep_fix fixes[] = {
    STK_FIX(cgroup_throttled_raise_limit),
    STK_FIX(cgroup_throttled_fewer_threads),
    {0},
};

static enum stk_rule_state cgroup_throttled_check(const struct stk_rule_ctx *ctx,
                                                  struct stk_rep_finding *f, const char **why)
{
    const struct stk_machine_view *v = stk_rule_machine(ctx, why);
    if (!v) {
        return STK_RULE_NOT_APPLICABLE;
    }
    double periods = stk_machine_mean(v, STK_SAMPLE_OF_CGROUP_PERIODS);
    double stopped = stk_machine_mean(v, STK_SAMPLE_OF_CGROUP_THROTTLED);
    double cpu = stk_machine_mean(v, STK_SAMPLE_OF_JOB_CPU);
    double quota = stk_machine_mean(v, STK_SAMPLE_OF_CGROUP_QUOTA);
    double threads = stk_machine_mean(v, STK_SAMPLE_OF_JOB_THREADS);
    double machine = stk_machine_mean(v, STK_SAMPLE_OF_MACHINE_PROCESSORS);
    *why = stk_why_throttled(ctx, periods);
    if (periods < thresholds[PERIODS].value) {
        return STK_RULE_PASSED;
    }
    double loss = stopped > 0 ? stopped / (stopped + cpu) : periods;
    stk_say_quota_used_up(ctx, f, loss, periods);
    if (quota > 0 && machine > 0) {
        stk_say_quota_is(ctx, f, quota, machine, threads);
    }
    if (stopped > 0) {
        stk_say_processors_stood_still(ctx, f, stopped, cpu);
    }
    stk_finding_held(ctx, f, STK_HELD_HOST, loss);
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_cgroup_throttled = {
    .page = STK_PAGE(cgroup_throttled),
    .thresholds = thresholds,
    .fixes = fixes,
    .is_live = true,
    .check = cgroup_throttled_check,
};
