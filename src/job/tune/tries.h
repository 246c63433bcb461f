// SPDX-License-Identifier: Apache-2.0
// The fixes that `stoker tune` can try without editing the program, which are those whose text says
// how to apply them (src/fixes/fixes.h), and their values that are worth a run. If these depend on
// facts of the job, a function in values_*.c computes them, and X(ID) in tries.def names it.
#pragma once

#include "job/tune/values.h"

// The fixes that tune knows, in the order of tries.def; NULL after the last.
const struct stk_rep_fix *stk_tune_fix(int i);
// Adds the values worth trying, likeliest first, to an empty `to`.
void stk_tune_values(const struct stk_rep_fix *fix, const struct stk_tune_facts *facts,
                     struct stk_tune_values *to);
// The saving as a share of steps of `step_s` seconds, from the hooks' facts of a run without a
// profiler; below 0: unknown, or known from the profile.
double stk_tune_saving(const struct stk_rep_fix *fix, const struct stk_tune_facts *facts,
                       double step_s);

// Whether a list of ids, separated by commas (NULL: all), selects the fix: by its id, by the common
// start of several ("torch.dataloader"), or by the id of an advice that it tries.
bool stk_tune_is_asked(const char *list, const struct stk_rep_fix *fix);
// The fix with an id, or for an advice's id. NULL: none; the error says why.
const struct stk_rep_fix *stk_tune_fix_find(const char *id, struct stoker_err *err);
// Checks that each id in the list selects at least one fix.
STK_MUST_CHECK enum stoker_status stk_tune_check_asked(const char *list, struct stoker_err *err);
