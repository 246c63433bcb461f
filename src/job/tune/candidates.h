// SPDX-License-Identifier: Apache-2.0
// What a job's capture says about each fix: whether it applies, and what it could save. A fix's
// bound is the share of a step in parts that it can shorten and in unnamed time; if the profile
// supports its what-if, that price.
#pragma once

#include "job/tune/advice.h"
#include "job/tune/choice.h"
#include "job/tune/job_facts.h"

enum { STK_CANDIDATES = 64 };

struct stk_candidate {
    const struct stk_rep_fix *fix;
    double saving; // expected, share of the step; below 0: unknown
    bool is_priced;
    bool is_advised; // in the report
    bool is_taken;   // by stk_candidates_next
};
struct stk_candidates {
    struct stk_candidate at[STK_CANDIDATES]; // in the order of the table
    int count;
    char sentence[256]; // "": no report
    bool has_report;
    bool names_loss; // its verdict names a loss, not "compute-bound" or "cannot tell"
};

// Fills them from the profile in `folder`. wait_share: of the run, from the hooks; below 0:
// unknown. An unreadable profile leaves all savings unknown. Adds the report's advice to `advice`,
// which is empty before.
STK_MUST_CHECK enum stoker_status stk_candidates_find(const char *folder, bool has_profile,
                                                      double wait_share, struct stk_candidates *out,
                                                      struct stk_vec *advice,
                                                      struct stoker_err *err);
// Updates savings that are known from runs without a profiler.
void stk_candidates_measured(struct stk_candidates *all, const struct stk_tune_facts *facts,
                             double step_s);
// The most promising one not taken yet, general ones last; NULL: all taken. A bound counts half,
// unless the report advises the fix, or experts use it anyway.
struct stk_candidate *stk_candidates_next(struct stk_candidates *all);
// The candidate of a fix, or NULL.
struct stk_candidate *stk_candidates_of(struct stk_candidates *all, const struct stk_rep_fix *fix);
// Updates the others' savings once `kept` leaves `ratio` of a step: in parts that it shortened they
// can only save the rest, while other parts are now a larger share. wait_share: of such a run, from
// the hooks; below 0: unknown.
void stk_candidates_after(struct stk_candidates *all, const struct stk_rep_fix *kept, double ratio,
                          double wait_share);
