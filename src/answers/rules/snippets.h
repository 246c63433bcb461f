// SPDX-License-Identifier: Apache-2.0
// Decides which code to paste is printed.
#pragma once

#include "answers/rules/rule.h"

// Removes the code from fixes that edit calls which no name in the profile shows.
void stk_snippets_choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f);
