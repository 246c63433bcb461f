// SPDX-License-Identifier: Apache-2.0
// The trial of a fix, or of several at once: its rows, its pairs, and what is decided by them.
#pragma once

#include "job/tune/pairs.h"

// A row for a value of a fix. It never moves. NULL: no memory.
struct stk_tune_tried *stk_attempt_row(struct stk_tuning *t, const struct stk_candidate *c,
                                       const char *value);
// why NULL: as it is.
void stk_attempt_decide(struct stk_tuning *t, struct stk_tune_tried *tried,
                        enum stk_tune_state state, const char *why);
// In pairs on top of what was kept. Where another code than STOKER_OK ends them, the row holds what
// was measured.
STK_MUST_CHECK enum stoker_status stk_attempt_one(struct stk_tuning *t,
                                                  struct stk_tune_tried *tried, int most,
                                                  enum stk_tune_patience patience,
                                                  struct stoker_err *err);
// Of several values the best of one run each goes on to pairs.
STK_MUST_CHECK enum stoker_status stk_attempt_values(struct stk_tuning *t,
                                                     const struct stk_candidate *c,
                                                     const struct stk_tune_values *values,
                                                     struct stoker_err *err);
// All of the strong baseline at once, where two or more of its fixes can be tried on the job. Those
// that it decides are taken from the candidates.
STK_MUST_CHECK enum stoker_status
stk_attempt_strong(struct stk_tuning *t, const struct stk_tune_set *set, struct stoker_err *err);
// The set, of which these pairs are against what was kept before, is kept from here on.
void stk_attempt_keep_set(struct stk_tuning *t, const struct stk_tune_pairs *p,
                          const struct stk_tune_set *set);
// Whether a step may have nothing to gain though nobody can tell of this fix: nothing in the
// profile points at it, or it shortens the start alone.
bool stk_attempt_is_aside(const struct stk_rep_fix *fix);
// Whether it may gain, and pairs could not tell that from noise.
bool stk_attempt_is_lost_in_noise(const struct stk_tune_tried *tried);
