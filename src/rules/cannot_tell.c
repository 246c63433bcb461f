// SPDX-License-Identifier: Apache-2.0
// The profile cannot answer. Says why, per reason of the verdict, and how to record one that can.
#include <inttypes.h>

#include "base/human.h"
#include "rules/finding.h"
#include "rules/pipeline_limit.h"
#include "rules/snippets.h"

enum { UNLINKED };
static const struct stk_threshold thresholds[] = {
    [UNLINKED] = {"device work without a launch call", "share of device operations", 0.05,
                  "from here missing launch calls explain unknown idle time"},
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
    [FIX_TORCH_DEVICE] = {"pytorch", "Record host and device, over marked steps, after a warm-up.",
                          STK_SNIPPET_TORCH},
    [FIX_TORCH_METRICS] =
        {"pytorch",
         "Leave experimental_config with profiler_metrics out: range profiling replaces "
         "the record of kernels.",
         "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])"},
    [FIX_TF_DEVICE] =
        {"tensorflow", "Record host and device over marked steps, with CUPTI on the library path.",
         "# export "
         "LD_LIBRARY_PATH=/usr/local/cuda/extras/CUPTI/lib64:$LD_LIBRARY_PATH\n" STK_SNIPPET_TF},
    [FIX_TF_STEPS] = {"tensorflow", "Record ten steps or more, marked, after a warm-up.",
                      STK_SNIPPET_TF},
    [FIX_JAX_STEPS] = {"jax", "Record ten steps or more, marked, after a warm-up.",
                       STK_SNIPPET_JAX},
    [FIX_JAX_DEVICE] = {"jax", "Record marked steps on the accelerator.",
                        "print(jax.devices())  # a GPU or TPU must be listed\n" STK_SNIPPET_JAX},
    [FIX_CUDA_DEVICE] = {"cuda", "Record with Nsight Systems and export to SQLite.",
                         STK_SNIPPET_NSYS},
    [FIX_ALONE] = {"any",
                   "Only one profiler can record a device at a time: stop other profilers and "
                   "monitoring agents "
                   "that use CUPTI or rocprofiler.",
                   NULL},
    [FIX_LONGER] = {"any",
                    "Start the profiler before the steps and stop it after them, and wait for the "
                    "device before "
                    "stopping.",
                    NULL},
    [FIX_TORCH_HOST] = STK_FIX_PYTHON_TORCH,
    [FIX_TF_HOST] = STK_FIX_PYTHON_TF,
    [FIX_JAX_HOST] = STK_FIX_PYTHON_JAX,
    [FIX_CUDA_HOST] = {"cuda", "Record the runtime's calls, threads and graphs node by node.",
                       "nsys profile --trace=cuda,nvtx,osrt --cuda-graph-trace=node --output=run "
                       "python train.py"},
    [FIX_RANKS] =
        {"any",
         "Record all ranks, those with a device above all, and give their profiles together.",
         "stoker why rank*.json.gz"},
    [FIX_WHOLE] = {"any",
                   "Give the whole recording: rows filtered out, another process on the same "
                   "device or a sibling "
                   "file may hold the missing work.",
                   NULL},
    [FIX_COPY] =
        {"any",
         "The file ends early: let the profiler finish writing it, then copy the whole file.",
         NULL},
    [FIX_OTHER] =
        {"any",
         "stoker reads GPUs of NVIDIA and AMD, and TPUs. Use the maker's own profiler for other "
         "accelerators.",
         NULL},
    [FIX_BATCHES] = {"any",
                     "Record ten batches or more: each iterator adds its own to the file, which is "
                     "whole when they are closed.",
                     "STOKER_DATA_RECORD=run.stk python train.py && stoker why run.stk"},
    [FIX_PROFILE] = {"any",
                     "Give the folder of the run, where the profile lies beside this record (a run "
                     "at --level 0 has none); `stoker stats machine` prints the record alone.",
                     "stoker run -- python train.py"},
    {0},
};

