// SPDX-License-Identifier: Apache-2.0
// No single loss stands out. Important losses have their own findings, and the sentence names the
// two largest; this rule only reports if none is important.
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/finding.h"

enum { WORTH };
static const struct stk_threshold thresholds[] = {
    [WORTH] = {"loss worth naming", "share of the step", 0.03,
               "the level at which the losses' own findings begin"},
    {0},
};

static const struct stk_rep_fix fixes[] = {
    STK_FIX(mixed_one_by_one),
    {0},
};

static enum stk_rule_state mixed_check(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                                       const char **why)
{
    const struct stk_verdict *v = ctx->pass.verdict;
    if (v->kind != STK_VERDICT_MIXED) {
        *why = stk_why_verdict_is(ctx, stk_verdict_key(v->kind));
        return STK_RULE_PASSED;
    }
    if (v->group_share[v->first] >= thresholds[WORTH].value) {
        *why = "the verdict and other findings report the losses";
        return STK_RULE_PASSED;
    }
    *why = stk_why_verdict_is(ctx, stk_verdict_key(v->kind));
    f->severity = STK_LEVEL_INFO;
    f->confidence = v->confidence;
    f->steps_affected = ctx->pass.run->steps_used;
    stk_say_no_loss_stands_out(ctx, f, thresholds[WORTH].value, v->group_share[STK_GROUP_COMPUTE]);
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_mixed = {
    .page = STK_PAGE(mixed),
    .needs = STK_NEED_BREAKDOWN,
    .verdicts = 1u << STK_VERDICT_MIXED,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = mixed_check,
};
