// SPDX-License-Identifier: Apache-2.0
// The recorded steps don't train: no gradient is computed and no weight updated. They are a pass
// over the data, an evaluation or inference, so the report isn't about the training.
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/finding.h"

static const struct stk_threshold thresholds[] = {
    {"gradients and updates", "operators", 1, "training needs one of each"},
    {0},
};

static const struct stk_rep_fix fixes[] = {STK_FIX(training_not_recorded_later), {0}};

static enum stk_rule_state training_not_recorded_check(const struct stk_rule_ctx *ctx,
                                                       struct stk_rep_finding *f, const char **why)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    if (facts->sees_training || !facts->sees_operators) {
        *why = facts->sees_training ? "gradients are computed, or weights updated"
                                    : "operators aren't recorded one by one";
        return STK_RULE_PASSED;
    }
    *why = "no operator computes gradients or updates weights";
    f->severity = STK_LEVEL_INFO;
    f->confidence = STK_LEVEL_MEDIUM;
    if (facts->frameworks & 1u << STK_FW_TENSORFLOW) {
        stk_say_trains_nothing(ctx, f);
    } else if (facts->frameworks & 1u << STK_FW_JAX) {
        stk_say_calls_no_gradients(ctx, f);
    } else {
        stk_say_only_forward(ctx, f);
    }
    stk_say_about_these_steps(ctx, f);
    stk_finding_fix(ctx, f, &fixes[0]);
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_training_not_recorded = {
    .page = STK_PAGE(training_not_recorded),
    .kind = STK_TOPIC_RECORDING,
    .needs = STK_NEED_BREAKDOWN,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = training_not_recorded_check,
};
