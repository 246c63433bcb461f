// SPDX-License-Identifier: Apache-2.0
// `stoker prove`: is B faster than A? Fresh runs of both in pairs, A first in one pair and B in the
// next, so that what drifts meets both alike; one run of each before them is not counted (files in
// the page cache, compiled code). paired.h decides on the verdict, and when.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "job/prove/measured.h"
#include "job/prove/mechanism.h"
#include "job/prove/paired.h"

enum { STK_PROOF_A, STK_PROOF_B, STK_PROOF_SIDES };
enum { STK_PROOF_PAIRS = 12 };                         // unless somebody says otherwise
enum { STK_PROOF_WARMS = -1, STK_PROOF_RECORDS = -2 }; // runs that do not count

struct stk_proof_side {
    const char *label; // what to call it
    char *const *argv; // NULL at the end
    char *const *env;  // NULL: this process'
};

// What of a run is compared.
enum stk_proof_of {
    STK_PROOF_STEPS_OR_WHOLE, // its steps where the hooks see some on both sides, else its time
    STK_PROOF_STEPS,          // see measured.h
    STK_PROOF_WHOLE,          // its time, without hooks
    STK_PROOF_METRIC          // a number that it prints
};

struct stk_proof_plan {
    struct stk_proof_side sides[STK_PROOF_SIDES];
    int pairs; // at most; STK_PAIRED_MIN to STK_PAIRED_MAX
    enum stk_proof_of of;
    const char *metric;  // a pattern, see metric.h
    bool is_rate;        // of the metric: more is better
    int64_t warmup;      // numbers or steps of a run that do not count; below 0: a fifth, ten
    uint64_t steps;      // a run is ended after so many; 0: it is not
    bool is_recorded;    // the runs were made before, see recorded.h
    const char *predict; // a what-if, of which A's profile gives the price; NULL: none
    const char *fix;     // of `stoker tune`, that B has; NULL: none
    bool needs_applied;  // it must take hold in B, by what its hooks say
    bool no_profile;     // afterwards no window of either side is recorded
    int64_t timeout_ns;  // of a run; 0: none
    bool (*stop)(void *arg);
    // Before each run; pair from 0, or STK_PROOF_WARMS, STK_PROOF_RECORDS. NULL: nobody listens.
    void (*begins)(void *arg, int pair, int side);
    void *arg;
};

struct stk_proof_run {
    double value;          // seconds (of steps: their mean), or as the metric says
    double median;         // of steps
    uint64_t judged;       // steps
    double others, stolen; // shares of the processors, see neighbours.h
};

struct stk_proof {
    enum stk_proof_of of; // what was compared
    char framework[STK_PROOF_SIDES][32], versions[STK_PROOF_SIDES][64];
    size_t ranks;
    struct stk_proof_run *runs[STK_PROOF_SIDES]; // of each pair
    double *logs;                                // of each pair: log(time of B / time of A)
    bool *is_stalled;                            // of each pair, see stk_paired_stalls
    int pairs, stalls;
    struct stk_paired result;  // of all pairs
    struct stk_paired without; // of those that are not stalled, where `has_without`
    bool has_without;
    struct stk_paired_plan looks;
    int look; // which of them decided
    struct stk_mechanism mechanism;
};

// A command that fails is an error (STOKER_EINPUT), with the end of what it printed.
STK_MUST_CHECK enum stoker_status stk_proof_run(const struct stk_proof_plan *plan,
                                                struct stk_proof *proof, struct stoker_err *err);
void stk_proof_close(struct stk_proof *proof);

// Records a window of each side (two further runs) if the steps changed, or A's if an estimate
// was requested, and checks the mechanism. proof->mechanism says what could not be recorded.
STK_MUST_CHECK enum stoker_status stk_proof_explain(const struct stk_proof_plan *plan,
                                                    struct stk_proof *proof,
                                                    struct stoker_err *err);
// The same of profiles that are there.
STK_MUST_CHECK enum stoker_status stk_proof_explain_by(const struct stk_proof_plan *plan,
                                                       const char *a, const char *b,
                                                       struct stk_proof *proof,
                                                       struct stoker_err *err);

// For who fills a proof otherwise: room for so many pairs; one run; a look at all of them.
STK_MUST_CHECK enum stoker_status stk_proof_make(const struct stk_proof_plan *plan, int pairs,
                                                 struct stk_proof *proof, struct stoker_err *err);
void stk_proof_know(struct stk_proof *proof, int side, int pair, const struct stk_measured *m);
void stk_proof_look(struct stk_proof *proof, double error);
// Steps at the beginning of a run that do not count.
uint64_t stk_proof_warmup(const struct stk_proof_plan *plan);
