// SPDX-License-Identifier: Apache-2.0
// Compilation that recurs after the first two used steps: changing shapes, retraced functions,
// repeated autotuning. A cost of the steady state, unlike warm-up.
#include <string.h>

#include "base/assert.h"
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/finding.h"

enum { DEVICE = STK_FROM_DEVICE, HOST = STK_FROM_HOST };
static const struct stk_threshold thresholds[] = {
    [DEVICE] = {"compilation after the second used step, device", "share of the step", 0.02,
                "in a steady state, there should be none"},
    [HOST] = {"compilation after the second used step, CPU step", "share of the step", 0.05,
              "in a steady state, there should be none, even on a CPU"},
    {0},
};

enum { PYTORCH, TENSORFLOW, TF_XLA, EXPORT, KERAS, JAX, JAX_TYPES, JAX_SAME, CUDA, ANY }; // rows
static const struct stk_rep_fix fixes[] = {
    STK_FIX(compile_recurring_torch_shapes),
    STK_FIX(compile_recurring_tf_signature),
    STK_FIX(compile_recurring_tf_xla_shapes),
    STK_FIX(compile_recurring_tf_export),
    STK_FIX(compile_recurring_keras_compile),
    STK_FIX(compile_recurring_jax_find),
    STK_FIX(compile_recurring_jax_shapes),
    STK_FIX(compile_recurring_jax_static),
    STK_FIX(compile_recurring_cuda_graphs),
    STK_FIX(compile_recurring_cudnn_benchmark),
    {0},
};

// PyTorch's compiler doesn't name the user's function.
static const char *function_of(const struct stk_recompiled *r)
{
    if (strcmp(r->name, "entire_frame_compile") == 0) {
        return "a function under torch.compile";
    }
    if (strcmp(r->name, "entire_backward_compile") == 0) {
        return "the backward pass of a function under torch.compile";
    }
    return r->function ? r->function : r->name;
}

// "x: f32[8,67,64], f32[8,51,64], f32[8,82,64] and 11 more".
static const char *types_of(const struct stk_rule_ctx *ctx, const struct stk_changed *c)
{
    STK_ASSERT(c->type_count > 0);
    const char *text = stk_rule_text(ctx, "%s: %s", stk_rule_name(ctx, c->name), c->types[0]);
    uint32_t shown = 1;
    for (; shown < STK_CHANGED_TYPES && c->types[shown]; shown++) {
        text = stk_rule_text(ctx, "%s, %s", text, c->types[shown]);
    }
    return c->type_count > shown ? stk_rule_text(ctx, "%s and %u more", text, c->type_count - shown)
                                 : text;
}

// What the compiled programs of a function have in common, and how they differ.
static void say_why(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                    const struct stk_recompiled *r, size_t at)
{
    STK_ASSERT(r->name);
    const char *name = stk_rule_name(ctx, function_of(r));
    if (r->takes_differ) {
        stk_say_programs_take_other_numbers(ctx, f, r->programs, name);
    } else if (r->changed_count == 0) {
        stk_say_programs_take_the_same(ctx, f, r->programs, name);
    } else {
        const char *text = types_of(ctx, &r->changed[0]);
        for (uint32_t i = 1; i < STK_CHANGED && r->changed[i].name; i++) {
            text = stk_rule_text(ctx, "%s; %s", text, types_of(ctx, &r->changed[i]));
        }
        stk_say_programs_differ(ctx, f, r->programs, name, text,
                                r->changed_count > STK_CHANGED ? r->changed_count - STK_CHANGED
                                                               : STK_NOT_KNOWN);
    }
    stk_finding_raise(f, at);
}

static void say_functions(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_recompiled *r = ctx->pass.run->facts.recompiled;
    size_t at = 1;
    for (int i = 0; i < STK_RECOMPILED && r[i].name && r[i].later > 0; i++) {
        stk_say_compiled_again(ctx, f, stk_rule_name(ctx, function_of(&r[i])), r[i].later,
                               r[i].count, r[i].ns);
        stk_finding_raise(f, at++);
        if (r[i].programs) {
            say_why(ctx, f, &r[i], at++);
        }
    }
}

