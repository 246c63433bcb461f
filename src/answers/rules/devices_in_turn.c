// SPDX-License-Identifier: Apache-2.0
// A process's devices work one after another: layers are spread over them without a pipeline, or
// one thread serves replicas in turn.
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/kernel_rules.h"
#include "answers/rules/on_machine.h"

enum { TOGETHER, BUSY };
static const struct stk_threshold thresholds[] = {
    [TOGETHER] = {"devices that work at a time, while any does", "of the process's devices", 0.6,
                  "two devices, 1.2 at a time: parallel replicas come close to all"},
    [BUSY] = {"time in which any of them works", "share of the recorded time", 0.3,
              "devices that hardly work wait for something else"},
    {0},
};

enum { FIX_DDP, FIX_TORCH_PIPELINE, FIX_TF, FIX_JAX, FIX_ANY };
static const struct stk_rep_fix fixes[] = {
    [FIX_DDP] = STK_FIX(devices_in_turn_ddp),
    [FIX_TORCH_PIPELINE] = STK_FIX(devices_in_turn_torch_pipeline),
    [FIX_TF] = STK_FIX(devices_in_turn_tf),
    [FIX_JAX] = STK_FIX(devices_in_turn_jax),
    [FIX_ANY] = STK_FIX(devices_in_turn_any),
    {0},
};

bool stk_rule_in_turn(const struct stk_rule_ctx *ctx)
{
    const struct stk_kernel_work *k = &ctx->pass.run->facts.kernels;
    return k->devices >= 2 && k->any_busy_ns > 0 &&
           (double)k->devices_busy_ns <
               thresholds[TOGETHER].value * k->devices * (double)k->any_busy_ns &&
           (double)k->any_busy_ns >= thresholds[BUSY].value * (double)stk_rule_recorded_ns(ctx);
}

static enum stk_rule_state devices_in_turn_check(const struct stk_rule_ctx *ctx,
                                                 struct stk_rep_finding *f, const char **why)
{
    const struct stk_kernel_work *k = &ctx->pass.run->facts.kernels;
    if (k->devices < 2 || k->any_busy_ns <= 0) {
        *why = "no process uses several devices";
        return STK_RULE_NOT_APPLICABLE;
    }
    double at_a_time = (double)k->devices_busy_ns / (double)k->any_busy_ns;
    double busy = (double)k->any_busy_ns / (double)stk_rule_recorded_ns(ctx);
    *why = stk_why_in_turn(ctx, k->devices, at_a_time);
    if (!stk_rule_in_turn(ctx)) {
        return STK_RULE_PASSED;
    }
    f->severity = STK_LEVEL_MEDIUM;
    f->confidence = STK_LEVEL_MEDIUM;
    stk_finding_bound(f, busy * (1 - at_a_time / k->devices));
    stk_say_devices_at_a_time(ctx, f, k->devices, at_a_time, busy);
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_devices_in_turn = {
    .page = STK_PAGE(devices_in_turn),
    .needs = STK_NEED_DEVICE,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = devices_in_turn_check,
};
