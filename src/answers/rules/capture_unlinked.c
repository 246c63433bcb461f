// SPDX-License-Identifier: Apache-2.0
// Device work without its launch call: the profile doesn't show why the device was idle before it.
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/finding.h"

enum { SHARE, MUCH };
static const struct stk_threshold thresholds[] = {
    [SHARE] = {"GPU work without a launch call", "share of GPU operations", 0.05,
               "a few calls may be lost at the edges of a recording"},
    [MUCH] = {"GPU work without a launch call, distorting", "share of GPU operations", 0.25,
              "from here, idle time of unknown cause can outweigh every named loss"},
    {0},
};

enum { FIX_TORCH, FIX_TF, FIX_JAX, FIX_CUDA, FIX_WINDOW };
static const struct stk_rep_fix fixes[] = {
    [FIX_TORCH] = STK_FIX(capture_unlinked_torch),   [FIX_TF] = STK_FIX(capture_unlinked_tf),
    [FIX_JAX] = STK_FIX(capture_unlinked_jax),       [FIX_CUDA] = STK_FIX(capture_unlinked_cuda),
    [FIX_WINDOW] = STK_FIX(capture_unlinked_window), {0},
};

static enum stk_rule_state capture_unlinked_check(const struct stk_rule_ctx *ctx,
                                                  struct stk_rep_finding *f, const char **why)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    if (stk_rule_on_tpu(ctx)) {
        *why = "a TPU's program runs without launch calls";
        return STK_RULE_NOT_APPLICABLE;
    }
    if (facts->device_ops == 0) {
        *why = "no GPU operations";
        return STK_RULE_SKIPPED;
    }
    uint64_t lost = facts->unlinked_ops - facts->queued_ops;
    double share = (double)lost / (double)facts->device_ops;
    *why = stk_why_unlinked(ctx, lost, facts->device_ops,
                            facts->queued_ops > 0 ? facts->queued_ops : (uint64_t)STK_NOT_KNOWN);
    if (share < thresholds[SHARE].value) {
        return STK_RULE_PASSED;
    }
    f->severity = share >= thresholds[MUCH].value ? STK_LEVEL_MEDIUM : STK_LEVEL_LOW;
    if (!facts->has_launch_rows) {
        f->title = "No launch calls were recorded";
    }
    stk_say_operations_unlinked(ctx, f, lost, facts->device_ops);
    if (ctx->pass.run->parts[STK_PART_UNKNOWN] > 0 && facts->has_launch_rows) {
        stk_say_idle_unexplained(ctx, f, stk_rule_part_share(ctx, STK_PART_UNKNOWN));
    }
    // If launches were recorded, CPU activity is already on.
    int last = facts->has_launch_rows ? FIX_WINDOW : FIX_CUDA;
    for (int i = facts->has_launch_rows ? FIX_CUDA : FIX_TORCH; i <= last; i++) {
        stk_finding_fix(ctx, f, &fixes[i]);
    }
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_capture_unlinked = {
    .page = STK_PAGE(capture_unlinked),
    .kind = STK_TOPIC_RECORDING,
    .needs = STK_NEED_DEVICE,
    .thresholds = thresholds,
    .fixes = fixes,
    .fixes_recorder = true,
    .check = capture_unlinked_check,
};
