// SPDX-License-Identifier: Apache-2.0
// The profile can't answer. Says why, for each reason of the verdict, and how to record one that
// can.

#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/finding.h"
#include "answers/rules/pipeline_limit.h"

enum { UNLINKED };
static const struct stk_threshold thresholds[] = {
    [UNLINKED] = {"GPU work without a launch call", "share of GPU operations", 0.05,
                  "from here, missing launch calls explain unknown idle time"},
    {0},
};

enum {
    FIX_TORCH_DEVICE,
    FIX_TORCH_METRICS,
    FIX_TF_DEVICE,
    FIX_TF_STEPS,
    FIX_JAX_DEVICE,
    FIX_JAX_STEPS,
    FIX_CUDA_DEVICE,
    FIX_ALONE,
    FIX_LONGER,
    FIX_TORCH_HOST,
    FIX_TF_HOST,
    FIX_JAX_HOST,
    FIX_CUDA_HOST,
    FIX_RANKS,
    FIX_WHOLE,
    FIX_COPY,
    FIX_OTHER,
    FIX_BATCHES,
    FIX_PROFILE,
    FIX_COUNT
};
static const struct stk_rep_fix fixes[] = {
    [FIX_TORCH_DEVICE] = STK_FIX(cannot_tell_torch_device),
    [FIX_TORCH_METRICS] = STK_FIX(cannot_tell_torch_metrics),
    [FIX_TF_DEVICE] = STK_FIX(cannot_tell_tf_device),
    [FIX_TF_STEPS] = STK_FIX(cannot_tell_tf_steps),
    [FIX_JAX_STEPS] = STK_FIX(cannot_tell_jax_steps),
    [FIX_JAX_DEVICE] = STK_FIX(cannot_tell_jax_device),
    [FIX_CUDA_DEVICE] = STK_FIX(cannot_tell_cuda_device),
    [FIX_ALONE] = STK_FIX(cannot_tell_alone),
    [FIX_LONGER] = STK_FIX(record_start_before_the_steps),
    [FIX_TORCH_HOST] = STK_FIX(record_python_pytorch),
    [FIX_TF_HOST] = STK_FIX(record_python_tensorflow),
    [FIX_JAX_HOST] = STK_FIX(record_python_jax),
    [FIX_CUDA_HOST] = STK_FIX(cannot_tell_cuda_host),
    [FIX_RANKS] = STK_FIX(cannot_tell_ranks),
    [FIX_WHOLE] = STK_FIX(cannot_tell_whole),
    [FIX_COPY] = STK_FIX(cannot_tell_copy),
    [FIX_OTHER] = STK_FIX(cannot_tell_other),
    [FIX_BATCHES] = STK_FIX(cannot_tell_batches),
    [FIX_PROFILE] = STK_FIX(cannot_tell_profile),
    {0},
};

