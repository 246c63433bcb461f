// SPDX-License-Identifier: Apache-2.0
// The part of `stoker data` that the Python module does: pipelines, which are Python, and files
// that other packages read and write.
#pragma once

#include "cli/cli.h"

// Runs python3 -m stoker.data WORDS..., NULL-terminated; words[0] is the use. Returns the exit
// code.
int stk_data_python(const char *const *words);
// Do only Python packages read these inputs or write this output?
bool stk_data_is_pythons(const struct stk_args *args, const char *output);
int stk_data_convert_python(const struct stk_args *args, const char *output);
