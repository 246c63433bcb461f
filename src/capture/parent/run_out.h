// SPDX-License-Identifier: Apache-2.0
// What a run was, for programs ("stoker.run/1") and in a line or two for people.
#ifndef STK_CAPTURE_PARENT_RUN_OUT_H
#define STK_CAPTURE_PARENT_RUN_OUT_H

#include "base/sink.h"
#include "capture/parent/step_record.h"

enum { STK_RUN_WARNINGS = 16, STK_RUN_SENTENCE = 400 };

struct stk_run {
    const char *const *command; // ends with NULL
    const char *folder;         // absolute
    const char *input_mode;     // "as-is", "cached", "synthetic"
    bool has_window;            // a window was asked for
    int exit_status, signal;    // of the job
    uint64_t wall_ns;
    uint64_t sampler_cpu_ns; // processor time of this process beside the job
    struct stk_steps_of_run steps;
};

// The share of the job's time that the hooks took; below 0: unknown.
double stk_run_overhead(const struct stk_run *run);
// What the reader of the figures must know, sentences without a full stop. Returns how many.
int stk_run_warnings(const struct stk_run *run, char warnings[][STK_RUN_SENTENCE]);
void stk_run_json(const struct stk_run *run, struct stk_sink *to);
// "1,200 steps of 41.2 ms (by the hooks), input wait 12 %, stoker's own part 0.02 %".
void stk_run_line(const struct stk_run *run, struct stk_sink *to);

#endif
