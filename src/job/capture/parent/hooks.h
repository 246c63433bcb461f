// SPDX-License-Identifier: Apache-2.0
// The Python files that the interpreters of a job load first, while it runs: in the folder `hooks`
// of the run, which no other user may look into; or in a private folder elsewhere, where another
// user could replace the run's folder. Also their settings, and how a job finds them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "job/capture/parent/scratch.h"

struct stk_hooks {
    char *path; // absolute; NULL without hooks
    int folder; // a descriptor of it
    int above;  // of the run's folder; below 0: they are in `private`, which has the descriptor
    int mark;   // that they are needed (mark.h)
    struct stk_scratch private;
};

// Writes the files for a run in `run`, an absolute path without links. Dropped in either case.
STK_MUST_CHECK enum stoker_status stk_hooks_put(const char *run, struct stk_hooks *h,
                                                struct stoker_err *err);
// Removes them, and files that the job and Python wrote next to them, but nothing that somebody
// else put there. What can't be removed stays. May be all zero.
void stk_hooks_drop(struct stk_hooks *h);
// The processes whose interpreters loaded them, the first `most`; returns how many there are.
size_t stk_hooks_seen(const struct stk_hooks *h, uint64_t *pids, size_t most);
// Removes those of a run whose stoker was killed, once no process needs them; whether there were
// such. `run`: a descriptor of the folder `path`.
bool stk_hooks_sweep(int run, const char *path);

// Their settings, in STOKER_RUN.
struct stk_hook_plan {
    uint64_t steps;    // of the window; 0: none is recorded
    uint64_t warmup;   // steps before it
    bool saves;        // checkpoints are written although the input is not the job's own
    const char *input; // "as-is", "cached", "synthetic"
    bool gpu;          // windows of the GPU alone (level 1)
    uint64_t every_ns; // of such windows: from one to the next; 0: one
};
enum { STK_HOOK_PLAN_MAX = 4400 };

// As STOKER_RUN has it; cut where the path of the run's folder is longer than a path may be.
void stk_hooks_plan(const struct stk_hook_plan *plan, const char *run, char to[STK_HOOK_PLAN_MAX]);
// The environment of a job whose interpreters load them and get `plan`, on top of the variables
// of `base` (NULL: this process'), which are borrowed. Freed with stk_free, in one piece. NULL: no
// memory.
char **stk_hooks_environment(const struct stk_hooks *h, char *const *base, const char *plan);
