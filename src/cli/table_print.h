// SPDX-License-Identifier: Apache-2.0
// The common part of commands that print tables: --json, --csv, --table, --output.
#pragma once

#include "cli/cli.h"

// NULL: contradictory options.
const char *stk_table_format(const struct stk_args *args);
// Rows that are printed without --limit: 20 in text, 10 000 in JSON, all in CSV.
uint64_t stk_table_limit(const struct stk_args *args, const char *format);
// Returns the exit code.
int stk_table_print(const struct stk_args *args, const struct stoker_tables *tables,
                    const char *format);
