// SPDX-License-Identifier: Apache-2.0
// The host waits for the device after each launch, as CUDA_LAUNCH_BLOCKING=1 and some debugging
// aids make it do. Overlap is impossible, so the profile shows a job that nobody would run like
// this.
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/finding.h"

enum { SHARE, LEAST };
static const struct stk_threshold thresholds[] = {
    [SHARE] =
        {"serialized launches", "share of launch calls", 0.5,
         "a job that synchronizes by itself does so a few times per step, not after every launch"},
    [LEAST] = {"serialized launches", "calls", 20, "fewer may be chance"},
    {0},
};

static const struct stk_rep_fix fixes[] = {
    STK_FIX(capture_serialized_blocking_launches), STK_FIX(capture_serialized_torch_sync),
    STK_FIX(capture_serialized_jax_blocks),        STK_FIX(capture_serialized_tf_eager),
    STK_FIX(capture_serialized_cuda_wait),         {0},
};

static enum stk_rule_state capture_serialized_check(const struct stk_rule_ctx *ctx,
                                                    struct stk_rep_finding *f, const char **why)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    if (facts->launches == 0) {
        *why = "no launch calls were recorded";
        return STK_RULE_SKIPPED;
    }
    *why = stk_why_serialized(ctx, facts->serialized_launches, facts->launches);
    if ((double)facts->serialized_launches < thresholds[LEAST].value ||
        (double)facts->serialized_launches < thresholds[SHARE].value * (double)facts->launches) {
        return STK_RULE_PASSED;
    }
    f->severity = STK_LEVEL_MEDIUM;
    stk_say_launches_serialized(ctx, f, facts->serialized_launches, facts->launches);
    stk_say_launches_never_overlap(ctx, f);
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_capture_serialized = {
    .page = STK_PAGE(capture_serialized),
    .kind = STK_TOPIC_RECORDING,
    .needs = STK_NEED_DEVICE | STK_NEED_HOST,
    .thresholds = thresholds,
    .fixes = fixes,
    .fixes_recorder = true,
    .check = capture_serialized_check,
};
