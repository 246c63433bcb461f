// SPDX-License-Identifier: Apache-2.0
// The folder of a run: what is recorded of it.
#pragma once

#include <stdbool.h>

#include "base/err.h"

// Makes the folder: `wanted`, which must be empty if it is there; or, NULL, `usual`/ and the time.
// Refused are places where every user could replace it (whose.h), and a `usual` of another user's.
// *path: absolute, without links, to be freed with stk_free.
STK_MUST_CHECK enum stoker_status stk_folder_make(const char *wanted, const char *usual,
                                                  char **path, struct stoker_err *err);
// That the path still leads to the folder that was opened before a job ran.
STK_MUST_CHECK enum stoker_status stk_folder_check(int folder, const char *path,
                                                   struct stoker_err *err);
// Two parts and a slash between; NULL: no memory.
char *stk_folder_path(const char *folder, const char *name);
