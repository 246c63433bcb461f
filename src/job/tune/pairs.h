// SPDX-License-Identifier: Apache-2.0
// Two sets of fixes, in pairs of fresh runs.
#pragma once

#include "job/tune/candidates.h"
#include "job/tune/tune.h"

struct stk_tune_pairs {
    double logs[STK_TUNE_PAIRS_MOST]; // log(time of b / time of a)
    double a_s[STK_TUNE_PAIRS_MOST], b_s[STK_TUNE_PAIRS_MOST];
    double a_start_s[STK_TUNE_PAIRS_MOST], b_start_s[STK_TUNE_PAIRS_MOST];
    int count;
    struct stk_paired result; // an interval from STK_PAIRED_MIN pairs on
    struct stk_paired strict; // the same at this comparison's share of the search's error
    int looked;               // pairs that both are of
    bool is_spent;            // the budget ended them before they could tell
    bool has_failed;          // a run of b: `why`. Of a it is an error
    bool is_given_up;         // no promise
    bool is_put_off;          // little promise: what promises more goes first
    char why[STK_TUNE_WHY];
    struct stk_bounded *first; // of b, the caller's; filled once
    bool has_first;
};

// How patient pairs are.
enum stk_tune_patience {
    STK_TUNE_FIRST,  // ends where b promises nothing, and puts off what promises little
    STK_TUNE_SECOND, // ends where b promises nothing
    STK_TUNE_LAST    // goes on to a verdict; its first look may lie beyond the budget
};
// Of all wrong verdicts that a search may give (STK_PAIRED_ERROR), half are for the pairs in which
// fixes are tried, half for a last proof. The k-th fix that is tried in pairs has 1 / (k (k + 1))
// of the first half: however many are tried, and wherever the search ends, all of their intervals
// at these errors hold together. The most promising one comes first and has the most.
#define STK_TUNE_SEARCH_ERROR (STK_PAIRED_ERROR / 2)

struct stk_tuning {
    const struct stk_tune_plan *plan;
    struct stk_tune *tune;
    struct stk_candidates *found;
    uint64_t begun_ns;
    int runs;        // that were made, for their names
    int comparisons; // that were begun in pairs, but for a last proof
    int tried, all;
    bool has_tried_strong;
    char what[STK_TUNE_LABEL];
};

struct stk_tune_match {
    const struct stk_tune_set *a, *b;
    int most; // pairs, up to STK_TUNE_PAIRS_MOST
    enum stk_tune_patience patience;
    bool is_of_start; // the start of the job is compared
};
// Another code than STOKER_OK leaves in `out` what was measured before.
STK_MUST_CHECK enum stoker_status stk_tune_pair_up(struct stk_tuning *t,
                                                   const struct stk_tune_match *match,
                                                   struct stk_tune_pairs *out,
                                                   struct stoker_err *err);
// One run; a failed one is no error.
STK_MUST_CHECK enum stoker_status stk_tune_try(struct stk_tuning *t, const struct stk_tune_set *set,
                                               uint64_t together, struct stk_bounded *out,
                                               struct stoker_err *err);
// Takes a run of the job as it is for those that are compared, unless there are two. False: it is
// the caller's.
bool stk_tune_take_original(struct stk_tune *tune, const struct stk_bounded *m);
// The middle one of `count` times, at most STK_TUNE_PAIRS_MOST.
double stk_tune_middle(const double *values, int count);
// Whether every fix of the set that hooks apply took hold; else `why` (STK_TUNE_WHY bytes).
bool stk_tune_took_hold(const struct stk_tune_set *set, const struct stk_bounded *m, char *why);
void stk_tune_tell(struct stk_tuning *t, const char *detail, const struct stk_tune_tried *done);
// Nanoseconds of the budget that are left; below 0: spent.
int64_t stk_tune_left(const struct stk_tuning *t);
// What a last proof needs of the budget, where what was kept has none by the pairs of its trials:
// no trial's pairs go into it.
double stk_tune_reserve_s(const struct stk_tune *tune);
