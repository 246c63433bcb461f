// SPDX-License-Identifier: Apache-2.0
// Events by name, which two commands look for.
#pragma once

#include "cli/cli.h"

// The events of the profiles whose name matches, by the options of `args`; the exit code. `cmd`:
// for usage errors.
int stk_find_events(const struct stk_cmd *cmd, const struct stk_args *args, const char *pattern,
                    const char *const *paths, size_t count);
