// SPDX-License-Identifier: Apache-2.0
// Compares two sets of fixes in pairs of fresh runs.
#pragma once

#include "job/tune/candidates.h"
#include "job/tune/tune.h"

struct stk_tune_pairs {
    double logs[STK_TUNE_PAIRS_MOST]; // log(time of b / time of a)
    double a_s[STK_TUNE_PAIRS_MOST], b_s[STK_TUNE_PAIRS_MOST];
    double a_start_s[STK_TUNE_PAIRS_MOST], b_start_s[STK_TUNE_PAIRS_MOST];
    int count;
    struct stk_paired result; // an interval from STK_PAIRED_MIN pairs on
    struct stk_paired strict; // the same, at this comparison's share of the search's error
    int looked;               // pairs in both results
    bool is_spent;            // the budget ended them without a verdict
    bool has_failed;          // a run of b failed: see `why`. For a it is an error
    bool is_given_up;         // no promise
    bool is_put_off;          // little promise: more promising fixes come first
    char why[STK_TUNE_WHY];
    struct stk_bounded *first; // first run of b, owned by the caller; filled once
    bool has_first;
};

// How soon pairs end.
enum stk_tune_patience {
    STK_TUNE_FIRST,  // ends if b promises nothing, and puts b off if it promises little
    STK_TUNE_SECOND, // ends if b promises nothing
    STK_TUNE_LAST    // goes on to a verdict; its first look may exceed the budget
};
// Half of the error of a search's verdict (STK_PAIRED_ERROR) is for the trials, half for a final
// comparison. The k-th fix tried in pairs gets 1 / (k (k + 1)) of the first half: however many are
// tried, and wherever the search ends, all intervals at these errors hold together. The most
// promising fix comes first and gets the largest share.
#define STK_TUNE_SEARCH_ERROR (STK_PAIRED_ERROR / 2)

struct stk_tuning {
    const struct stk_tune_plan *plan;
    struct stk_tune *tune;
    struct stk_candidates *found;
    uint64_t begun_ns;
    int runs;        // made so far, for their names
    int comparisons; // begun in pairs, without a final comparison
    int tried, all;
    bool has_tried_strong;
    char what[STK_TUNE_LABEL];
};

struct stk_tune_match {
    const struct stk_tune_set *a, *b;
    int most; // pairs, up to STK_TUNE_PAIRS_MOST
    enum stk_tune_patience patience;
    bool is_of_start; // compares the job's start
};
// On codes other than STOKER_OK, `out` has the measurements so far.
STK_MUST_CHECK enum stoker_status stk_tune_pair_up(struct stk_tuning *t,
                                                   const struct stk_tune_match *match,
                                                   struct stk_tune_pairs *out,
                                                   struct stoker_err *err);
// One run; if it fails, that isn't an error.
STK_MUST_CHECK enum stoker_status stk_tune_try(struct stk_tuning *t, const struct stk_tune_set *set,
                                               uint64_t together, struct stk_bounded *out,
                                               struct stoker_err *err);
// Takes a run of the unchanged job for the comparison of losses, unless there are two already.
// False: the caller keeps it.
bool stk_tune_take_original(struct stk_tune *tune, const struct stk_bounded *m);
// The median of `count` times, at most STK_TUNE_PAIRS_MOST.
double stk_tune_middle(const double *values, int count);
// Whether the hooks applied all of their fixes in the set; if not, sets `why` (STK_TUNE_WHY bytes).
bool stk_tune_took_hold(const struct stk_tune_set *set, const struct stk_bounded *m, char *why);
void stk_tune_tell(struct stk_tuning *t, const char *detail, const struct stk_tune_tried *done);
// Nanoseconds left of the budget; below 0: used up.
int64_t stk_tune_left(const struct stk_tuning *t);
// The budget reserved for a final comparison, if the pairs of the trials don't prove the kept
// fixes: trials may not use it.
double stk_tune_reserve_s(const struct stk_tune *tune);
