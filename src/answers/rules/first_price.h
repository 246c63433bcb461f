// SPDX-License-Identifier: Apache-2.0
// A finding's saving: that of its first fix.
#pragma once

#include "answers/rules/rule.h"

// Replaces the bound by the price of the first fix, if the steps can be replayed.
void stk_first_price_put(const struct stk_rule *rule, const struct stk_rule_ctx *ctx,
                         struct stk_rep_finding *f);
// The saving of a what-if; false: it has no price here.
bool stk_first_price_of(const struct stk_rule_ctx *ctx, const char *whatif,
                        struct stk_rep_saving *out);
// It was replayed, and saves too little to be reported.
bool stk_first_price_is_small(const struct stk_rep_finding *f);
