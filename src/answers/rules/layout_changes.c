// SPDX-License-Identifier: Apache-2.0
// Kernels that only change the layout of a convolution's tensors between channels first and
// channels last; tensor cores want channels last.
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/kernel_rules.h"

enum { FROM };
static const struct stk_threshold thresholds[] = {
    [FROM] = {"layout conversions", "share of the kernels' time", 0.02,
              "the first and the last layer may need one"},
    {0},
};

static const struct stk_rep_fix fixes[] = {
    STK_FIX(layout_changes_torch),
    STK_FIX(layout_changes_tf),
    STK_FIX(layout_changes_jax),
    {0},
};

static enum stk_rule_state layout_changes_check(const struct stk_rule_ctx *ctx,
                                                struct stk_rep_finding *f, const char **why)
{
    return stk_rule_check_kernels(ctx, f, STK_KERNEL_LAYOUT, &thresholds[FROM], 1,
                                  "only converts the layout of tensors", why);
}

const struct stk_rule stk_rule_layout_changes = {
    .page = STK_PAGE(layout_changes),
    .needs = STK_NEED_BREAKDOWN | STK_NEED_DEVICE,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = layout_changes_check,
};
