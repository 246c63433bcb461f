// SPDX-License-Identifier: Apache-2.0
// stoker.toml in the working folder: what a project's CI accepts, and what makes it fail.
//
//   [why]
//   fail-on = "high"                     # as --fail-on
//   ignore = ["tensor-cores-unused"]     # as --ignore
//   baseline = "stoker.baseline"         # as --baseline
//   [diff]
//   fail-on = "slower=5"
//
// Options on the command line win; ignored rules add up. Only the part of TOML that this needs is
// supported: tables, strings in double quotes without escapes, arrays of them, comments. Anything
// else is an error with its line, as is an unknown name.
#pragma once

#include <stddef.h>

enum { STK_SETTINGS_VALUES = 64 };
struct stk_setting {
    const char *section, *key; // "why", "fail-on"
    const char *value;         // each value of an array has its own row
    int line;
};
struct stk_settings {
    char *text; // the rows point into it
    struct stk_setting rows[STK_SETTINGS_VALUES];
    size_t count;
};

// Returns STK_EXIT_DONE, also without a file; STK_EXIT_USAGE: an error, already printed.
int stk_settings_read(struct stk_settings *s);
void stk_settings_free(struct stk_settings *s);
// The first value of a key; NULL: not set.
const struct stk_setting *stk_settings_find(const struct stk_settings *s, const char *section,
                                            const char *key);
