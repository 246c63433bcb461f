// SPDX-License-Identifier: Apache-2.0
// The saving that a finding states: that of its first fix.
#pragma once

#include "answers/rules/rule.h"

// The price of its first fix instead of the bound, where the steps can be replayed.
void stk_first_price_put(const struct stk_rule *rule, const struct stk_rule_ctx *ctx,
                         struct stk_rep_finding *f);
// What a what-if saves; false: it has no price here.
bool stk_first_price_of(const struct stk_rule_ctx *ctx, const char *whatif,
                        struct stk_rep_saving *out);
// It is replayed, and saves too little to be named.
bool stk_first_price_is_small(const struct stk_rep_finding *f);
