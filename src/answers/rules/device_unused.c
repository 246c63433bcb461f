// SPDX-License-Identifier: Apache-2.0
// A device exists, but the model runs on the CPU: its operators take the recorded time, and nothing
// was launched. Or the machine record shows GPUs that were idle all the time.
//
// Limits: operators are recognized for PyTorch; for other frameworks only the machine record shows
// it. If other jobs use the machine's GPUs, they look busy, and the rule passes.
#include "answers/rules/device_unused.h"

#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/on_machine.h"

enum { WORK, BUSY };
static const struct stk_threshold thresholds[] = {
    [WORK] = {"operators on the host", "share of the recorded time", 0.3,
              "a recording that missed the steps holds few of them"},
    [BUSY] = {"a GPU in use, as nvidia-smi shows it", "share of the time", 0.02,
              "drawing the screen takes as much"},
    {0},
};

static const struct stk_rep_fix fixes[] = {
    STK_FIX(device_unused_torch),
    STK_FIX(device_unused_tf),
    STK_FIX(device_unused_jax),
    {0},
};

static bool nothing_launched(const struct stk_facts *facts)
{
    return facts->launches == 0 && facts->device_ops == 0 && !facts->unknown_accelerator;
}

bool stk_device_is_unused(const struct stk_rule_ctx *ctx, double *share)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    *share = (double)facts->signs[STK_SIGN_ATEN].ns / (double)stk_rule_recorded_ns(ctx);
    return nothing_launched(facts) && facts->runtime_calls > 0 && *share >= thresholds[WORK].value;
}

// GPUs in the machine record, and the utilization of the busiest.
static uint32_t gpus_of(const struct stk_machine_view *v, double *busiest)
{
    uint32_t count = 0;
    *busiest = 0;
    for (uint32_t i = 0; v && i < v->machine->series_count; i++) {
        if (v->machine->series[i].sample == STK_SAMPLE_OF_GPU_BUSY && v->figures[i].samples > 0) {
            count++;
            *busiest = v->figures[i].mean > *busiest ? v->figures[i].mean : *busiest;
        }
    }
    return count;
}

static enum stk_rule_state device_unused_check(const struct stk_rule_ctx *ctx,
                                               struct stk_rep_finding *f, const char **why)
{
    const struct stk_run_sum *run = ctx->pass.run;
    double share = 0, busiest = 0;
    uint32_t gpus = gpus_of(run->machine, &busiest);
    bool shown = stk_device_is_unused(ctx, &share);
    if (run->rank_count == 0 || !nothing_launched(&run->facts)) {
        *why = "the device has work";
        return run->rank_count ? STK_RULE_PASSED : STK_RULE_NOT_APPLICABLE;
    }
    if (!shown && (gpus == 0 || busiest >= thresholds[BUSY].value)) {
        *why = gpus ? "a GPU of the machine is in use" : "the profile shows no device";
        return STK_RULE_NOT_APPLICABLE;
    }
    *why = "nothing was launched on the device";
    f->severity = STK_LEVEL_MEDIUM;
    f->confidence = STK_LEVEL_MEDIUM;
    f->saving.basis = "none";
    if (shown) {
        stk_say_operators_on_the_host(ctx, f, share, run->facts.runtime_calls);
    }
    if (gpus > 0) {
        stk_say_gpus_idle(ctx, f, gpus, busiest);
    }
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_device_unused = {
    .page = STK_PAGE(device_unused),
    .thresholds = thresholds,
    .fixes = fixes,
    .check = device_unused_check,
};
