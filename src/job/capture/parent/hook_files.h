// SPDX-License-Identifier: Apache-2.0
// The Python files that a job's interpreters load, byte for byte as in capture/inject/python.
#pragma once

#include <stddef.h>

struct stk_hook_file {
    const char *name;
    const char *bytes, *end;
};
extern const struct stk_hook_file stk_hook_files[]; // ends with one without a name
