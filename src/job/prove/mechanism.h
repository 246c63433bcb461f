// SPDX-License-Identifier: Apache-2.0
// Did a change work as intended? Compares a profile of each side, as `stoker diff` does: A's
// largest loss must have shrunk by about the gain, so that luck or another cause isn't taken for a
// fix. Also computes a what-if's prediction from A's profile. Limits: profiled steps are slower
// than measured ones, and not uniformly, so half of the gain is enough. One window of each side
// isn't a sample.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "job/prove/ledger.h"

enum {
    STK_MECHANISM_PART = 32,
    STK_MECHANISM_TEXT = 512,
    STK_MECHANISM_WHY = 400,
    STK_MECHANISM_STEPS = 5
};
#define STK_MECHANISM_ENOUGH 0.5 // of the gain

struct stk_mechanism {
    bool is_checked; // else see `why`, if it was requested
    char why[STK_MECHANISM_WHY];
    char part[STK_MECHANISM_PART];  // A's largest loss
    int64_t a_ns, b_ns;             // of a profiled step
    int64_t expected_ns, gone_ns;   // the gain of the measured steps; of the part
    char moved[STK_MECHANISM_PART]; // the part with the largest change in the same direction; or ""
    int64_t moved_ns;               // its decrease
    char profile[32];               // hash of A's, see ledger.h; "": unknown
    struct stk_interval predicted;
    char unpredicted[STK_MECHANISM_WHY]; // why the requested prediction is missing
};

// Paths as for stoker_diff: files or folders. gained_ns: per step, below 0 if B is slower.
void stk_mechanism_check(const char *a, const char *b, int64_t gained_ns, struct stk_mechanism *to);
// What the what-if `fix` predicts from A's profile. STOKER_EUSAGE: no such what-if.
STK_MUST_CHECK enum stoker_status stk_mechanism_predict(const char *a, const char *fix,
                                                        struct stk_mechanism *to,
                                                        struct stoker_err *err);
// The cause shrank, or grew, by about the gain or loss.
bool stk_mechanism_explains(const struct stk_mechanism *m);
// "input_wait shrank by 61 ms per step in one profile of each side; 64 ms per step was gained"
void stk_mechanism_sentence(const struct stk_mechanism *m, char to[STK_MECHANISM_TEXT]);
// "stoker whatif --fix input-free estimated 45% saved [40, 52]: the measured gain is within it"
void stk_mechanism_prediction(const struct stk_mechanism *m, const char *fix, double measured,
                              char to[STK_MECHANISM_TEXT]);
