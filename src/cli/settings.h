// SPDX-License-Identifier: Apache-2.0
// stoker.toml of the working folder: what a project's CI accepts and what fails it.
//
//   [why]
//   fail-on = "high"                     # as --fail-on
//   ignore = ["tensor-cores-unused"]     # as --ignore
//   baseline = "stoker.baseline"         # as --baseline
//   [diff]
//   fail-on = "slower=5"
//
// Options on the command line win; ignored rules add up. This is the part of TOML that it needs:
// tables, strings in double quotes without escapes, arrays of them, comments. Anything else is an
// error with its line, and so is a name that stoker does not know.
#pragma once

#include <stddef.h>

enum { STK_SETTINGS_VALUES = 64 };
struct stk_setting {
    const char *section, *key; // "why", "fail-on"
    const char *value;         // one of an array is a row of its own
    int line;
};
struct stk_settings {
    char *text; // owns what the rows point to
    struct stk_setting rows[STK_SETTINGS_VALUES];
    size_t count;
};

// Exit code: STK_EXIT_DONE, also where there is no file; STK_EXIT_USAGE after saying what is wrong.
int stk_settings_read(struct stk_settings *s);
void stk_settings_free(struct stk_settings *s);
// The first value of a key; NULL: it is not set.
const struct stk_setting *stk_settings_find(const struct stk_settings *s, const char *section,
                                            const char *key);
