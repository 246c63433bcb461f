// SPDX-License-Identifier: Apache-2.0
// Options of every command that reads profiles: selections, threads, limits.
#pragma once

#include "cli/cli.h"

// `text`: the output is for people, so lists are short unless --limit says otherwise.
void stk_reading_options(const struct stk_args *args, bool text, struct stoker_why_options *out);
