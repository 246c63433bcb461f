// SPDX-License-Identifier: Apache-2.0
// The verdict, and the decision that derives it from the parts. Its thresholds are rows of
// thresholds.def.
#pragma once

#include "base/terms.h"
#include "profile/model/summary.h"

// Why there is no verdict.
enum stk_reason {
    STK_REASON_NONE,
#define R(id, key, sentence) STK_REASON_##id,
#include "profile/model/verdict/reasons.def"
#undef R
    STK_REASON_COUNT
};
const char *stk_reason_key(enum stk_reason reason); // "empty", ...; NULL for STK_REASON_NONE

// No cause could be named, but the known parts are meaningful.
static inline bool stk_reason_leaves_shares(enum stk_reason reason)
{
    return reason == STK_REASON_UNKNOWN_IDLE || reason == STK_REASON_HOST_UNSEEN;
}

struct stk_verdict {
    enum stk_verdict_kind kind;
    enum stk_level confidence; // LOW, MEDIUM or HIGH
    const char *sentence;      // in the arena
    double group_share[STK_GROUP_COUNT];
    double unrecorded_share; // of the host's group: time without events, outside the framework
    double tiny_share;       // of the host's group: calls of tiny operations
    double held_share;       // of the steps: operators' wait for a core, which the shares leave out
    double recompile_share;  // of the host's group: compilation after the first two steps
    // For a cold start by a one-off in the first two steps: their share of all steps' time, the
    // group with most of it, and the verdict of the other steps; else share 0.
    double one_off_share;
    enum stk_group one_off;
    enum stk_verdict_kind steady_kind;
    enum stk_group first, second;      // largest losses
    enum stk_verdict_kind median_kind; // the verdict of the median step alone
    bool is_stretched;      // mixed, because other programs held the cores that the model's threads
                            // wanted
    enum stk_reason reason; // for cannot-tell; else STK_REASON_NONE
};

enum stk_health_status { STK_HEALTH_GOOD, STK_HEALTH_LIMITED, STK_HEALTH_UNUSABLE };

STK_MUST_CHECK enum stoker_status stk_verdict_decide(const struct stk_run_sum *run,
                                                     struct stk_arena *arena,
                                                     struct stk_verdict *out,
                                                     struct stoker_err *err);
