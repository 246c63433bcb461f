// SPDX-License-Identifier: Apache-2.0
// Too few steps, or none found: shares are unreliable, and pauses that occur every few steps may be
// missed.
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/finding.h"

enum { STEPS, CONFIDENCE };
static const struct stk_threshold thresholds[] = {
    [STEPS] = {"used steps", "steps of a rank", 3,
               "a median needs three: with fewer, one odd step decides"},
    [CONFIDENCE] = {"confidence of inferred steps", "share", 0.5,
                    "below it, the period is more of a guess than a finding"},
    {0},
};

enum { FIX_TORCH, FIX_KERAS, FIX_TF, FIX_JAX, FIX_NVTX, FIX_NVTX_C, FIX_MARK, FIX_COUNT };
static const struct stk_rep_fix fixes[] = {
    [FIX_TORCH] = STK_FIX(capture_few_steps_torch),
    [FIX_KERAS] = STK_FIX(capture_few_steps_keras),
    [FIX_TF] = STK_FIX(capture_few_steps_tf),
    [FIX_JAX] = STK_FIX(capture_few_steps_jax),
    [FIX_NVTX] = STK_FIX(capture_few_steps_nvtx),
    [FIX_NVTX_C] = STK_FIX(capture_few_steps_nvtx_c),
    [FIX_MARK] = STK_FIX(capture_few_steps_mark),
    {0},
};

// A profile that shows neither a framework nor Python is of a program in C, C++ or Fortran.
static void capture_few_steps_choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    bool is_plain = (facts->frameworks & ~(1u << STK_FW_CUDA)) == 0 && facts->python_events == 0;
    for (int i = 0; i < FIX_COUNT; i++) {
        if (i != (is_plain ? FIX_NVTX : FIX_NVTX_C)) {
            stk_finding_fix(ctx, f, &fixes[i]);
        }
    }
}

static enum stk_rule_state capture_few_steps_check(const struct stk_rule_ctx *ctx,
                                                   struct stk_rep_finding *f, const char **why)
{
    const struct stk_run_sum *run = ctx->pass.run;
    bool unsure =
        run->source == STK_STEPS_INFERRED && run->confidence < thresholds[CONFIDENCE].value;
    *why = stk_why_steps_used(ctx, run->steps_used);
    if (run->steps_used >= thresholds[STEPS].value && !unsure) {
        return STK_RULE_PASSED;
    }
    f->severity = run->steps_used == 0 ? STK_LEVEL_LOW : STK_LEVEL_INFO;
    capture_few_steps_choose(ctx, f);
    if (run->source == STK_STEPS_NONE || run->step_marks == 0) {
        f->title = "No steps were found";
        stk_say_no_steps_marked(ctx, f);
    } else if (unsure) {
        f->title = "The steps were guessed";
        stk_say_steps_inferred(ctx, f, run->steps_used);
    } else {
        if (run->step_marks > run->steps_used) {
            stk_say_steps_usable(ctx, f, run->steps_used, run->step_marks);
        } else {
            stk_say_steps_recorded(ctx, f, run->steps_used);
        }
    }
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_capture_few_steps = {
    .page = STK_PAGE(capture_few_steps),
    .kind = STK_TOPIC_RECORDING,
    .needs = STK_NEED_BREAKDOWN,
    .thresholds = thresholds,
    .fixes = fixes,
    .fixes_recorder = true,
    .check = capture_few_steps_check,
};