// The fixes for each reason of the verdict, best first, ending with FIX_COUNT.
static const struct {
    const char *title;
    int fixes[8];
} reasons[STK_REASON_COUNT] = {
    [STK_REASON_EMPTY] = {"The profile is empty",
                          {FIX_LONGER, FIX_TORCH_DEVICE, FIX_TF_STEPS, FIX_JAX_STEPS,
                           FIX_CUDA_DEVICE, FIX_COUNT}},
    [STK_REASON_MACHINE_ALONE] = {"The job's profile is missing", {FIX_PROFILE, FIX_COUNT}},
    [STK_REASON_UNKNOWN_ACCELERATOR] = {"stoker doesn't know this accelerator",
                                        {FIX_OTHER, FIX_COUNT}},
    [STK_REASON_KERNELS_NOT_RECORDED] = {"Recording the GPU failed",
                                         {FIX_TORCH_METRICS, FIX_TORCH_DEVICE, FIX_TF_DEVICE,
                                          FIX_JAX_DEVICE, FIX_CUDA_DEVICE, FIX_ALONE, FIX_COUNT}},
    [STK_REASON_NO_KERNELS] = {"The GPU ran no kernels during the recording",
                               {FIX_LONGER, FIX_TORCH_DEVICE, FIX_TF_DEVICE, FIX_JAX_DEVICE,
                                FIX_CUDA_DEVICE, FIX_COUNT}},
    [STK_REASON_NO_DEVICE_EVENTS] = {"The profile has no GPU events and too few steps",
                                     {FIX_TORCH_DEVICE, FIX_TF_STEPS, FIX_JAX_STEPS,
                                      FIX_CUDA_DEVICE, FIX_COUNT}},
    [STK_REASON_HOST_UNSEEN] = {"Much of the CPU's step has no events",
                                {FIX_TORCH_HOST, FIX_TF_HOST, FIX_JAX_HOST, FIX_CUDA_HOST,
                                 FIX_COUNT}},
    [STK_REASON_CUT_SHORT] = {"The file ends before any GPU event", {FIX_COPY, FIX_COUNT}},
    [STK_REASON_CUT_STEPS] = {"The file ends before the first complete step",
                              {FIX_COPY, FIX_COUNT}},
    [STK_REASON_HOST_COLLECTIVE] = {"The CPU mostly waits for other ranks", {FIX_RANKS, FIX_COUNT}},
    [STK_REASON_UNKNOWN_IDLE] = {"The profile doesn't show why the device is idle",
                                 {FIX_WHOLE, FIX_TORCH_DEVICE, FIX_TF_DEVICE, FIX_JAX_DEVICE,
                                  FIX_CUDA_HOST, FIX_RANKS, FIX_COUNT}},
};

static void say_idle(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    stk_finding_cause(ctx, f, STK_PART_UNKNOWN);
    if (stk_rule_on_host(ctx)) {
        stk_say_fetches_and_python_unseen(ctx, f);
        return;
    }
    uint64_t lost = facts->unlinked_ops - facts->queued_ops;
    if (lost > 0 && (double)lost >= thresholds[UNLINKED].value * (double)facts->device_ops) {
        stk_say_operations_unlinked(ctx, f, lost, facts->device_ops);
    } else {
        stk_say_work_started_late(ctx, f);
    }
}

static void say_counts(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    stk_say_profile_holds(ctx, f, facts->host_events, facts->runtime_calls, facts->device_ops);
    if (facts->host_steps > 0 && ctx->pass.verdict->reason != STK_REASON_CUT_STEPS) {
        stk_say_host_steps_found(ctx, f, facts->host_steps, facts->host_event_fill);
    }
    if (facts->host_collective_ns > 0) {
        stk_say_host_collectives(ctx, f, facts->host_collective_ns);
    }
    if (facts->unknown_accelerator) {
        stk_say_accelerator_unknown(
            ctx, f, facts->accelerator ? stk_rule_name(ctx, facts->accelerator) : NULL);
    }
}

static enum stk_rule_state cannot_tell_check(const struct stk_rule_ctx *ctx,
                                             struct stk_rep_finding *f, const char **why)
{
    const struct stk_verdict *v = ctx->pass.verdict;
    enum stk_reason reason = v->reason;
    if (v->kind != STK_VERDICT_CANNOT_TELL) {
        *why = stk_why_verdict_is(ctx, stk_verdict_key(v->kind));
        return STK_RULE_PASSED;
    }
    *why = stk_reason_key(reason);
    f->severity = STK_LEVEL_MEDIUM;
    f->confidence = v->confidence;
    if (stk_reason_leaves_shares(reason)) {
        say_idle(ctx, f);
    } else {
        say_counts(ctx, f);
    }
    bool is_short = reason == STK_REASON_EMPTY && stk_pipeline_limit_say(ctx, f);
    if (is_short) {
        f->title = "The pipeline delivered too few batches to judge";
        stk_finding_fix(ctx, f, &fixes[FIX_BATCHES]);
    }
    if (!is_short && reasons[reason].title) {
        f->title = reasons[reason].title;
        for (int k = 0; reasons[reason].fixes[k] != FIX_COUNT; k++) {
            stk_finding_fix(ctx, f, &fixes[reasons[reason].fixes[k]]);
        }
    }
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_cannot_tell = {
    .page = STK_PAGE(cannot_tell),
    .verdicts = 1u << STK_VERDICT_CANNOT_TELL,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = cannot_tell_check,
};
