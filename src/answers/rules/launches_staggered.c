// SPDX-License-Identifier: Apache-2.0
// One thread launches for all devices of a process in turn: each begins its step after the one
// before (profile/model/device/stagger.c). If they hardly work at the same time at all,
// devices-in-turn reports it, or data-parallel for PyTorch's DataParallel.
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/kernel_rules.h"
#include "answers/rules/on_machine.h"

enum { LATE, ONE_THREAD };
static const struct stk_threshold thresholds[] = {
    [LATE] = {"the last device's wait for its first launch", "share of the step", 0.03,
              "some launches of a step always come first"},
    [ONE_THREAD] = {"steps whose devices one thread launches for", "of the steps", 0.5,
                    "separate threads don't wait for each other"},
    {0},
};

enum { FIX_DDP, FIX_TF, FIX_JAX, FIX_CUDA };
static const struct stk_rep_fix fixes[] = {
    [FIX_DDP] = STK_FIX(launches_staggered_ddp),
    [FIX_TF] = STK_FIX(launches_staggered_tf),
    [FIX_JAX] = STK_FIX(launches_staggered_jax),
    [FIX_CUDA] = STK_FIX(launches_staggered_cuda),
    {0},
};

static enum stk_rule_state launches_staggered_check(const struct stk_rule_ctx *ctx,
                                                    struct stk_rep_finding *f, const char **why)
{
    const struct stk_stagger *s = &ctx->pass.run->facts.kernels.stagger;
    if (s->steps == 0 || s->steps_ns <= 0) {
        *why = ctx->pass.run->facts.kernels.devices < 2
                   ? "no process uses several devices"
                   : "no CPU step shows which launches are its first";
        return ctx->pass.run->facts.kernels.devices < 2 ? STK_RULE_NOT_APPLICABLE
                                                        : STK_RULE_SKIPPED;
    }
    double lost = (double)s->late_ns / (double)s->steps_ns;
    *why = stk_why_latest_device(ctx, s->late_ns / s->steps, lost);
    if (stk_rule_in_turn(ctx) || ctx->pass.run->facts.signs[STK_SIGN_DATA_PARALLEL].count > 0) {
        *why = stk_rule_in_turn(ctx) ? "devices-in-turn reports it" : "data-parallel reports it";
        return STK_RULE_PASSED;
    }
    if (lost < thresholds[LATE].value) {
        return STK_RULE_PASSED;
    }
    if (s->one_thread_steps < thresholds[ONE_THREAD].value * s->steps) {
        *why = "each device has its own launching thread";
        return STK_RULE_PASSED;
    }
    f->severity = stk_rule_severity(ctx, lost);
    f->confidence = STK_LEVEL_MEDIUM;
    f->steps_affected = s->steps;
    stk_finding_bound(f, lost);
    stk_say_devices_start_late(ctx, f, s->devices, s->late_ns / s->steps, lost, s->steps);
    if (s->latest) {
        stk_say_latest_device(ctx, f, s->latest_ns, s->latest);
    }
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_launches_staggered = {
    .page = STK_PAGE(launches_staggered),
    .needs = STK_NEED_DEVICE,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = launches_staggered_check,
};
