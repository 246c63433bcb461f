// SPDX-License-Identifier: Apache-2.0
// Writes the pages of stoker view as one file, for two commands.
#pragma once

#include "cli/cli.h"

// Writes the file of --html according to the options in `args`; returns the exit code. `cmd`: for
// usage errors.
int stk_report_page(const struct stk_cmd *cmd, const struct stk_args *args);
