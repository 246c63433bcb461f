// SPDX-License-Identifier: Apache-2.0
// The trial of one or several fixes: its rows, its pairs, and the decision.
#pragma once

#include "job/tune/pairs.h"

// Makes a row for a value of a fix. It never moves. NULL: no memory.
struct stk_tune_tried *stk_attempt_row(struct stk_tuning *t, const struct stk_candidate *c,
                                       const char *value);
// why NULL: unchanged.
void stk_attempt_decide(struct stk_tuning *t, struct stk_tune_tried *tried,
                        enum stk_tune_state state, const char *why);
// Tries a fix in pairs, in addition to the kept ones. On codes other than STOKER_OK, the row has
// the measurements so far.
STK_MUST_CHECK enum stoker_status stk_attempt_one(struct stk_tuning *t,
                                                  struct stk_tune_tried *tried, int most,
                                                  enum stk_tune_patience patience,
                                                  struct stoker_err *err);
// Runs each of several values once, and the best one in pairs.
STK_MUST_CHECK enum stoker_status stk_attempt_values(struct stk_tuning *t,
                                                     const struct stk_candidate *c,
                                                     const struct stk_tune_values *values,
                                                     struct stoker_err *err);
// Tries the whole strong baseline at once, if the job can have two or more of its fixes. Decided
// fixes are no longer candidates.
STK_MUST_CHECK enum stoker_status
stk_attempt_strong(struct stk_tuning *t, const struct stk_tune_set *set, struct stoker_err *err);
// Keeps the set from here on. The pairs compare it with what was kept before.
void stk_attempt_keep_set(struct stk_tuning *t, const struct stk_tune_pairs *p,
                          const struct stk_tune_set *set);
// Whether an undecided trial of this fix doesn't make the search's result unclear: nothing in the
// profile points to the fix, or it only shortens the start.
bool stk_attempt_is_aside(const struct stk_rep_fix *fix);
// Whether there may be a gain that pairs couldn't separate from noise.
bool stk_attempt_is_lost_in_noise(const struct stk_tune_tried *tried);
