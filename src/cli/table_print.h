// SPDX-License-Identifier: Apache-2.0
// What commands that print tables have in common: --json, --csv, --table, --output.
#pragma once

#include "cli/cli.h"

// NULL: options that contradict each other.
const char *stk_table_format(const struct stk_args *args);
// Rows that are kept without --limit: 20 in text, 10 000 in JSON, all in CSV.
uint64_t stk_table_limit(const struct stk_args *args, const char *format);
// Exit code.
int stk_table_print(const struct stk_args *args, const struct stoker_tables *tables,
                    const char *format);
