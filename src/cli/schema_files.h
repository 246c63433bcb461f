// SPDX-License-Identifier: Apache-2.0
// The schemas that are written by hand, docs/<name>.schema.json, inside of the program.
#ifndef STK_CLI_SCHEMA_FILES_H
#define STK_CLI_SCHEMA_FILES_H

#include <stddef.h>

struct stk_schema_file {
    const char *name, *begin, *end;
};
extern const struct stk_schema_file stk_schema_files[]; // ends with a name of NULL
// NULL: there is none of that name.
const struct stk_schema_file *stk_schema_file_find(const char *name);

#endif
