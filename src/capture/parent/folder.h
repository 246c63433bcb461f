// SPDX-License-Identifier: Apache-2.0
// The folder of a run: what is recorded of it, and, while it runs, the Python files that the job's
// interpreters load first.
#ifndef STK_CAPTURE_PARENT_FOLDER_H
#define STK_CAPTURE_PARENT_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

// What the hooks are told to do, in STOKER_RUN.
struct stk_hook_plan {
    uint64_t steps;    // of the window; 0: none is recorded
    uint64_t warmup;   // steps before it
    bool saves;        // checkpoints are written although the input is not the job's own
    const char *input; // "as-is", "cached", "synthetic"
    bool gpu;          // windows of the GPU alone (level 1)
    uint64_t every_ns; // of such windows: from one to the next; 0: one
};
enum { STK_HOOK_PLAN_MAX = 4400 };

// Makes the folder: `wanted`, which must be empty if it is there; or, NULL, stoker-runs/ and the
// time. *path: absolute, to be freed with stk_free.
STK_MUST_CHECK enum stoker_status stk_folder_make(const char *wanted, char **path,
                                                  struct stoker_err *err);
// Two parts and a slash between; NULL: no memory.
char *stk_folder_path(const char *folder, const char *name);
// Writes the Python files below `folder`/hooks. *mark: that they are needed (mark.h), for
// stk_folder_drop_hooks, which is called whatever this returns.
STK_MUST_CHECK enum stoker_status stk_folder_put_hooks(const char *folder, int *mark,
                                                       struct stoker_err *err);
// Removes them, and what Python compiled of them. What cannot be removed stays.
void stk_folder_drop_hooks(const char *folder, int mark);
// As STOKER_RUN has it; cut where the folder's path is longer than a path may be.
void stk_folder_plan(const struct stk_hook_plan *plan, const char *folder,
                     char to[STK_HOOK_PLAN_MAX]);
// The environment of a job whose interpreters load them, and are told `plan`, beside the variables
// of `env` (NULL: this process'), which are borrowed. Freed with stk_free, in one piece. NULL: no
// memory.
char **stk_folder_environment(char *const *env, const char *folder, const char *plan);
// Removes the folder and all that is in it.
void stk_folder_remove(const char *folder);

#endif
