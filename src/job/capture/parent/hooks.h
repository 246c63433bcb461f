// SPDX-License-Identifier: Apache-2.0
// The Python files that a job's interpreters load first. While the job runs, they are in the run's
// folder `hooks`, which no other user may read; or in a private folder elsewhere, if another user
// could replace the run's folder. Also their settings, and how a job finds them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "job/capture/parent/scratch.h"

struct stk_hooks {
    char *path; // absolute; NULL: no hooks
    int folder; // its file descriptor
    int above;  // file descriptor of the run's folder; below 0: they are in `private`, which has it
    int mark;   // marks them as needed (mark.h)
    struct stk_scratch private;
};

// Writes the files for a run in `run`, an absolute path without links. Call stk_hooks_drop in any
// case.
STK_MUST_CHECK enum stoker_status stk_hooks_put(const char *run, struct stk_hooks *h,
                                                struct stoker_err *err);
// Removes them, and files that the job and Python wrote next to them, but no other files. What
// can't be removed stays. May be all zero.
void stk_hooks_drop(struct stk_hooks *h);
// The first `most` processes whose interpreters loaded them; returns their total number.
size_t stk_hooks_seen(const struct stk_hooks *h, uint64_t *pids, size_t most);
// Removes the hooks of a run whose stoker was killed, once no process needs them; returns whether
// there were any. `run`: a file descriptor of the folder `path`.
bool stk_hooks_sweep(int run, const char *path);

// Their settings, in STOKER_RUN.
struct stk_hook_plan {
    uint64_t steps;    // in the window; 0: no window
    uint64_t warmup;   // steps before it
    bool saves;        // write checkpoints although the input isn't the job's own
    const char *input; // "as-is", "cached", "synthetic"
    bool gpu;          // windows of the GPU only (level 1)
    uint64_t every_ns; // from one such window to the next; 0: one window
};
enum { STK_HOOK_PLAN_MAX = 4400 };

// The plan as in STOKER_RUN; cut if the path of the run's folder is longer than paths can be.
void stk_hooks_plan(const struct stk_hook_plan *plan, const char *run, char to[STK_HOOK_PLAN_MAX]);
// The environment for a job whose interpreters load the hooks and get `plan`, added to the
// variables of `base` (NULL: this process's), which are borrowed. Free with stk_free, as one block.
// NULL: no memory.
char **stk_hooks_environment(const struct stk_hooks *h, char *const *base, const char *plan);
