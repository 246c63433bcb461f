// SPDX-License-Identifier: Apache-2.0
// The answer in one figure: the current step, and the step with the first fix. The first fix is
// that of the first finding about the job that shortens the step, unless a later one is sure to
// save far more. Its step is the replay's expectation or, if only a bound is known, the shortest
// possible one.
//
// A bound of more than 90% of the step says how long the cause takes, and not what a fix reaches:
// there is no such step.
//
// Limit: shares are of the mean step. If no steps were recorded, there are only shares.
#include <string.h>

#include "base/assert.h"
#include "base/bound.h"
#include "answers/rules/rule.h"

#define WORTH_A_FIX 0.01 // of the step
#define FAR_MORE 2       // times; less doesn't outweigh that the verdict names the first one

static int64_t part_of(int64_t step_ns, double share, double kept)
{
    STK_ASSERT(share >= 0);
    return (int64_t)(share * (double)step_ns * kept);
}

static double stays(double saved)
{
    return saved < 1 ? 1 - saved : 0;
}

// The step that shares refer to: the one that `stoker whatif` uses, without profiling overhead, or
// else the mean one. 0 without steps.
static struct stk_pricing_step step_of(const struct stk_rule_ctx *ctx,
                                       const struct stk_report *report)
{
    const char *scope = report->breakdown.scope;
    bool by_steps = scope && strcmp(scope, "span") != 0;
    int64_t mean_ns = by_steps && report->steps.has_times ? report->steps.mean_ns : 0;
    if (mean_ns > 0 && ctx->prices && ctx->prices->gate.ok) {
        return stk_pricing_step(ctx->prices, ctx->pass.run);
    }
    return (struct stk_pricing_step){mean_ns, 1, 1, 1};
}

static void level_times(struct stk_rep_finding *f, const struct stk_pricing_step *now)
{
    struct stk_rep_level *level = (struct stk_rep_level *)(uintptr_t)f->levels.items;
    for (size_t i = 0; i < f->levels.count && now->measured_ns > 0; i++) {
        level[i].has_step = true;
        level[i].step_ns = part_of(now->measured_ns, stays(level[i].expected_share), now->share);
        level[i].low_ns = part_of(now->measured_ns, stays(level[i].high_share), now->low_share);
        level[i].high_ns = part_of(now->measured_ns, stays(level[i].low_share), now->high_share);
    }
}

// The level that gives the finding's expected saving; NULL: none.
static const struct stk_rep_level *expected_level(const struct stk_rep_finding *f)
{
    const struct stk_rep_level *level = f->levels.items;
    for (size_t i = f->levels.count; i-- > 0;) {
        if (level[i].expected_share <= f->saving.expected_share) {
            return &level[i];
        }
    }
    return NULL;
}

static bool is_worth_a_fix(const struct stk_rep_finding *f)
{
    double share = f->saving.has_expected ? f->saving.expected_share
                   : f->saving.has_high   ? f->saving.high_share
                                          : 0;
    return f->kind == STK_TOPIC_JOB && f->fix.count > 0 && share >= WORTH_A_FIX;
}

// Is it known well enough what the first fix makes of the step?
static bool is_known(const struct stk_rep_finding *f)
{
    return f->saving.has_expected || f->saving.high_share <= STK_BOUND_TELLS;
}

static void look(struct stk_rep_outlook *o, const struct stk_rep_finding *f,
                 const struct stk_pricing_step *now)
{
    const struct stk_rep_level *level = f->saving.has_expected ? expected_level(f) : NULL;
    double high = level ? level->high_share : f->saving.high_share;
    double low = level ? level->low_share : f->saving.has_low ? f->saving.low_share : 0;
    o->finding = f->id;
    o->basis = f->saving.has_expected ? "replay" : "bound";
    o->share = stays(f->saving.has_expected ? f->saving.expected_share : high);
    o->low_share = stays(high);
    o->high_share = stays(low);
    o->has_step = now->measured_ns > 0;
    if (o->has_step) {
        o->now_ns = part_of(now->measured_ns, 1, now->share);
        o->step_ns = part_of(now->measured_ns, o->share, now->share);
        o->low_ns = part_of(now->measured_ns, o->low_share, now->low_share);
        o->high_ns = part_of(now->measured_ns, o->high_share, now->high_share);
    }
}

// Even the least that `f` saves is far more than what the other is expected to save.
static bool saves_more(const struct stk_rep_finding *f, const struct stk_rep_finding *than)
{
    return f->saving.has_expected && f->saving.has_low && than->saving.has_expected &&
           f->saving.low_share > FAR_MORE * than->saving.expected_share;
}

void stk_outlook_fill(const struct stk_rule_ctx *ctx, struct stk_report *report)
{
    struct stk_rep_finding *f = (struct stk_rep_finding *)(uintptr_t)report->findings.items;
    const struct stk_rep_finding *first = NULL;
    struct stk_pricing_step now = step_of(ctx, report);
    for (size_t i = 0; i < report->findings.count; i++) {
        level_times(&f[i], &now);
        if (is_worth_a_fix(&f[i]) && (!first || saves_more(&f[i], first))) {
            first = &f[i];
        }
    }
    if (first && is_known(first) && ctx->pass.verdict->kind != STK_VERDICT_CANNOT_TELL) {
        report->has_outlook = true;
        look(&report->outlook, first, &now);
    }
}
