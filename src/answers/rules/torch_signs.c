// SPDX-License-Identifier: Apache-2.0
// Evidence and fixes for work that a step doesn't need: PyTorch's anomaly detection, and thousands
// of tiny operations (profile/model/verdict/busy_work.c decides which a run shows).
#include "answers/rules/torch_signs.h"

#include "answers/rules/job_places.h"
#include "answers/rules/optimizer_loop.h"
#include "evidence_says.h"
#include "fixes_data.h"
#include "profile/model/verdict/busy_work.h"
#include "profile/model/intervals.h"
#include "profile/model/thresholds.h"

static const struct stk_rep_fix cures[] = {STK_FIXES_TORCH_SIGNS};

#define OPTIMIZER 0.05 // of the step: the optimizer's loop deserves a separate fix

double stk_torch_update_share(const struct stk_rule_ctx *ctx)
{
    const struct stk_run_sum *run = ctx->pass.run;
    int64_t ns = stk_optimizer_loop_ns(ctx, STK_PART_COMPUTE);
    bool counts = stk_rule_on_host(ctx) && (double)ns >= OPTIMIZER * (double)run->wall_ns;
    return counts ? (double)ns / (double)run->wall_ns : 0;
}

bool stk_torch_update_choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    double share = stk_torch_update_share(ctx);
    if (share <= 0) {
        return false;
    }
    stk_say_optimizer_loops(ctx, f, share, stk_place_of(ctx, STK_TOLD_UPDATE));
    return stk_optimizer_choose(ctx, f, STK_PART_COMPUTE, share);
}

static void choose_anomaly(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_sign_sum *sum = &ctx->pass.run->facts.signs[STK_SIGN_ANOMALY];
    stk_say_anomaly_detection(ctx, f, sum->count, sum->ns);
    stk_finding_fix(ctx, f, &cures[STK_CURE_ANOMALY]);
}

static void choose_tiny(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_run_sum *run = ctx->pass.run;
    const struct stk_sign_sum *signs = run->facts.signs;
    double recurrent = stk_sign_a_step(run, STK_SIGN_RECURRENT);
    int64_t ns = stk_add_ns(signs[STK_SIGN_ATEN].ns, signs[STK_SIGN_RECURRENT].ns);
    uint64_t calls = signs[STK_SIGN_ATEN].count + signs[STK_SIGN_RECURRENT].count;
    stk_say_operations_are_tiny(ctx, f, (uint64_t)(stk_sign_a_step(run, STK_SIGN_ATEN) + recurrent),
                                ns / (int64_t)calls);
    bool is_cell = recurrent >= stk_threshold_value(STK_T_TINY_RECURRENT);
    bool is_update = stk_torch_update_choose(ctx, f);
    if (is_cell) {
        stk_finding_fix(ctx, f, &cures[STK_CURE_LSTM]);
    }
    stk_finding_fix(ctx, f, &cures[STK_CURE_BATCH]);
    if (signs[STK_SIGN_COMPILED].count == 0) {
        stk_finding_fix(ctx, f, &cures[STK_CURE_COMPILE]);
    }
    if (!is_update && !is_cell) { // it isn't known whether the program's own loop makes them
        stk_finding_fix(ctx, f, &cures[STK_CURE_WHOLE]);
    }
}

bool stk_torch_signs_choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    switch (stk_busy_work_of(ctx->pass.run)) {
    case STK_BUSY_ANOMALY:
        choose_anomaly(ctx, f);
        return true;
    case STK_BUSY_TINY:
        choose_tiny(ctx, f);
        return true;
    default:
        return false;
    }
}
