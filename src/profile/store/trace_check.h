// SPDX-License-Identifier: Apache-2.0
// Checks and dumps of a trace, for assertions, tests and a debugger. A check visits every event;
// assertions call it if they are enabled (base/assert.h).
#pragma once

#include <stdio.h>

#include "profile/store/trace.h"

// The first violation, or NULL: tracks cover the events in order; events of a track are sorted,
// parents before children, depths fit; ids are in range; calls and device work are linked both
// ways; durations are not negative. The text is valid until the thread's next check.
const char *stk_trace_check(const struct stk_trace *t);

// For people; at most about a hundred lines each. An index that doesn't exist is reported.
void stk_trace_dump(const struct stk_trace *t, FILE *to);                 // all but the events
void stk_event_dump(const struct stk_trace *t, uint32_t event, FILE *to); // with links and details
// Events of one track from its `from`-th on.
void stk_track_dump(const struct stk_trace *t, uint32_t track, uint32_t from, FILE *to);
