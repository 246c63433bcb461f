// SPDX-License-Identifier: Apache-2.0
// The folder of a run, with all its records.
#pragma once

#include <stdbool.h>

#include "base/err.h"

// Makes the folder: `wanted`, which must be empty if it exists; if NULL, a folder in `usual` named
// after the time. Refuses places where any user could replace it (whose.h), and another user's
// `usual`. *path: absolute, without links; free with stk_free.
STK_MUST_CHECK enum stoker_status stk_folder_make(const char *wanted, const char *usual,
                                                  char **path, struct stoker_err *err);
// Checks that the path still leads to the folder that was opened before the job ran.
STK_MUST_CHECK enum stoker_status stk_folder_check(int folder, const char *path,
                                                   struct stoker_err *err);
// Joins two parts with a slash; NULL: no memory.
char *stk_folder_path(const char *folder, const char *name);
