// SPDX-License-Identifier: Apache-2.0
// Kernels with too few blocks: while they run, most of the device's SMs are idle, however busy the
// device looks (profile/model/device/grid_fill.c). Needs recorded grids.
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/kernel_rules.h"

enum { FILLED, KNOWN, OF_STEP, ONE };
static const struct stk_threshold thresholds[] = {
    [FILLED] = {"SMs with a block, while kernels run", "share of the GPU's SMs", STK_GRID_FILLED,
                "small kernels between large ones cost less than a different batch would"},
    [KNOWN] = {"time whose grids are recorded", "share of the kernels' time", STK_GRID_KNOWN,
               "the rest isn't judged"},
    [OF_STEP] = {"what stays empty", "share of the step", 0.05, "less isn't worth trying"},
    [ONE] = {"a kernel worth naming", "share of the unused capacity", 0.1,
             "otherwise many kernels are small"},
    {0},
};

static const struct stk_rep_fix fixes[] = {
    STK_FIX(small_grid_batch),    STK_FIX(small_grid_torch_vmap), STK_FIX(small_grid_tf_vmap),
    STK_FIX(small_grid_jax_vmap), STK_FIX(small_grid_look),       {0},
};

static void say_what(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                     const struct stk_grid_fill *g)
{
    double part = g->empty_ns > 0 ? (double)g->emptiest_ns / (double)g->empty_ns : 0;
    stk_say_multiprocessors_filled(ctx, f, stk_rule_grid_filled(ctx), g->multiprocessors);
    stk_say_kernels_are_small(ctx, f, g->small, g->kernels);
    if (g->emptiest && part >= thresholds[ONE].value) {
        stk_say_emptiest_kernel(ctx, f, part, stk_rule_name(ctx, g->emptiest));
    }
}

static enum stk_rule_state small_grid_check(const struct stk_rule_ctx *ctx,
                                            struct stk_rep_finding *f, const char **why)
{
    const struct stk_grid_fill *g = &ctx->pass.run->facts.kernels.grids;
    double filled = stk_rule_grid_filled(ctx);
    if (filled < 0) {
        *why =
            g->kernels_ns <= 0
                ? "no kernels in the steps"
                : "the profile doesn't have the grids of most kernels, or the GPU's number of SMs";
        return STK_RULE_NOT_APPLICABLE;
    }
    *why = stk_why_multiprocessors(ctx, filled);
    double empty = (double)g->empty_ns / (double)ctx->pass.run->wall_ns;
    if (filled >= thresholds[FILLED].value || empty < thresholds[OF_STEP].value) {
        return STK_RULE_PASSED;
    }
    f->severity = STK_LEVEL_LOW;
    f->confidence = STK_LEVEL_MEDIUM;
    f->steps_affected = stk_rule_spread(ctx, 1u << STK_PART_COMPUTE).most_affected;
    stk_finding_bound(f, empty);
    say_what(ctx, f, g);
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_small_grid = {
    .page = STK_PAGE(small_grid),
    .needs = STK_NEED_BREAKDOWN | STK_NEED_DEVICE,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = small_grid_check,
};
