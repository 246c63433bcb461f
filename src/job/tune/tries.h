// SPDX-License-Identifier: Apache-2.0
// What `stoker tune` can try without editing the program: the fixes whose text says how they are
// applied (src/fixes/fixes.h), and which of their values are worth a run. Where the facts of the
// job decide that, a function of values_*.c does, and X(ID) in tries.def names it.
#pragma once

#include "job/tune/values.h"

// The fixes that tune knows, in the order of tries.def; NULL from the last one on.
const struct stk_rep_fix *stk_tune_fix(int i);
// Values worth trying, the likeliest first, into an empty `to`.
void stk_tune_values(const struct stk_rep_fix *fix, const struct stk_tune_facts *facts,
                     struct stk_tune_values *to);
// What it could save by what the hooks saw of a run without a profiler, share of its steps of
// step_s; below 0: unknown, or the profile says.
double stk_tune_saving(const struct stk_rep_fix *fix, const struct stk_tune_facts *facts,
                       double step_s);

// Whether a list of ids with a comma between (NULL: all) asks for the fix: by its id, by what
// several begin with ("torch.dataloader"), or by the id of an advice that it tries.
bool stk_tune_is_asked(const char *list, const struct stk_rep_fix *fix);
// The fix that an id or an advice's id stands for. NULL: none, and the error says why.
const struct stk_rep_fix *stk_tune_fix_find(const char *id, struct stoker_err *err);
// Does the list name fixes, each of its ids at least one?
STK_MUST_CHECK enum stoker_status stk_tune_check_asked(const char *list, struct stoker_err *err);
