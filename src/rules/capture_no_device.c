// SPDX-License-Identifier: Apache-2.0
// The profile holds no kernels, or none for some of its ranks. Where nothing can be judged without
// them, the finding cannot-tell says how to record them; here it is only stated.
#include <string.h>

#include "base/human.h"
#include "rules/finding.h"
#include "rules/snippets.h"

static const struct stk_threshold thresholds[] = {
    {"kernels", "kernels of a rank", 1, "one kernel shows that the device was recorded"},
    {0},
};

enum { FIX_TORCH, FIX_TF, FIX_JAX, FIX_NSYS, FIX_ALONE, FIX_ELSEWHERE };
static const struct stk_rep_fix fixes[] = {
    [FIX_TORCH] = {"pytorch",
                   "Ask the profiler for the device too, and check that "
                   "torch.profiler.supported_activities() lists CUDA.",
                   STK_SNIPPET_TORCH},
    [FIX_TF] =
        {"tensorflow",
         "Leave the device tracer on, and let TensorFlow find CUPTI: its folder must be on the "
         "library path.",
         "export LD_LIBRARY_PATH=/usr/local/cuda/extras/CUPTI/lib64:$LD_LIBRARY_PATH"},
    [FIX_JAX] = {"jax", "Check that the job runs on the accelerator at all, then record again.",
                 "print(jax.devices())"},
    [FIX_NSYS] = {"cuda", "Trace CUDA, and export again.", STK_SNIPPET_NSYS},
    [FIX_ALONE] = {"any",
                   "Only one profiler can record the device at a time: stop other profilers and "
                   "monitoring agents that use CUPTI or rocprofiler.",
                   NULL},
    [FIX_ELSEWHERE] = {"any", "See the finding cannot-tell for how to record the device.", NULL},
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

static void say_all(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    char count[STK_HUMAN_MAX];
    if (facts->unknown_accelerator) {
        stk_finding_say(ctx, f, "the profile is of an accelerator that stoker does not know (%s)",
                        facts->accelerator ? stk_rule_name(ctx, facts->accelerator) : "unnamed");
    }
    if (facts->has_runtime && facts->runtime_calls > 0) {
        stk_finding_say(
            ctx, f,
            "no kernel, but %s calls of the accelerator's runtime: the job uses a device, "
            "and recording it failed",
            stk_human_count(facts->runtime_calls, count));
    } else if (facts->has_device_rows) {
        stk_finding_say(ctx, f, "the device has %s operations, none of them a kernel",
                        stk_human_count(facts->device_ops, count));
    } else if (stk_rule_on_pipeline(ctx)) {
        stk_finding_say(
            ctx, f,
            "stoker.data records its own stages, and no device: right for asking whether "
            "the input keeps up");
    } else {
        stk_finding_say(
            ctx, f,
            "no row of a device, and no call of its runtime: right for a job on the CPU, "
            "otherwise recording the device was off");
    }
}

static enum stk_rule_state capture_no_device_check(const struct stk_rule_ctx *ctx,
                                                   struct stk_rep_finding *f, const char **why)
{
    const struct stk_run_sum *run = ctx->pass.run;
    uint32_t without = 0;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        without += (double)kernels_of_rank(run->ranks[r]) < thresholds[0].value;
    }
    if (without == 0) {
        *why = "every rank has kernels";
        return STK_RULE_PASSED;
    }
    if (without < run->rank_count) {
        *why = stk_rule_text(ctx, "%u of %u ranks have no kernels", without, run->rank_count);
        stk_finding_say(ctx, f, "%s; they are left out of the breakdown", *why);
        f->title = "Some ranks have no device events";
        f->severity = "medium";
    } else {
        *why = "no kernels in the profile";
        say_all(ctx, f);
        f->severity = run->facts.has_runtime && run->facts.runtime_calls > 0 ? "medium" : "info";
    }
    if (ctx->pass.verdict->kind == STK_VERDICT_CANNOT_TELL) {
        stk_finding_fix(ctx, f, &fixes[FIX_ELSEWHERE]);
    } else {
        for (int i = 0; i < FIX_ELSEWHERE; i++) {
            stk_finding_fix(ctx, f, &fixes[i]);
        }
    }
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_capture_no_device = {
    .id = "capture-no-device",
    .title = "The profile holds no kernels",
    .fires = "No kernel was recorded, in the whole profile or for some of its ranks.",
    .matters = "Without device rows nobody can say whether the device waits; the host's steps can "
               "be judged at best.",
    .priced = "Not priced: it is a fault of the recording, or a job on the CPU.",
    .quiet = "A single kernel is enough. Without any call of the accelerator's runtime it is "
             "information only, "
             "since the job may well run on the CPU.",
    .source = "Observed in CPU-only profiles, in CUPTI range profiling (runtime calls but no "
              "kernels) and in profiles "
              "of accelerators of other makers.",
    .thresholds = thresholds,
    .fixes = fixes,
    .fixes_recorder = true,
    .check = capture_no_device_check,
};
