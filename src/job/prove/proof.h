// SPDX-License-Identifier: Apache-2.0
// `stoker prove`: is B faster than A? Runs both afresh in pairs, A first in one pair and B in the
// next, so that drifts affect both equally. One earlier run of each doesn't count (it fills the
// page cache and caches of compiled code). paired.h decides on the verdict, and when.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "job/prove/measured.h"
#include "job/prove/mechanism.h"
#include "job/prove/paired.h"

enum { STK_PROOF_A, STK_PROOF_B, STK_PROOF_SIDES };
enum { STK_PROOF_PAIRS = 12 };                         // by default
enum { STK_PROOF_WARMS = -1, STK_PROOF_RECORDS = -2 }; // runs that don't count

struct stk_proof_side {
    const char *label; // its name
    char *const *argv; // NULL at the end
    char *const *env;  // NULL: this process's
};

// What is compared.
enum stk_proof_of {
    STK_PROOF_STEPS_OR_WHOLE, // its steps if the hooks see some on both sides, else its time
    STK_PROOF_STEPS,          // see measured.h
    STK_PROOF_WHOLE,          // its time, without hooks
    STK_PROOF_METRIC          // a number that it prints
};

struct stk_proof_plan {
    struct stk_proof_side sides[STK_PROOF_SIDES];
    int pairs; // at most; STK_PAIRED_MIN to STK_PAIRED_MAX
    enum stk_proof_of of;
    const char *metric; // a pattern, see metric.h
    bool is_rate;       // higher values of the metric are better
    int64_t warmup; // numbers or steps that don't count; below 0: a fifth of the numbers, ten steps
    uint64_t steps; // ends a run after this many; 0: don't
    bool is_recorded;    // earlier runs, see recorded.h
    const char *predict; // a what-if, priced from A's profile; NULL: none
    const char *fix;     // of `stoker tune`, applied in B; NULL: none
    bool needs_applied;  // B's hooks must report that it was applied
    bool no_profile;     // don't record windows afterwards
    int64_t timeout_ns;  // of a run; 0: none
    bool (*stop)(void *arg);
    // Called before each run; pair from 0, or STK_PROOF_WARMS, STK_PROOF_RECORDS. May be NULL.
    void (*begins)(void *arg, int pair, int side);
    void *arg;
};

struct stk_proof_run {
    double value;          // seconds (of steps: their mean), or the metric
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
    struct stk_paired result;  // over all pairs
    struct stk_paired without; // over those not stalled, if `has_without`
    bool has_without;
    struct stk_paired_plan looks;
    int look; // the look that decided
    struct stk_mechanism mechanism;
};

// A failing command is an error (STOKER_EINPUT), with the end of its output.
STK_MUST_CHECK enum stoker_status stk_proof_run(const struct stk_proof_plan *plan,
                                                struct stk_proof *proof, struct stoker_err *err);
void stk_proof_close(struct stk_proof *proof);

// Records a window of each side (two further runs) if the steps changed, or A's if an estimate
// was requested, and checks the mechanism. proof->mechanism says what could not be recorded.
STK_MUST_CHECK enum stoker_status stk_proof_explain(const struct stk_proof_plan *plan,
                                                    struct stk_proof *proof,
                                                    struct stoker_err *err);
// The same from existing profiles.
STK_MUST_CHECK enum stoker_status stk_proof_explain_by(const struct stk_proof_plan *plan,
                                                       const char *a, const char *b,
                                                       struct stk_proof *proof,
                                                       struct stoker_err *err);

// To fill a proof in other ways: room for pairs; one run; a look at all of them.
STK_MUST_CHECK enum stoker_status stk_proof_make(const struct stk_proof_plan *plan, int pairs,
                                                 struct stk_proof *proof, struct stoker_err *err);
void stk_proof_know(struct stk_proof *proof, int side, int pair, const struct stk_measured *m);
void stk_proof_look(struct stk_proof *proof, double error);
// Steps at the start of a run that don't count.
uint64_t stk_proof_warmup(const struct stk_proof_plan *plan);
