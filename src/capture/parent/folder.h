// SPDX-License-Identifier: Apache-2.0
// The folder of a run: what is recorded of it, and, while it runs, the Python files that the job's
// interpreters load first.
#ifndef STK_CAPTURE_PARENT_FOLDER_H
#define STK_CAPTURE_PARENT_FOLDER_H

#include "base/err.h"

// Makes the folder: `wanted`, which must be empty if it is there; or, NULL, stoker-runs/ and the
// time. *path: absolute, to be freed with stk_free.
STK_MUST_CHECK enum stoker_status stk_folder_make(const char *wanted, char **path,
                                                  struct stoker_err *err);
// Two parts and a slash between; NULL: no memory.
char *stk_folder_path(const char *folder, const char *name);
// Writes the Python files below `folder`/hooks.
STK_MUST_CHECK enum stoker_status stk_folder_put_hooks(const char *folder, struct stoker_err *err);
// Removes them, and what Python compiled of them. What cannot be removed stays.
void stk_folder_drop_hooks(const char *folder);
// The environment of a job whose interpreters load them, and are told `plan`, beside the process'
// own. Freed with stk_free, in one piece. NULL: no memory.
char **stk_folder_environment(const char *folder, const char *plan);

#endif
