// SPDX-License-Identifier: Apache-2.0
// Findings about a kind of kernel (kernel_rules.h). Their severity is low: it depends on the model
// whether other kernels are possible, and a timeline only shows an opportunity, not a fault.
#include "answers/rules/kernel_rules.h"

#include "base/assert.h"
#include "evidence_says.h"

#define LEAST_OF_STEP 0.03 // smaller possible savings aren't worth a finding

// Of the step: time of kernels, as a share of all kernels' and of the step that computes.
static double share_of_step(const struct stk_rule_ctx *ctx, int64_t ns)
{
    int64_t all_ns = ctx->pass.run->facts.kernels.all_ns;
    double compute = stk_rule_part_share(ctx, STK_PART_COMPUTE);
    return all_ns > 0 ? (double)ns / (double)all_ns * compute : 0;
}

double stk_rule_grid_filled(const struct stk_rule_ctx *ctx)
{
    const struct stk_grid_fill *g = &ctx->pass.run->facts.kernels.grids;
    bool known = g->known_ns > 0 && (double)g->known_ns >= STK_GRID_KNOWN * (double)g->kernels_ns;
    return known ? 1 - (double)g->empty_ns / (double)g->known_ns : -1;
}

enum stk_rule_state stk_rule_check_kernels(const struct stk_rule_ctx *ctx,
                                           struct stk_rep_finding *f, enum stk_kernel_kind kind,
                                           const struct stk_threshold *from, double of_it,
                                           const char *is, const char **why)
{
    STK_ASSERT((unsigned)kind < STK_KERNEL_KINDS);
    const struct stk_kernel_work *k = &ctx->pass.run->facts.kernels;
    if (k->all_ns <= 0) {
        *why = "no kernels in the steps";
        return STK_RULE_NOT_APPLICABLE;
    }
    double part = (double)k->kind_ns[kind] / (double)k->all_ns;
    *why = stk_why_kernels_of_kind(ctx, part, is);
    double saved = of_it * share_of_step(ctx, k->kind_ns[kind]);
    if (part < from->value || saved < LEAST_OF_STEP) {
        return STK_RULE_PASSED;
    }
    f->severity = STK_LEVEL_LOW;
    f->confidence = STK_LEVEL_MEDIUM;
    f->steps_affected = stk_rule_spread(ctx, 1u << STK_PART_COMPUTE).most_affected;
    stk_finding_bound(f, saved);
    stk_say_kernels_of_kind(ctx, f, part, is, k->kind_count[kind]);
    if (k->longest[kind]) {
        stk_say_most_in_kernel(ctx, f, k->longest_ns[kind], stk_rule_name(ctx, k->longest[kind]));
    }
    return STK_RULE_FIRED;
}
