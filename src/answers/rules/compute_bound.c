// SPDX-License-Identifier: Apache-2.0
// Good news: the device (or, without one, the model on the host) is busy. Only the kernels
// themselves can get faster: ideas without figures, since a timeline can't estimate them. One case
// has a figure: a PyTorch optimizer that updates its parameters one by one, on a CPU.
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/job_places.h"
#include "answers/rules/kernel_rules.h"
#include "answers/rules/pack_signs.h"
#include "answers/rules/torch_signs.h"
#include "profile/model/verdict/busy_work.h"
#include "profile/model/verdict/verdict_text.h"

enum { REMAINS, ODD, FULL, PACKS, STILL };
static const struct stk_threshold thresholds[] = {
    [REMAINS] = {"part worth naming", "share of the step", 0.01, "smaller parts are noise"},
    [ODD] = {"kernels for sizes that aren't multiples of 8", "share of compute", 0.02,
             "less isn't worth changing the model"},
    [FULL] = {"SMs with a block, while kernels run", "share of the GPU's SMs", 0.95,
              "a larger batch wouldn't fill more of them"},
    [PACKS] = STK_THRESHOLD_PACK_SIGNS,
    [STILL] = {"a TensorFlow step in which no operation runs", "share of the step", 0.1,
               "between its operations, the executor takes a few hundredths"},
    {0},
};

enum {
    FIX_TORCH_PRECISION,
    FIX_TORCH_FUSE,
    FIX_TF_PRECISION,
    FIX_TF_FUSE,
    FIX_JAX_PRECISION,
    FIX_CUDA,
    FIX_BATCH,
    FIX_NEXT,
    FIX_ALIGN,
    FIX_CPU_NEXT,
    FIX_TORCH_CPU,
    FIX_TF_CPU,
    FIX_CPU,
    FIX_PACKS
};
static const struct stk_rep_fix fixes[] = {
    [FIX_TORCH_PRECISION] = STK_FIX(compute_bound_torch_precision),
    [FIX_TORCH_FUSE] = STK_FIX(compute_bound_torch_fuse),
    [FIX_TF_PRECISION] = STK_FIX(compute_bound_tf_precision),
    [FIX_TF_FUSE] = STK_FIX(compute_bound_tf_fuse),
    [FIX_JAX_PRECISION] = STK_FIX(compute_bound_jax_precision),
    [FIX_CUDA] = STK_FIX(compute_bound_cuda),
    [FIX_BATCH] = STK_FIX(compute_bound_batch),
    [FIX_NEXT] = STK_FIX(compute_bound_next),
    [FIX_ALIGN] = STK_FIX(compute_bound_align),
    [FIX_CPU_NEXT] = STK_FIX(compute_bound_cpu_next),
    [FIX_TORCH_CPU] = STK_FIX(compute_bound_torch_cpu),
    [FIX_TF_CPU] = STK_FIX(compute_bound_tf_cpu),
    [FIX_CPU] = STK_FIX(compute_bound_cpu),
    [FIX_PACKS] = STK_FIX(tensorflow_replica_packs),
    STK_FIXES_TORCH_SIGNS,
    {0},
};

// Do the longest kernels' names already indicate half precision or less?
static bool low_precision(const struct stk_rule_ctx *ctx)
{
    static const char *const words[] = {"bf16",      "bfloat16", "fp16", "f16",   "__half",
                                        "c10::Half", "fp8",      "f8f8", "mxfp4", "e4m3",
                                        "s1688",     "h884",     NULL};
    return stk_rule_cause_names_any(ctx, STK_PART_COMPUTE, words);
}

static void say_rest(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    for (int p = 0; p < STK_PART_COUNT; p++) {
        if (p != STK_PART_COMPUTE && stk_rule_part_share(ctx, p) >= thresholds[REMAINS].value) {
            stk_say_what_remains(ctx, f, stk_part_info(p)->key, stk_rule_part_share(ctx, p),
                                 stk_rule_part_meaning(ctx, p));
        }
    }
}

// The host's step has runnable work, but no free CPU core.
static void say_still(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_run_sum *run = ctx->pass.run;
    double still =
        run->wall_ns > 0 ? (double)run->facts.standstill_rest_ns / (double)run->wall_ns : 0;
    if (still >= thresholds[STILL].value) {
        stk_say_step_stands_still(ctx, f, still);
    }
}

// CUTLASS on tensor cores that reads one or two elements at a time; plain cores always do.
static bool is_odd(struct stk_str kernel)
{
    return stk_str_contains(kernel, STK_STR("tensorop")) &&
           !stk_str_contains(kernel, STK_STR("d884")) &&
           (stk_str_contains(kernel, STK_STR("align1")) ||
            stk_str_contains(kernel, STK_STR("align2")));
}

