// SPDX-License-Identifier: Apache-2.0
// No single loss stands out. Names the two largest; each that matters has a finding of its own.
#include "base/human.h"
#include "model/verdict_text.h"
#include "rules/finding.h"

enum { WORTH };
static const struct stk_threshold thresholds[] = {
    [WORTH] = {"loss worth naming", "share of the step", 0.03,
               "the level at which the losses' own findings begin"},
    {0},
};

static const struct stk_rep_fix fixes[] = {
    {"any",
     "Begin with the larger loss, or the one that is cheaper to mend, and record again: the other "
     "then "
     "counts for more.",
     NULL},
    {0},
};

static enum stk_rule_state mixed_check(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                                       const char **why)
{
    const struct stk_verdict *v = ctx->pass.verdict;
    char first[STK_HUMAN_MAX], second[STK_HUMAN_MAX], compute[STK_HUMAN_MAX];
    *why = stk_rule_text(ctx, "the verdict is %s", stk_verdict_key(v->kind));
    if (v->kind != STK_VERDICT_MIXED) {
        return STK_RULE_PASSED;
    }
    f->severity = "info";
    f->confidence = stk_level_key(v->confidence);
    f->steps_affected = ctx->pass.run->steps_used;
    if (v->group_share[v->first] < thresholds[WORTH].value) {
        stk_finding_say(ctx, f, "no loss reaches %g %% of the time", thresholds[WORTH].value * 100);
    } else {
        stk_finding_say(ctx, f, "%s takes %s of the time, %s %s", stk_group_phrase(v->first),
                        stk_human_share(v->group_share[v->first], first),
                        stk_group_phrase(v->second),
                        stk_human_share(v->group_share[v->second], second));
        stk_finding_bound(f, v->group_share[v->first] + v->group_share[v->second]);
    }
    stk_finding_say(ctx, f, "compute takes %s of the time",
                    stk_human_share(v->group_share[STK_GROUP_COMPUTE], compute));
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_mixed = {
    .id = "mixed",
    .title = "Several causes share the loss",
    .fires = "The verdict is mixed: the second largest loss is nearly as large as the first, or no "
             "loss reaches 10 % "
             "although compute stays below 70 %.",
    .matters = "Mending one cause alone leaves the other: expect no more than its own share.",
    .priced = "At most the two largest losses together.",
    .quiet = "Whenever one loss stands out.",
    .source = "stoker's table of thresholds; the border of 85 % between the two was set on "
              "labelled real profiles.",
    .needs = STK_NEED_BREAKDOWN,
    .verdicts = 1u << STK_VERDICT_MIXED,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = mixed_check,
};
