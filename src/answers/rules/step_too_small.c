// SPDX-License-Identifier: Apache-2.0
// The device has so little work that launches, copies and waits take most of the step. A CPU may be
// as fast, or the device needs more work at once.
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/kernel_rules.h"

enum { KERNELS, MEAN, AROUND, AT_WORST, UNPRICED };
static const struct stk_threshold thresholds[] = {
    [KERNELS] = {"kernels", "share of the step", 0.2, "a CPU needs many times as long"},
    [MEAN] = {"a kernel, on average, at most", "us", 8,
              "much of it is the cost of an empty kernel"},
    [AROUND] = {"launches, copies, waits, Python and the framework", "share of the step", 0.5,
                "otherwise something else makes the GPU wait"},
    [AT_WORST] = {"the step on the CPU, at worst, below", "of the unchanged step", 1,
                  "how fast a CPU would be is a guess: even the slowest assumed must do"},
    [UNPRICED] = {"kernels, without a replay", "share of the step", 0.05,
                  "more may be too much for a CPU"},
    {0},
};

static const struct stk_rep_fix fixes[] = {
    STK_FIX(step_too_small_hide_device), STK_FIX(step_too_small_torch_host),
    STK_FIX(step_too_small_tf_host),     STK_FIX(step_too_small_jax_host),
    STK_FIX(step_too_small_batch),       {0},
};

// Why the rule doesn't apply: it needs one process with one device. NULL: it applies.
static const char *asks_nothing(const struct stk_rule_ctx *ctx)
{
    const struct stk_run_sum *run = ctx->pass.run;
    uint32_t busy = 0;
    for (uint32_t d = 0; d < run->device_count; d++) {
        busy += run->devices[d].analysed && run->devices[d].kernels > 0;
    }
    return stk_rule_on_tpu(ctx)                      ? "the device is a TPU"
           : run->facts.kernels.grids.kernels == 0   ? "no kernels in the steps"
           : run->rank_count > 1 || busy > 1         ? "several devices share the work"
           : run->facts.signs[STK_SIGN_ENGINE].count ? "an inference engine waits for requests"
                                                     : NULL;
}

static void say_sizes(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, double around)
{
    const struct stk_run_sum *run = ctx->pass.run;
    const struct stk_kernel_work *k = &run->facts.kernels;
    int64_t steps = run->steps_used ? run->steps_used : 1;
    stk_say_kernels_take(ctx, f, k->all_ns / steps, run->steps_used > 0,
                         (double)k->all_ns / (double)run->wall_ns,
                         k->grids.kernels / (uint64_t)steps, k->all_ns / (int64_t)k->grids.kernels);
    stk_say_around_kernels(ctx, f, around);
}

// Whether the step is shorter even on the slowest assumed host; true without a replay.
static bool may_pay(const struct stk_rule_ctx *ctx, bool priced, const struct stk_price_asked *set)
{
    struct stk_price price;
    return !priced ||
           (stk_price_set(ctx->prices, set, 1, &price) && price.high < thresholds[AT_WORST].value);
}

static enum stk_rule_state step_too_small_check(const struct stk_rule_ctx *ctx,
                                                struct stk_rep_finding *f, const char **why)
{
    const struct stk_run_sum *run = ctx->pass.run;
    const struct stk_kernel_work *k = &run->facts.kernels;
    struct stk_price_asked set;
    if ((*why = asks_nothing(ctx))) {
        return STK_RULE_NOT_APPLICABLE;
    }
    double kernels = (double)k->all_ns / (double)run->wall_ns;
    int64_t mean_ns = k->all_ns / (int64_t)k->grids.kernels;
    double around = stk_rule_group_share(ctx, STK_GROUP_HOST) +
                    stk_rule_group_share(ctx, STK_GROUP_SYNC) +
                    stk_rule_group_share(ctx, STK_GROUP_TRANSFER);
    bool priced = stk_rule_may_price(ctx, "place=all:host", &set);
    *why = stk_why_kernels_take(ctx, kernels, mean_ns);
    if (kernels > thresholds[priced ? KERNELS : UNPRICED].value ||
        (double)mean_ns > thresholds[MEAN].value * 1e3 || around < thresholds[AROUND].value) {
        return STK_RULE_PASSED;
    }
    if (!may_pay(ctx, priced, &set)) {
        *why = stk_why_host_may_be_slower(ctx, *why);
        return STK_RULE_PASSED;
    }
    f->severity = priced ? STK_LEVEL_LOW : STK_LEVEL_INFO;
    f->confidence = STK_LEVEL_LOW;
    f->steps_affected = run->steps_used;
    if (priced) {
        stk_finding_bound(f, around);
    }
    say_sizes(ctx, f, around);
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_step_too_small = {
    .page = STK_PAGE(step_too_small),
    .whatif = "place=all:host",
    .needs_saving = true,
    .needs = STK_NEED_BREAKDOWN | STK_NEED_DEVICE,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = step_too_small_check,
};
