// SPDX-License-Identifier: Apache-2.0
// Clocks disagree: device work begins before its launch call, or ranks' collectives don't end
// together. Durations stay right. Times between host and device, or between ranks, don't.
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/finding.h"
#include "profile/model/collectives/rank_clocks.h"

enum { SKEW_NS, SKEW_SHARE, MATCHED };
static const struct stk_threshold thresholds[] = {
    [SKEW_NS] = {"worst lead of GPU work over its launch call", "ns", 20000,
                 "clocks convert to within a few microseconds, and a launch takes as long"},
    [SKEW_SHARE] = {"GPU work ahead of its launch call", "share of linked operations", 0.01,
                    "single outliers change nothing"},
    [MATCHED] = {"matched collectives", "collectives", 3, "fewer can't show that ranks disagree"},
    {0},
};

static const struct stk_rep_fix fixes[] = {
    STK_FIX(capture_clock_care),
    STK_FIX(capture_clock_synchronise),
    STK_FIX(capture_clock_recent_pytorch),
    {0},
};

static bool host_and_device(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    uint64_t linked =
        facts->device_ops > facts->unlinked_ops ? facts->device_ops - facts->unlinked_ops : 0;
    int64_t worst =
        facts->worst_negative_ns < 0 ? -facts->worst_negative_ns : facts->worst_negative_ns;
    if (facts->negative_delays == 0 || (double)worst < thresholds[SKEW_NS].value ||
        (double)facts->negative_delays < thresholds[SKEW_SHARE].value * (double)linked) {
        return false;
    }
    stk_say_work_before_launch(ctx, f, facts->negative_delays, linked, worst);
    return true;
}

// How far apart the ranks' clocks are, judging by collectives that all of them leave together.
static void say_offsets(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_run_sum *run = ctx->pass.run;
    const int64_t *clock_ns = run->clock_ns;
    uint32_t first = 0, last = 0;
    if (!clock_ns || clock_ns[0] == STK_CLOCK_UNKNOWN) {
        return;
    }
    for (uint32_t r = 1; r < run->rank_count; r++) {
        first = clock_ns[r] < clock_ns[first] ? r : first;
        last = clock_ns[r] > clock_ns[last] ? r : last;
    }
    stk_say_clocks_apart(ctx, f, clock_ns[last] - clock_ns[first], run->ranks[last]->rank,
                         clock_ns[last], run->ranks[first]->rank, -clock_ns[first]);
}

static bool between_ranks(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_run_sum *run = ctx->pass.run;
    if (run->rank_count < 2 || run->straggler.matched < thresholds[MATCHED].value ||
        run->straggler.clocks_agree) {
        return false;
    }
    stk_say_collective_ends_differ(ctx, f, run->straggler.matched);
    say_offsets(ctx, f);
    return true;
}

static enum stk_rule_state capture_clock_check(const struct stk_rule_ctx *ctx,
                                               struct stk_rep_finding *f, const char **why)
{
    bool device = host_and_device(ctx, f), ranks = between_ranks(ctx, f);
    if (!device && !ranks) {
        *why = "no significant disagreement";
        return STK_RULE_PASSED;
    }
    *why = device && ranks ? "CPU and GPU disagree, and so do the ranks"
           : device        ? "CPU and GPU disagree"
                           : "the ranks disagree";
    f->severity = device ? STK_LEVEL_LOW : STK_LEVEL_INFO;
    if (!device) {
        f->title = "The ranks' clocks disagree";
    }
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_capture_clock = {
    .page = STK_PAGE(capture_clock),
    .kind = STK_TOPIC_RECORDING,
    .needs = STK_NEED_DEVICE,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = capture_clock_check,
};