// Advice for JAX's recompilations, by what differs, if the profile has the programs.
static int jax_fix(const struct stk_rule_ctx *ctx)
{
    const struct stk_recompiled *r = &ctx->pass.run->facts.recompiled[0];
    if (!r->name || !r->programs || r->takes_differ) {
        return JAX;
    }
    return r->changed_count ? JAX_TYPES : JAX_SAME;
}

// A model is exported, which traces functions that save and restore its variables.
static bool exports(const struct stk_rule_ctx *ctx)
{
    const struct stk_recompiled *r = ctx->pass.run->facts.recompiled;
    bool found = false;
    for (int i = 0; i < STK_RECOMPILED && r[i].name && r[i].later > 0; i++) {
        found |= strstr(r[i].name, "_traced_save") != NULL;
    }
    return found;
}

// XLA compiles for most of that time, and no function is retraced for it.
static bool is_xlas(const struct stk_rule_ctx *ctx)
{
    const struct stk_run_sum *run = ctx->pass.run;
    const struct stk_cause *c = &run->causes[STK_PART_COMPILE];
    int64_t xla_ns = 0;
    for (int i = 0; i < c->name_count; i++) {
        bool is_xla = c->names[i].name && strstr(c->names[i].name, "::RunBackend");
        xla_ns = is_xla ? stk_add_ns(xla_ns, c->names[i].ns) : xla_ns;
    }
    return xla_ns > c->ns / 2 &&
           (!run->facts.recompiled[0].name || run->facts.recompiled[0].later == 0);
}

static void choose_tf(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    if (is_xlas(ctx)) {
        stk_finding_fix(ctx, f, &fixes[TF_XLA]);
        return;
    }
    if (ctx->pass.run->facts.signs[STK_SIGN_KERAS].count > 0) {
        stk_finding_fix(ctx, f, &fixes[KERAS]);
    }
    stk_finding_fix(ctx, f, &fixes[exports(ctx) ? EXPORT : TENSORFLOW]);
}

// The last row is about kernels of a GPU's library.
static void choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    stk_finding_fix(ctx, f, &fixes[PYTORCH]);
    choose_tf(ctx, f);
    stk_finding_fix(ctx, f, &fixes[jax_fix(ctx)]);
    stk_finding_fix(ctx, f, &fixes[CUDA]);
    if (ctx->pass.run->facts.has_device_rows) {
        stk_finding_fix(ctx, f, &fixes[ANY]);
    }
}

static enum stk_rule_state compile_recurring_check(const struct stk_rule_ctx *ctx,
                                                   struct stk_rep_finding *f, const char **why)
{
    const struct stk_run_sum *run = ctx->pass.run;
    double share = (double)run->facts.compile_recurring_ns / (double)run->wall_ns;
    struct stk_rule_steps steps = stk_rule_spread(ctx, 1u << STK_PART_COMPILE);
    *why = stk_why_of_time(ctx, share);
    if (share < thresholds[stk_rule_on_host(ctx) ? HOST : DEVICE].value) {
        return STK_RULE_PASSED;
    }
    f->severity = stk_rule_severity(ctx, share);
    f->confidence = ctx->pass.verdict->confidence;
    f->steps_affected = steps.most_affected;
    stk_finding_bound(f, share);
    stk_say_compile_recurs(ctx, f, run->facts.compile_recurring_ns, share);
    stk_finding_cause(ctx, f, STK_PART_COMPILE);
    say_functions(ctx, f);
    choose(ctx, f);
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_compile_recurring = {
    .page = STK_PAGE(compile_recurring),
    .needs = STK_NEED_BREAKDOWN | STK_NEED_STEPS,
    .verdicts = 1u << STK_VERDICT_HOST,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = compile_recurring_check,
};
