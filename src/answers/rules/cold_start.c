// SPDX-License-Identifier: Apache-2.0
// The profile shows warm-up: compilation, module loading, first use. Either that is most of the
// recording (the verdict), or it takes part of the used steps, or it is only before them.
#include "base/str.h"
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "profile/model/verdict/verdict_text.h"
#include "answers/rules/finding.h"

enum { DEVICE = STK_FROM_DEVICE, HOST = STK_FROM_HOST, BEFORE, RETURNS };
static const struct stk_threshold thresholds[] = {
    [DEVICE] = {"first use in the used steps, device", "share of the step", 0.03,
                "less hardly changes the other shares"},
    [HOST] = {"first use in the used steps, CPU step", "share of the step", 0.15,
              "as for every share of a CPU step"},
    [BEFORE] = {"first use in the whole profile", "share of the recorded time", 0.10,
                "every recording of a whole run has some; from a tenth on, it is worth saving"},
    [RETURNS] = {"compilation after the second step", "share of the time", 0.05,
                 "from here, it is a cost of the steady state, not warm-up"},
    {0},
};

enum {
    FIX_TORCH_SKIP,
    FIX_TF_SKIP,
    FIX_JAX_SKIP,
    FIX_CUDA_SKIP,
    FIX_INDUCTOR,
    FIX_CUDNN,
    FIX_JAX_CACHE,
    FIX_TF_CACHE,
    FIX_MODULES,
    FIX_CONTEXT
};
static const struct stk_rep_fix fixes[] = {
    [FIX_TORCH_SKIP] = STK_FIX(cold_start_torch_skip),
    [FIX_TF_SKIP] = STK_FIX(cold_start_tf_skip),
    [FIX_JAX_SKIP] = STK_FIX(cold_start_jax_skip),
    [FIX_CUDA_SKIP] = STK_FIX(cold_start_cuda_skip),
    [FIX_INDUCTOR] = STK_FIX(cold_start_torch_inductor_cache),
    [FIX_CUDNN] = STK_FIX(cold_start_cudnn),
    [FIX_JAX_CACHE] = STK_FIX(jax_compilation_cache),
    [FIX_TF_CACHE] = STK_FIX(cold_start_tf_cache),
    [FIX_MODULES] = STK_FIX(cold_start_modules),
    [FIX_CONTEXT] = STK_FIX(cold_start_context),
    {0},
};

static bool cold_start_is_named(const struct stk_rule_ctx *ctx, const char *const *words)
{
    struct stk_str first = stk_str_from(ctx->pass.run->facts.first_use.name);
    for (const char *const *w = words; *w; w++) {
        if (stk_str_contains_nocase(first, stk_str_from(*w))) {
            return true;
        }
    }
    return stk_rule_cause_names_any(ctx, STK_PART_COMPILE, words);
}

static void cold_start_choose_fixes(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    static const char *const inductor[] = {"inductor", "dynamo", "Torch-Compiled",
                                           "Compiled", "triton", NULL};
    static const char *const cudnn[] = {"cudnn", "autotun", "conv", NULL};
    static const char *const modules[] = {"ModuleLoad", "LibraryLoad", "LaunchKernel",
                                          "FuncGetAttributes", NULL};
    static const char *const context[] = {"cudaFree",      "hipFree",    "cuInit",
                                          "CtxCreate",     "SetDevice",  "GetDevice",
                                          "PriorityRange", "cudaMalloc", NULL};
    for (int i = FIX_TORCH_SKIP; i <= FIX_CUDA_SKIP; i++) {
        stk_finding_fix(ctx, f, &fixes[i]);
    }
    if (cold_start_is_named(ctx, inductor)) {
        stk_finding_fix(ctx, f, &fixes[FIX_INDUCTOR]);
    }
    if (cold_start_is_named(ctx, cudnn)) {
        stk_finding_fix(ctx, f, &fixes[FIX_CUDNN]);
    }
    stk_finding_fix(ctx, f, &fixes[FIX_JAX_CACHE]);
    stk_finding_fix(ctx, f, &fixes[FIX_TF_CACHE]);
    if (cold_start_is_named(ctx, modules)) {
        stk_finding_fix(ctx, f, &fixes[FIX_MODULES]);
    }
    if (cold_start_is_named(ctx, context)) {
        stk_finding_fix(ctx, f, &fixes[FIX_CONTEXT]);
    }
}

