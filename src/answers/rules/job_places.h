// SPDX-License-Identifier: Apache-2.0
// Places in the job's own code, from the hooks of `stoker run` (profile/store/told.def): sentences
// for the findings that they explain. Profiles of other recorders have none.
#pragma once

#include "answers/rules/finding.h"

// The loop, its loader and its data set, and the lines that take the fetches' time.
void stk_places_say_input(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f);
// The lines that take the steps' time.
void stk_places_say_lines(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f);
// Who evaluates, how often, and how long.
void stk_places_say_evaluation(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f);
// The text of a place; NULL: unknown.
const char *stk_place_of(const struct stk_rule_ctx *ctx, enum stk_told_place at);
