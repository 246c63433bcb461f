// SPDX-License-Identifier: Apache-2.0
// Elementwise kernels that follow each other on a stream: each reads from memory what the one
// before it wrote there, which one kernel of a compiler would keep in registers.
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/kernel_rules.h"

enum { FROM };
static const struct stk_threshold thresholds[] = {
    [FROM] = {"elementwise kernels in chains", "share of the kernels' time", 0.15,
              "a compiler may leave as much"},
    {0},
};

static const struct stk_rep_fix fixes[] = {
    STK_FIX(elementwise_unfused_torch),
    STK_FIX(elementwise_unfused_tf),
    STK_FIX(elementwise_unfused_jax),
    STK_FIX(elementwise_unfused_cuda),
    {0},
};

static enum stk_rule_state elementwise_unfused_check(const struct stk_rule_ctx *ctx,
                                                     struct stk_rep_finding *f, const char **why)
{
    return stk_rule_check_kernels(ctx, f, STK_KERNEL_CHAINED, &thresholds[FROM], 1,
                                  "is elementwise kernels that run in a row", why);
}

const struct stk_rule stk_rule_elementwise_unfused = {
    .page = STK_PAGE(elementwise_unfused),
    .whatif = "fuse",
    .needs_saving = true,
    .needs = STK_NEED_BREAKDOWN | STK_NEED_DEVICE,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = elementwise_unfused_check,
};
