// SPDX-License-Identifier: Apache-2.0
// One bounded run of the job with a set of fixes, like a run of job/prove/measured.h, but with its
// memory watched, and ended by the hooks after enough steps. The result is the mean step time after
// the warm-up, from the end of one step to the end of another, so that time between epochs counts.
// Limits: of several ranks the one with the most steps is measured; time and memory are checked
// once a second, so if a job takes all memory faster, the system ends it.
#pragma once

#include "job/tune/choice.h"
#include "job/tune/job_facts.h"

enum { STK_TUNE_STEPS_MIN = 8 }; // measured steps; fewer say nothing

struct stk_bounded_plan {
    char *const *argv;
    const char *folder;   // for the temporary folders of runs
    const char *loss;     // a pattern for losses in the output; NULL: none
    uint64_t warmup;      // steps that don't count
    uint64_t steps;       // that count
    uint64_t window;      // steps for the framework's profiler; then the run ends with it
    int64_t timeout_ns;   // 0: none
    uint64_t memory_most; // bytes; 0: no limit
    bool (*stop)(void *arg);
    void *arg;
};

struct stk_bounded {
    double step_s;          // mean of the steps that count
    double median_s;        // of the steps from the third on outside a window, if any
    double start_s;         // from the start of the command to the end of the warm-up
    double wait_share;      // share of the steps, for input; below 0: unknown
    uint64_t steps;         // that count
    uint64_t all_steps;     // all steps made
    uint64_t wall_ns;       // of the whole run
    uint64_t memory;        // the most seen; 0: unknown
    bool has_failed;        // or made too few steps: see `why`
    bool has_hooks;         // an interpreter loaded them
    bool has_window;        // it is complete
    char why[STK_TUNE_WHY]; // for people
    char framework[32];
    struct stk_tune_facts facts; // framework: borrowed from here
};

// Call stk_bounded_free in any case. Other codes than STOKER_OK: it couldn't be run at all
// (STOKER_EINPUT), was interrupted (STOKER_EINTR), or there is no room for its folder.
STK_MUST_CHECK enum stoker_status stk_bounded_run(const struct stk_bounded_plan *plan,
                                                  const struct stk_tune_set *set, const char *name,
                                                  struct stk_bounded *out, struct stoker_err *err);
void stk_bounded_free(struct stk_bounded *m);
