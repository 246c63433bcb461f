// SPDX-License-Identifier: Apache-2.0
// What the rules of a kind of kernel share: how much of the step it takes, and the evidence.
#ifndef STK_RULES_KERNEL_RULES_H
#define STK_RULES_KERNEL_RULES_H

#include "rules/finding.h"

// Of the step: time of kernels, as a share of all kernels' and of the step that computes.
double stk_rule_kernel_share(const struct stk_rule_ctx *ctx, int64_t ns);
// A finding of a kind of kernel from a share of the kernels' time on: fills all but the fixes; `is`
// goes on the sentence "34 % of the kernels' time ...". The saving is at most `of_it` of their
// time.
enum stk_rule_state stk_rule_check_kernels(const struct stk_rule_ctx *ctx,
                                           struct stk_rep_finding *f, enum stk_kernel_kind kind,
                                           const struct stk_threshold *from, double of_it,
                                           const char *is, const char **why);

#endif
