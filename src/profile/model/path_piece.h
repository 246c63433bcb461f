// SPDX-License-Identifier: Apache-2.0
// The critical path of one step as it is kept for tables and exports: what the step's end waited
// for, piece by piece (answers/replay/critical.h makes it).
#pragma once

#include <stddef.h>
#include <stdint.h>

struct stk_path_piece {
    int64_t start_ns, dur_ns; // in the trace's time
    const char *kind;         // compute, input, host, ...
    const char *name, *where; // of the event, NULL not known; "stream 7", "thread 12"
    uint32_t event;           // the event it begins with, STK_NONE
};
struct stk_path_pieces {
    struct stk_path_piece *v; // in order of their start
    size_t count;
    int64_t step;           // its number
    const uint32_t *events; // on the paths of all steps that were replayed, ascending
    size_t event_count;
    const char *why_not; // why there is no path; NULL: there is one
};
