// SPDX-License-Identifier: Apache-2.0
// The work of a rank's start-up (stats_startup_work.c), for the tables (stats_startup.c).
#pragma once

#include "profile/model/view.h"

enum stk_startup_work {
    STK_STARTUP_BUILD,       // the model: variables, initial weights
    STK_STARTUP_TRACING,     // graphs from Python: tf.function, jaxprs, lowering
    STK_STARTUP_COMPILATION, // XLA, Inductor, Triton, drivers
    STK_STARTUP_AUTOTUNING,
    STK_STARTUP_MODULE_LOAD, // code onto the device
    STK_STARTUP_CAPTURE,     // of device graphs
    STK_STARTUP_FIRST_CALL,  // a call that is slow since it is the first
    STK_STARTUP_ALLOCATION,  // calls that allocate or free device or pinned memory
    STK_STARTUP_WEIGHTS,     // copies to the device before the first step
    STK_STARTUP_COPY,        // copies to the device from then on
    STK_STARTUP_WORKS
};
const char *stk_startup_work_key(enum stk_startup_work work); // "tracing", ...

struct stk_startup_row {
    uint64_t count;
    int64_t total_ns, longest_ns, first_ns; // first: start of the first one
    uint64_t sized;                         // of copies: those whose size is recorded
    int64_t bytes;
    const char *longest; // name; NULL: none
};
struct stk_startup_sums {
    struct stk_startup_row rows[STK_STARTUP_WORKS];
};

// Sums work that began before `end_ns`; steps begin at `steps_ns`. False: no memory.
bool stk_startup_sum(const struct stk_analysis *view, int64_t steps_ns, int64_t end_ns,
                     struct stk_arena *arena, struct stk_startup_sums *out);
// Whether a profile with these facts records such work at all; if not, it is unknown rather than
// zero.
bool stk_startup_is_recorded(enum stk_startup_work work, const struct stk_facts *facts);
