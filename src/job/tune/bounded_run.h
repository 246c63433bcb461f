// SPDX-License-Identifier: Apache-2.0
// One bounded run of the job with a set of fixes, as job/prove/measured.h runs a command, but
// watched for its memory, and ended by the hooks after enough steps. What counts is the mean time
// of a step after the warm-up, from the end of one step to the end of another, so that what comes
// between epochs counts too.
// Limits: of several ranks the one that steps most is measured; time and memory are watched once a
// second, so a job that takes all memory in less is ended by the system.
#pragma once

#include "job/tune/choice.h"
#include "job/tune/job_facts.h"

enum { STK_TUNE_STEPS_MIN = 8 }; // measured ones, below which a run says nothing

struct stk_bounded_plan {
    char *const *argv;
    const char *folder;   // where runs have their own, which are removed
    const char *loss;     // a pattern that finds losses in the output; NULL: none
    uint64_t warmup;      // steps that do not count
    uint64_t steps;       // that count
    uint64_t window;      // steps that the framework's profiler records; then the run ends with it
    int64_t timeout_ns;   // 0: none
    uint64_t memory_most; // bytes; 0: no limit
    bool (*stop)(void *arg);
    void *arg;
};

struct stk_bounded {
    double step_s;          // mean, of the steps that count
    double median_s;        // of the steps from the third on outside of a window, if there are some
    double start_s;         // from the start of the command to the end of the warm-up
    double wait_share;      // of the steps, waiting for input; below 0: unknown
    uint64_t steps;         // that count
    uint64_t all_steps;     // that were made
    uint64_t wall_ns;       // of the whole run
    uint64_t memory;        // the most that was seen; 0: unknown
    bool has_failed;        // or made too few steps: `why`
    bool has_hooks;         // an interpreter loaded them
    bool has_window;        // it is whole
    char why[STK_TUNE_WHY]; // for people
    char framework[32];
    struct stk_tune_facts facts; // framework: borrowed from here
};

// Freed with stk_bounded_free either way. Other codes than STOKER_OK: it could not be run at all
// (STOKER_EINPUT), was interrupted (STOKER_EINTR), or there is no room for its folder.
STK_MUST_CHECK enum stoker_status stk_bounded_run(const struct stk_bounded_plan *plan,
                                                  const struct stk_tune_set *set, const char *name,
                                                  struct stk_bounded *out, struct stoker_err *err);
void stk_bounded_free(struct stk_bounded *m);
