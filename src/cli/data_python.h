// SPDX-License-Identifier: Apache-2.0
// What of `stoker data` the Python module does: pipelines, which are Python, and files that other
// packages read and write.
#pragma once

#include "cli/cli.h"

// python3 -m stoker.data WORDS..., which end with NULL; words[0] is the use. The exit code.
int stk_data_python(const char *const *words);
// Are the inputs, or is the output, of a kind that only Python packages read and write?
bool stk_data_is_pythons(const struct stk_args *args, const char *output);
int stk_data_convert_python(const struct stk_args *args, const char *output);
