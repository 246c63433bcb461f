// SPDX-License-Identifier: Apache-2.0
// One run of a command, with step times from the hooks of `stoker run`: the user's job, unchanged
// and without a profiler (as with `stoker run --level 0`), ended after the requested steps. With
// `window`, the framework's profiler records that many steps after the warm-up, and the run ends
// when they are written. Its step times are then not a measurement.
//
//   struct stk_measured m;
//   struct stk_measure run = {.argv = argv, .env = env, .warmup = 10, .steps = 60};
//   if (stk_measure_run(&run, &m, err) == STOKER_OK && !stk_measure_failed(&m) && m.judged) {
//       use(m.mean_ns);
//   }
//
// A run's result is the mean of its steps after the warm-up, not their median: a loader with
// several workers delivers batches in bursts, and only the mean shows their cost.
// Limits: those of the hooks (step_record.h); the process with the most steps represents all ranks;
// the last requested step is noticed some hundredths of a second late.
#pragma once

#include "job/prove/trial.h"

enum { STK_MEASURE_WARMUP = 10, STK_MEASURE_LEAST = 5 }; // steps; fewer judged steps say nothing

struct stk_measure {
    char *const *argv;  // NULL at the end
    char *const *env;   // NULL: this process'
    uint64_t warmup;    // steps that do not count
    uint64_t steps;     // ends the run after this many, including the warm-up; 0: don't
    uint64_t window;    // steps to record; 0: none
    const char *folder; // an empty folder for records; NULL: a temporary one
    int64_t timeout_ns; // 0: none
    // As in trial.h.
    enum stoker_status (*take)(void *arg, const char *bytes, size_t n, struct stoker_err *err);
    bool (*stop)(void *arg);
    void (*starts)(void *arg, pid_t root);
    void *arg;
};

enum { STK_MEASURE_TEXT = 1024 };
struct stk_measured {
    struct stk_trial_result trial;    // is_done: ended after the requested steps
    uint64_t steps, judged;           // made, of the first `steps`; after the warm-up
    uint64_t mean_ns, median_ns;      // of at least STK_MEASURE_LEAST judged steps; 0: too few
    double wait_share;                // of their time, for input; below 0: unknown
    bool has_hooks;                   // an interpreter loaded them
    bool is_applied;                  // a hook of `stoker tune` applied a fix
    size_t ranks;                     // stepping processes
    char framework[32];               // "pytorch", "tensorflow", "jax", ""
    char versions[64];                // "torch 2.13.0"
    char profile[STK_MEASURE_TEXT];   // of the window, below `folder`; "": none
    char notes[2 * STK_MEASURE_TEXT]; // of the hooks, a sentence per line: why there is no window
};

// Errors: it couldn't be run, `stop` or `take` ended it, or there is no room for the records. A
// failing command isn't an error here: see `trial`.
STK_MUST_CHECK enum stoker_status stk_measure_run(const struct stk_measure *run,
                                                  struct stk_measured *measured,
                                                  struct stoker_err *err);
// Reads the steps of a run recorded in `folder`: the result of stk_measure_run without `trial`.
STK_MUST_CHECK enum stoker_status stk_measure_read(const char *folder, uint64_t warmup,
                                                   uint64_t steps, struct stk_measured *to,
                                                   struct stoker_err *err);
// It neither succeeded nor was stopped after its steps.
bool stk_measure_failed(const struct stk_measured *m);
