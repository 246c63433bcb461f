// SPDX-License-Identifier: Apache-2.0
// The result of a run, for programs ("stoker.run/1") and in a line or two for people.
#pragma once

#include "base/sink.h"
#include "job/capture/parent/gpu_windows.h"
#include "job/capture/parent/step_record.h"

enum { STK_RUN_WARNINGS = 16, STK_RUN_SENTENCE = 400 };

// A normal run, compared with one of the same job with free input.
struct stk_run_compared {
    char folder[1024];         // "": no such run
    uint64_t step_ns, free_ns; // mean steps
    bool has_said;             // input_wait's share in the normal run's window is known
    double said_share;
    bool has_predicted; // the what-if input-free's estimate for it, shares of the step
    double low, expected, high;
};

struct stk_run {
    const char *const *command; // ends with NULL
    const char *folder;         // absolute
    const char *input_mode;     // "as-is", "cached", "synthetic"
    bool has_window;            // a window was requested
    int exit_status, signal;    // of the job
    uint64_t wall_ns;
    uint64_t sampler_cpu_ns; // processor time of this process during the job
    size_t processes;        // interpreters that loaded the hooks
    struct stk_steps_of_run steps;
    struct stk_run_compared compared;
    // Why the requested level 1 failed; "": it worked; NULL: not requested.
    const char *no_gpu;
    struct stk_gpu_totals gpu;
};

// The hooks' share of the job's time; below 0: unknown.
double stk_run_overhead(const struct stk_run *run);
// The input's share of the step.
double stk_run_cost(const struct stk_run_compared *c);
// Caveats for the figures: sentences without a full stop. Returns their number.
int stk_run_warnings(const struct stk_run *run, char warnings[][STK_RUN_SENTENCE]);
void stk_run_json(const struct stk_run *run, struct stk_sink *to);
// "1,200 steps of 41.2 ms (by the hooks), input wait 12%, stoker's own part 0.02%".
void stk_run_line(const struct stk_run *run, struct stk_sink *to);
// "with its input free the step takes 41 ms instead of 112 ms: the input costs 63%". Writes nothing
// if there is no run to compare with.
void stk_run_compared_line(const struct stk_run *run, struct stk_sink *to);
