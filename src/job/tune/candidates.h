// SPDX-License-Identifier: Apache-2.0
// What the capture of a job says of each fix: whether there is a place for it, and what it could
// save. The bound of a fix is the share of a step of the parts that it can shorten, and of what the
// profile cannot name; where the profile supports a price, that of the what-if.
#pragma once

#include "job/tune/advice.h"
#include "job/tune/choice.h"
#include "job/tune/job_facts.h"

enum { STK_CANDIDATES = 64 };

struct stk_candidate {
    const struct stk_rep_fix *fix;
    double saving; // expected, share of the step; below 0: unknown
    bool is_priced;
    bool is_advised; // by the report
    bool is_taken;   // by stk_candidates_next
};
struct stk_candidates {
    struct stk_candidate at[STK_CANDIDATES]; // in the order of the table
    int count;
    char sentence[256]; // "" where there is no report
    bool has_report;
    bool names_loss; // its verdict is a loss, not that a step computes, or that nobody knows
};

// Of the profile in `folder`; wait_share: of the run by the hooks, below 0 unknown. A profile that
// cannot be read leaves all savings unknown. advice: empty; what the report advises.
STK_MUST_CHECK enum stoker_status stk_candidates_find(const char *folder, bool has_profile,
                                                      double wait_share, struct stk_candidates *out,
                                                      struct stk_vec *advice,
                                                      struct stoker_err *err);
// Of runs without a profiler, where a fix's saving is known by them.
void stk_candidates_measured(struct stk_candidates *all, const struct stk_tune_facts *facts,
                             double step_s);
// The most promising one that was not taken yet, general ones last; NULL: all were. A bound
// promises half of itself, unless the report advises the fix, or who knows the framework has it on
// anyway.
struct stk_candidate *stk_candidates_next(struct stk_candidates *all);
// The candidate of a fix, or NULL.
struct stk_candidate *stk_candidates_of(struct stk_candidates *all, const struct stk_rep_fix *fix);
// What the others could still save once `kept` leaves `ratio` of a step: of parts that it shortened
// what it left of them, of others a larger share. wait_share: of such a run by the hooks, below 0
// unknown.
void stk_candidates_after(struct stk_candidates *all, const struct stk_rep_fix *kept, double ratio,
                          double wait_share);