// What each reason of the verdict calls for, best first, ending with FIX_COUNT.
static const struct {
    const char *title;
    int fixes[8];
} reasons[STK_REASON_COUNT] = {
    [STK_REASON_EMPTY] = {"The profile is empty",
                          {FIX_LONGER, FIX_TORCH_DEVICE, FIX_TF_STEPS, FIX_JAX_STEPS,
                           FIX_CUDA_DEVICE, FIX_COUNT}},
    [STK_REASON_MACHINE_ALONE] = {"The profile of the job is missing", {FIX_PROFILE, FIX_COUNT}},
    [STK_REASON_UNKNOWN_ACCELERATOR] = {"The accelerator is not known", {FIX_OTHER, FIX_COUNT}},
    [STK_REASON_KERNELS_NOT_RECORDED] = {"Recording the device failed",
                                         {FIX_TORCH_METRICS, FIX_TORCH_DEVICE, FIX_TF_DEVICE,
                                          FIX_JAX_DEVICE, FIX_CUDA_DEVICE, FIX_ALONE, FIX_COUNT}},
    [STK_REASON_NO_KERNELS] = {"The device ran no kernels while it was recorded",
                               {FIX_LONGER, FIX_TORCH_DEVICE, FIX_TF_DEVICE, FIX_JAX_DEVICE,
                                FIX_CUDA_DEVICE, FIX_COUNT}},
    [STK_REASON_NO_DEVICE_EVENTS] = {"The profile holds no device events and too few steps",
                                     {FIX_TORCH_DEVICE, FIX_TF_STEPS, FIX_JAX_STEPS,
                                      FIX_CUDA_DEVICE, FIX_COUNT}},
    [STK_REASON_HOST_UNSEEN] = {"Much of the host's steps holds no event",
                                {FIX_TORCH_HOST, FIX_TF_HOST, FIX_JAX_HOST, FIX_CUDA_HOST,
                                 FIX_COUNT}},
    [STK_REASON_CUT_SHORT] = {"The file ends before any device event", {FIX_COPY, FIX_COUNT}},
    [STK_REASON_HOST_COLLECTIVE] = {"The host mostly waits for its peers", {FIX_RANKS, FIX_COUNT}},
    [STK_REASON_UNKNOWN_IDLE] = {"The device idles for a reason the profile does not hold",
                                 {FIX_WHOLE, FIX_TORCH_DEVICE, FIX_TF_DEVICE, FIX_JAX_DEVICE,
                                  FIX_CUDA_HOST, FIX_RANKS, FIX_COUNT}},
};

static void say_idle(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    char a[STK_HUMAN_MAX], b[STK_HUMAN_MAX];
    stk_finding_cause(ctx, f, STK_PART_UNKNOWN);
    if (stk_rule_on_host(ctx)) {
        stk_finding_say(ctx, f,
                        "neither the fetches of batches nor the program's own Python are recorded: "
                        "either may fill this time");
        return;
    }
    uint64_t lost = facts->unlinked_ops - facts->queued_ops;
    if (lost > 0 && (double)lost >= thresholds[UNLINKED].value * (double)facts->device_ops) {
        stk_finding_say(ctx, f, "%s of %s device operations have no launch call in the profile",
                        stk_human_count(lost, a), stk_human_count(facts->device_ops, b));
    } else {
        stk_finding_say(
            ctx, f,
            "the work was launched in time and started late: it waited for something that is not "
            "recorded");
    }
}

static void say_counts(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    char a[STK_HUMAN_MAX], b[STK_HUMAN_MAX], c[STK_HUMAN_MAX];
    stk_finding_say(ctx, f,
                    "in the profile: host events %s, calls of an accelerator's runtime %s, device "
                    "operations %s",
                    stk_human_count(facts->host_events, a),
                    stk_human_count(facts->runtime_calls, b),
                    stk_human_count(facts->device_ops, c));
    if (facts->host_steps > 0) {
        stk_finding_say(ctx, f, "%" PRIu32 " host step%s found, %s of the time inside some event",
                        facts->host_steps, facts->host_steps == 1 ? " was" : "s were",
                        stk_human_share(facts->host_event_fill, a));
    }
    if (facts->host_collective_ns > 0) {
        stk_finding_say(ctx, f, "host collectives take %s of the steps",
                        stk_human_ns(facts->host_collective_ns, a));
    }
    if (facts->unknown_accelerator) {
        stk_finding_say(ctx, f, "the accelerator is %s",
                        facts->accelerator ? stk_rule_name(ctx, facts->accelerator) : "not named");
    }
}

static enum stk_rule_state cannot_tell_check(const struct stk_rule_ctx *ctx,
                                             struct stk_rep_finding *f, const char **why)
{
    const struct stk_verdict *v = ctx->pass.verdict;
    enum stk_reason reason = v->reason;
    if (v->kind != STK_VERDICT_CANNOT_TELL) {
        *why = stk_rule_text(ctx, "the verdict is %s", stk_verdict_key(v->kind));
        return STK_RULE_PASSED;
    }
    *why = stk_reason_key(reason);
    f->severity = "medium";
    f->confidence = stk_level_key(v->confidence);
    if (stk_reason_leaves_shares(reason)) {
        say_idle(ctx, f);
    } else {
        say_counts(ctx, f);
    }
    bool is_short = reason == STK_REASON_EMPTY && stk_pipeline_limit_say(ctx, f);
    if (is_short) {
        f->title = "The pipeline gave too few batches to judge";
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
    .id = "cannot-tell",
    .title = "The profile cannot say why",
    .fires = "The verdict is cannot-tell: the profile is empty, holds no device events and too few "
             "host steps, recording "
             "the device failed, or most of the idle time has no recorded cause.",
    .matters = "A guess would send you to mend the wrong thing; a better recording takes minutes.",
    .priced = "Not priced.",
    .quiet = "Whenever the profile holds enough to judge.",
    .source = "Real profiles that hold too little: empty ones, CUPTI range profiling, CPU trainers "
              "in a collective, "
              "slices of a longer recording.",
    .verdicts = 1u << STK_VERDICT_CANNOT_TELL,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = cannot_tell_check,
};
