// SPDX-License-Identifier: Apache-2.0
// All-reduces below the rate of their link (all_reduce_rate.h): too small to reach it, or slower
// than others of the same profile or than the devices' links allow. At the link's rate, only fewer
// bytes or overlap help, which communication-exposed reports.
#include <string.h>

#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/all_reduce_rate.h"

enum { LOST, NEAR };
static const struct stk_threshold thresholds[] = {
    [LOST] = {"exposed time above what the bytes need at the link's rate", "share of the step",
              STK_ALL_REDUCE_LOST, "as for exposed communication: less isn't worth trying"},
    [NEAR] = {"rate of the all-reduces, below", "of the link's", STK_ALL_REDUCE_NEAR,
              "NCCL's protocols and startup each cost some tenths"},
    {0},
};

enum { FIX_TORCH_MERGE, FIX_TF_MERGE, FIX_JAX_MERGE, FIX_LINK, FIX_SETTINGS, FIX_BYTES };
static const struct stk_rep_fix fixes[] = {
    [FIX_TORCH_MERGE] = STK_FIX(communication_merge_pytorch),
    [FIX_TF_MERGE] = STK_FIX(communication_merge_tensorflow),
    [FIX_JAX_MERGE] = STK_FIX(all_reduce_slow_jax_merge),
    [FIX_LINK] = STK_FIX(all_reduce_slow_link),
    [FIX_SETTINGS] = STK_FIX(all_reduce_slow_settings),
    [FIX_BYTES] = STK_FIX(all_reduce_slow_bytes),
    {0},
};

static void say_rates(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                      const struct stk_all_reduce_rate *r)
{
    if (r->link_bytes > 0) {
        stk_say_all_reduce_below_link(ctx, f, r->rate, r->link, (uint64_t)r->link_bytes);
    } else {
        stk_say_all_reduce_below_peers(ctx, f, r->rate, r->link);
    }
    stk_all_reduce_say_way(ctx, f, r);
}

static void say_classes(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                        const struct stk_all_reduce_rate *r)
{
    for (uint32_t k = 0; k < r->class_count && k < 3 && r->classes[k].lost_ns > 0; k++) {
        const struct stk_all_reduce_class *c = &r->classes[k];
        double ideal_ns = (double)c->each_ns * c->bus_rate / r->link;
        stk_say_all_reduce_size(ctx, f, c->count, (uint64_t)c->bytes, c->bus_rate, c->each_ns,
                                (int64_t)ideal_ns);
    }
}

static enum stk_rule_state all_reduce_slow_check(const struct stk_rule_ctx *ctx,
                                                 struct stk_rep_finding *f, const char **why)
{
    struct stk_all_reduce_rate r;
    stk_all_reduce_rate_find(ctx, &r);
    if (r.why_not) {
        *why = r.why_not;
        return r.count == 0 ? STK_RULE_NOT_APPLICABLE : STK_RULE_SKIPPED;
    }
    double share = stk_all_reduce_lost_share(ctx, &r);
    *why = stk_why_all_reduces_move(ctx, r.rate, r.link, r.link_bytes > 0,
                                    stk_all_reduce_is_at_bound(&r),
                                    r.rate >= STK_ALL_REDUCE_NEAR * r.link);
    if (!stk_all_reduce_is_slow(ctx, &r)) {
        return STK_RULE_PASSED;
    }
    bool small = stk_all_reduce_is_small(&r);
    f->title = small ? "All-reduces are too small for their link" : f->title;
    f->severity = stk_rule_severity(ctx, share);
    f->confidence =
        ctx->pass.run->rank_count > 1 || r.link_bytes == 0 ? STK_LEVEL_MEDIUM : STK_LEVEL_LOW;
    f->steps_affected = stk_rule_spread(ctx, 1u << STK_PART_COMMUNICATION).most_affected;
    stk_finding_bound(f, share);
    say_rates(ctx, f, &r);
    say_classes(ctx, f, &r);
    if (ctx->pass.run->rank_count < 2 && r.link_bytes > 0) {
        stk_say_all_reduce_one_rank(ctx, f);
    }
    for (int i = small ? FIX_TORCH_MERGE : FIX_LINK; i <= (small ? FIX_JAX_MERGE : FIX_BYTES);
         i++) {
        stk_finding_fix(ctx, f, &fixes[i]);
    }
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_all_reduce_slow = {
    .page = STK_PAGE(all_reduce_slow),
    .needs = STK_NEED_DEVICE | STK_NEED_BREAKDOWN,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = all_reduce_slow_check,
};
