// SPDX-License-Identifier: Apache-2.0
// Finding events by name, for two commands.
#pragma once

#include "cli/cli.h"

// Prints the events whose name matches, according to the options in `args`; returns the exit code.
// `cmd`: for usage errors.
int stk_find_events(const struct stk_cmd *cmd, const struct stk_args *args, const char *pattern,
                    const char *const *paths, size_t count);
