// SPDX-License-Identifier: Apache-2.0
// PyTorch's DataParallel over several devices: one Python process launches for all of them, with a
// thread each, and sends the model to the others again in each step. Recognized by its own range,
// by its file if Python was traced, and by the backward pass of its broadcast.
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/kernel_rules.h"

enum { DEVICES };
static const struct stk_threshold thresholds[] = {
    [DEVICES] = {"GPUs of a process that work, at least", "devices", 2,
                 "with one, it only calls the model"},
    {0},
};

static const struct stk_rep_fix fixes[] = {
    STK_FIX(torch_distributed_data_parallel),
    STK_FIX(data_parallel_sampler),
    {0},
};

// Device-to-device copies of all devices of the run.
static int64_t copies_ns(const struct stk_run_sum *run)
{
    int64_t ns = 0;
    for (uint32_t d = 0; d < run->device_count; d++) {
        ns += run->devices[d].p2p_ns;
    }
    return ns;
}

static enum stk_rule_state data_parallel_check(const struct stk_rule_ctx *ctx,
                                               struct stk_rep_finding *f, const char **why)
{
    const struct stk_run_sum *run = ctx->pass.run;
    const struct stk_kernel_work *k = &run->facts.kernels;
    const struct stk_sign_sum *seen = &run->facts.signs[STK_SIGN_DATA_PARALLEL];
    if (seen->count == 0) {
        *why = "DataParallel isn't used";
        return STK_RULE_NOT_APPLICABLE;
    }
    if (k->devices < thresholds[DEVICES].value) {
        *why = "with one GPU, DataParallel only calls the model";
        return STK_RULE_PASSED;
    }
    *why = stk_why_data_parallel(ctx, k->devices);
    f->severity = STK_LEVEL_LOW;
    f->confidence = STK_LEVEL_HIGH;
    stk_say_data_parallel_events(ctx, f, k->devices, seen->count, seen->ns);
    if (copies_ns(run) > 0) {
        stk_say_data_parallel_copies(ctx, f, copies_ns(run));
    }
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_data_parallel = {
    .page = STK_PAGE(data_parallel),
    .needs = STK_NEED_DEVICE,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = data_parallel_check,
};
