// SPDX-License-Identifier: Apache-2.0
// The pages of stoker view as one file, which two commands write.
#pragma once

#include "cli/cli.h"

// To the file of --html, by the options of `args`; the exit code. `cmd`: for usage errors.
int stk_report_page(const struct stk_cmd *cmd, const struct stk_args *args);