// Reports how much of the longest kernels is for odd sizes, if it is enough.
static bool say_odd(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_cause *c = &ctx->pass.run->causes[STK_PART_COMPUTE];
    const struct stk_cause_name *first = NULL;
    int64_t ns = 0;
    for (int i = 0; i < c->name_count; i++) {
        if (is_odd(stk_str_from(c->names[i].name))) {
            first = first ? first : &c->names[i];
            ns += c->names[i].ns;
        }
    }
    if (!first || (double)ns < thresholds[ODD].value * (double)c->ns) {
        return false;
    }
    stk_say_kernels_for_odd_sizes(ctx, f, (double)ns / (double)c->ns,
                                  stk_rule_name(ctx, first->name));
    return true;
}

// Suggests a larger batch if the grids are unknown or some are small. If most are small, a separate
// rule advises it.
static bool may_batch(const struct stk_rule_ctx *ctx)
{
    double filled = stk_rule_grid_filled(ctx);
    return filled < 0 || (filled >= STK_GRID_FILLED && filled < thresholds[FULL].value);
}

// Doesn't suggest low precision or compiling to a job that already does so.
static void choose_ideas(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    bool low = low_precision(ctx);
    bool compiled = ctx->pass.run->facts.signs[STK_SIGN_COMPILED].count > 0;
    stk_finding_fix(ctx, f, &fixes[FIX_NEXT]);
    if (say_odd(ctx, f)) {
        stk_finding_fix(ctx, f, &fixes[FIX_ALIGN]);
    }
    for (int i = FIX_TORCH_PRECISION; i <= FIX_BATCH; i++) {
        bool precision =
            i == FIX_TORCH_PRECISION || i == FIX_TF_PRECISION || i == FIX_JAX_PRECISION;
        if (!(low && precision) && !(compiled && i == FIX_TORCH_FUSE) &&
            (i != FIX_BATCH || may_batch(ctx))) {
            stk_finding_fix(ctx, f, &fixes[i]);
        }
    }
}

static void choose_on_host(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    f->title = "The model's own work fills the CPU's step";
    say_still(ctx, f);
    double update = stk_torch_update_share(ctx);
    if (stk_busy_work_of(ctx->pass.run) == STK_BUSY_NONE && stk_torch_update_choose(ctx, f)) {
        f->title = "The optimizer updates its parameters one by one";
        f->severity = stk_rule_severity(ctx, update);
        stk_finding_bound(f, update);
        stk_finding_told(ctx, f, STK_TOLD_UPDATE);
    }
    for (int i = FIX_CPU_NEXT; i <= FIX_CPU; i++) {
        stk_finding_fix(ctx, f, &fixes[i]);
    }
}

static enum stk_rule_state compute_bound_check(const struct stk_rule_ctx *ctx,
                                               struct stk_rep_finding *f, const char **why)
{
    uint64_t kernels, brief;
    *why = stk_why_compute(ctx, stk_rule_part_share(ctx, STK_PART_COMPUTE));
    if (ctx->pass.verdict->kind != STK_VERDICT_COMPUTE) {
        return STK_RULE_PASSED;
    }
    f->severity = STK_LEVEL_INFO;
    f->confidence = ctx->pass.verdict->confidence;
    f->steps_affected = stk_rule_spread(ctx, 1u << STK_PART_COMPUTE).most_affected;
    if (stk_rule_on_host(ctx)) {
        stk_places_say_lines(ctx, f); // first, since little more of an info finding is shown
    }
    stk_finding_cause(ctx, f, STK_PART_COMPUTE);
    stk_torch_signs_choose(ctx, f);
    if (stk_pack_signs_say(ctx, f, &thresholds[PACKS])) {
        stk_finding_fix(ctx, f, &fixes[FIX_PACKS]);
    }
    if (stk_rule_on_host(ctx)) {
        choose_on_host(ctx, f);
    } else {
        f->title =
            stk_verdict_leaves_loss(ctx->pass.verdict) ? "The device is busy computing" : f->title;
        stk_rule_count_kernels(ctx, &kernels, &brief);
        stk_say_kernels_run(ctx, f, kernels);
        choose_ideas(ctx, f);
    }
    say_rest(ctx, f);
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_compute_bound = {
    .page = STK_PAGE(compute_bound),
    .needs = STK_NEED_BREAKDOWN,
    .verdicts = 1u << STK_VERDICT_COMPUTE,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = compute_bound_check,
};
