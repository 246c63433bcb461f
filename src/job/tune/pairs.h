// SPDX-License-Identifier: Apache-2.0
// Two sets of fixes, in pairs of fresh runs.
#ifndef STK_TUNE_PAIRS_H
#define STK_TUNE_PAIRS_H

#include "job/tune/candidates.h"
#include "job/tune/tune.h"

struct stk_tune_pairs {
    double logs[STK_TUNE_PAIRS_MOST]; // log(time of b / time of a)
    double a_s[STK_TUNE_PAIRS_MOST], b_s[STK_TUNE_PAIRS_MOST];
    double a_start_s[STK_TUNE_PAIRS_MOST], b_start_s[STK_TUNE_PAIRS_MOST];
    int count;
    struct stk_paired result; // an interval from STK_PAIRED_MIN pairs on
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
    STK_TUNE_LAST    // goes on to a verdict, beyond the budget where it must
};

struct stk_tuning {
    const struct stk_tune_plan *plan;
    struct stk_tune *tune;
    struct stk_candidates *found;
    uint64_t begun_ns;
    int runs; // that were made, for their names
    int tried, all;
    char what[STK_TUNE_LABEL];
};

// At most `most` pairs, up to STK_TUNE_PAIRS_MOST. `is_of_start`: what is compared is the start of
// the job.
STK_MUST_CHECK enum stoker_status
stk_tune_pair_up(struct stk_tuning *t, const struct stk_tune_set *a, const struct stk_tune_set *b,
                 int most, enum stk_tune_patience patience, bool is_of_start,
                 struct stk_tune_pairs *out, struct stoker_err *err);
// One run; a failed one is no error.
STK_MUST_CHECK enum stoker_status stk_tune_try(struct stk_tuning *t, const struct stk_tune_set *set,
                                               uint64_t together, struct stk_bounded *out,
                                               struct stoker_err *err);
// Whether every fix of the set that hooks apply took hold; else `why` (STK_TUNE_WHY bytes).
bool stk_tune_took_hold(const struct stk_tune_set *set, const struct stk_bounded *m, char *why);
void stk_tune_tell(struct stk_tuning *t, const char *detail, const struct stk_tune_tried *done);
// Nanoseconds of the budget that are left; below 0: spent.
int64_t stk_tune_left(const struct stk_tuning *t);

#endif
