// SPDX-License-Identifier: Apache-2.0
// The profile of a job that uses a GPU has no kernels, at least for some ranks: recording failed,
// nothing was launched, or only copies were. If nothing can be judged without kernels, the finding
// cannot-tell says how to record them; this one only reports it.
#include <string.h>

#include "base/assert.h"
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/device_unused.h"

static const struct stk_threshold thresholds[] = {
    {"kernels", "kernels of a rank", 1, "one kernel shows that the GPU was recorded"},
    {0},
};

enum { FIX_TORCH, FIX_TF, FIX_JAX, FIX_NSYS, FIX_ALONE, FIX_WINDOW, FIX_WHERE, FIX_ELSEWHERE };
static const struct stk_rep_fix fixes[] = {
    [FIX_TORCH] = STK_FIX(capture_no_device_torch),
    [FIX_TF] = STK_FIX(capture_no_device_tf),
    [FIX_JAX] = STK_FIX(capture_no_device_jax),
    [FIX_NSYS] = STK_FIX(capture_no_device_nsys),
    [FIX_ALONE] = STK_FIX(capture_no_device_alone),
    [FIX_WINDOW] = STK_FIX(record_start_before_the_steps),
    [FIX_WHERE] = STK_FIX(capture_no_device_where),
    [FIX_ELSEWHERE] = STK_FIX(capture_no_device_elsewhere),
    {0},
};

static uint64_t kernels_of_rank(const struct stk_rank_sum *rank)
{
    uint64_t kernels = 0;
    for (uint32_t d = 0; d < rank->device_count; d++) {
        kernels += rank->devices[d].kernels;
    }
    return kernels;
}

static void choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, int first, int last)
{
    STK_ASSERT(first >= 0 && first <= last);
    for (int i = first; i <= last; i++) {
        stk_finding_fix(ctx, f, &fixes[i]);
    }
}

// Why there is no kernel: three causes, each with its fix. False: no sign of an accelerator.
static bool say_why(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    if (facts->unknown_accelerator) {
        stk_say_profile_of_unknown_accelerator(
            ctx, f, facts->accelerator ? stk_rule_name(ctx, facts->accelerator) : NULL);
        choose(ctx, f, FIX_WINDOW, FIX_WINDOW);
    } else if (facts->launches > 0) {
        stk_say_kernels_not_recorded(ctx, f, facts->launches);
        f->title = "Kernels were launched, but none was recorded";
        f->severity = STK_LEVEL_MEDIUM;
        choose(ctx, f, FIX_TORCH, FIX_ALONE);
    } else if (facts->has_device_rows) {
        stk_say_no_kernel_on_device(ctx, f, facts->device_ops);
        choose(ctx, f, FIX_WINDOW, FIX_WHERE);
    } else if (facts->runtime_calls > 0) {
        stk_say_nothing_launched(ctx, f, facts->runtime_calls);
        f->title = "Nothing was launched on the GPU";
        choose(ctx, f, FIX_WINDOW, FIX_WHERE);
    } else {
        return false;
    }
    return true;
}

static enum stk_rule_state capture_no_device_check(const struct stk_rule_ctx *ctx,
                                                   struct stk_rep_finding *f, const char **why)
{
    const struct stk_run_sum *run = ctx->pass.run;
    uint32_t without = 0;
    double share;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        without += (double)kernels_of_rank(run->ranks[r]) < thresholds[0].value;
    }
    if (without == 0) {
        *why = "every rank has kernels";
        return STK_RULE_PASSED;
    }
    if (stk_device_is_unused(ctx, &share)) {
        *why = "device-unused reports it";
        return STK_RULE_PASSED;
    }
    if (without < run->rank_count) {
        *why = stk_why_ranks_without_kernels(ctx, without, run->rank_count);
        stk_say_ranks_without_kernels(ctx, f, without, run->rank_count);
        f->title = "Some ranks have no GPU events";
        f->severity = STK_LEVEL_MEDIUM;
        choose(ctx, f, FIX_TORCH, FIX_ALONE);
    } else if (say_why(ctx, f)) {
        *why = "no kernels in the profile";
    } else {
        *why = "no GPU events or runtime calls: the job runs on the CPU, or GPU recording was off";
        return STK_RULE_NOT_APPLICABLE;
    }
    if (ctx->pass.verdict->kind == STK_VERDICT_CANNOT_TELL) {
        f->fix = (struct stk_list){0};
        choose(ctx, f, FIX_ELSEWHERE, FIX_ELSEWHERE);
    }
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_capture_no_device = {
    .page = STK_PAGE(capture_no_device),
    .kind = STK_TOPIC_RECORDING,
    .thresholds = thresholds,
    .fixes = fixes,
    .fixes_recorder = true,
    .check = capture_no_device_check,
};
