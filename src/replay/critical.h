// SPDX-License-Identifier: Apache-2.0
// The critical path of a replay: from the end of the last step back along what each node had to
// wait for, and what the time on it went to.
#ifndef STK_REPLAY_CRITICAL_H
#define STK_REPLAY_CRITICAL_H

#include "replay/replay.h"

enum stk_critical {
    STK_CRITICAL_COMPUTE,
    STK_CRITICAL_INPUT,
    STK_CRITICAL_HOST,
    STK_CRITICAL_SYNC,
    STK_CRITICAL_TRANSFER,
    STK_CRITICAL_COMMUNICATION,
    STK_CRITICAL_UNKNOWN,
    STK_CRITICAL_COUNT
};
const char *stk_critical_key(enum stk_critical of);
// Adds the time of each to `ns`.
void stk_critical_sum(const struct stk_scene *s, const struct stk_times *t,
                      int64_t ns[STK_CRITICAL_COUNT]);

#endif
