// SPDX-License-Identifier: Apache-2.0
// A sampler's totals: its sources count them, stk_sampler_stop returns them.
#pragma once

#include <stdint.h>

#define STK_SAMPLER_SOURCES 16
#define STK_SAMPLER_WHY 96

// Totals for a line at the end of a run.
struct stk_sampler_totals {
    uint64_t ticks;        // looks
    uint64_t period_ns;    // between them, at the end
    uint64_t elapsed_ns;   // from start to stop
    uint64_t cpu_ns;       // processor time that sampling took
    uint64_t counters;     // values written
    uint64_t threads_seen; // threads of the job, over its whole time
    uint64_t processes_seen;
    uint64_t lost;         // threads not followed, beyond threads_max at a time
    uint32_t absent_count; // sources that couldn't be sampled, and why
    struct stk_sampler_absent {
        const char *source; // "nvml"
        char why[STK_SAMPLER_WHY];
    } absent[STK_SAMPLER_SOURCES];
};