// A one-off of any cause in the first two steps.
static void say_one_off(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_run_sum *run = ctx->pass.run;
    const struct stk_verdict *v = ctx->pass.verdict;
    for (uint32_t i = 0; i < run->step_count; i++) {
        const struct stk_step *s = &run->steps[i];
        if (s->is_warm_up) {
            stk_say_warm_up_step(ctx, f, s->number, s->dur_ns, run->step_median_ns);
            break;
        }
    }
    stk_say_warm_up_cause(ctx, f, stk_group_phrase(v->one_off),
                          run->facts.warm_up_what ? stk_rule_name(ctx, run->facts.warm_up_what)
                                                  : NULL);
    stk_say_others_would_be(ctx, f, stk_verdict_key(v->steady_kind));
}

static void cold_start_say(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, double cold)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    if (cold > 0) {
        stk_say_cold_takes(ctx, f, cold);
    }
    if ((double)facts->startup_ns >= thresholds[BEFORE].value * (double)stk_rule_recorded_ns(ctx)) {
        stk_say_startup_takes(ctx, f, facts->startup_ns);
    }
    if (facts->first_use.name) {
        stk_evidence_place(stk_say_first_use(ctx, f, facts->first_use.dur_ns,
                                             stk_rule_name(ctx, facts->first_use.name)),
                           NULL, facts->first_use.start_ns, facts->first_use.dur_ns);
    }
    if (ctx->pass.run->parts[STK_PART_COMPILE] > 0) {
        stk_finding_cause(ctx, f, STK_PART_COMPILE);
    }
}

// First use inside the used steps. Recurring compilation is another finding.
static double share_in_steps(const struct stk_rule_ctx *ctx)
{
    const struct stk_run_sum *run = ctx->pass.run;
    double recurring = (double)run->facts.compile_recurring_ns / (double)run->wall_ns;
    double share = stk_rule_part_share(ctx, STK_PART_COMPILE) - recurring;
    return share > 0 ? share : 0;
}

static enum stk_rule_state cold_start_check(const struct stk_rule_ctx *ctx,
                                            struct stk_rep_finding *f, const char **why)
{
    const struct stk_run_sum *run = ctx->pass.run;
    bool is_verdict = ctx->pass.verdict->kind == STK_VERDICT_COLD;
    double inside = share_in_steps(ctx), cold = 0;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        cold += (double)run->ranks[r]->cold_ns;
    }
    cold /= (double)stk_rule_recorded_ns(ctx);
    *why = stk_why_cold(ctx, inside, cold);
    // Recurring compilation isn't warm-up, and another finding reports it.
    double returns = (double)run->facts.compile_recurring_ns / (double)run->wall_ns;
    if (!is_verdict && returns >= thresholds[RETURNS].value) {
        *why = "compilation recurs in later steps: see compile-recurring";
        return STK_RULE_PASSED;
    }
    bool in_steps = inside >= thresholds[stk_rule_on_host(ctx) ? HOST : DEVICE].value;
    if (!is_verdict && !in_steps && cold < thresholds[BEFORE].value) {
        return STK_RULE_PASSED;
    }
    f->severity = is_verdict ? STK_LEVEL_HIGH
                  : in_steps ? stk_rule_severity(ctx, inside)
                             : STK_LEVEL_INFO;
    f->confidence = is_verdict ? ctx->pass.verdict->confidence : STK_LEVEL_MEDIUM;
    if (!is_verdict) {
        f->title = !in_steps ? "The profile includes the start of the job"
                   : ctx->pass.run->scope == STK_SCOPE_SPAN
                       ? "Part of the recorded time is warm-up: compilation and first use"
                       : "Some steps still compile or load modules";
    }
    f->steps_affected = stk_rule_spread(ctx, 1u << STK_PART_COMPILE).most_affected;
    if (inside > 0) {
        stk_finding_bound(f, inside);
    }
    bool is_one_off = ctx->pass.verdict->one_off_share > 0;
    if (is_one_off) {
        say_one_off(ctx, f);
    }
    if (is_one_off && ctx->pass.verdict->one_off != STK_GROUP_COLD) {
        for (int i = FIX_TORCH_SKIP; i <= FIX_CUDA_SKIP; i++) {
            stk_finding_fix(ctx, f, &fixes[i]);
        }
        return STK_RULE_FIRED;
    }
    cold_start_say(ctx, f, cold);
    cold_start_choose_fixes(ctx, f);
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_cold_start = {
    .page = STK_PAGE(cold_start),
    .kind = STK_TOPIC_RECORDING,
    .needs = STK_NEED_BREAKDOWN,
    .verdicts = 1u << STK_VERDICT_COLD,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = cold_start_check,
};
