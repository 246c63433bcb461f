// SPDX-License-Identifier: Apache-2.0
// The tools that `stoker mcp` offers: each is a row with its arguments and a call of the library
// that gives a JSON document. They only read, and only below the folders named at startup.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/json_read.h"
#include "stoker/report.h"

enum { STK_MCP_FOLDERS = 32, STK_MCP_ARGUMENTS = 5 };
struct stk_mcp_folders {
    char *paths[STK_MCP_FOLDERS]; // resolved: no links, no dots
    size_t count;
};

struct stk_mcp_argument {
    const char *name, *type, *meaning; // type of JSON Schema
    bool is_needed;
};
// What a call asks for: texts of the request; NULL: not given.
struct stk_mcp_call {
    const char *profile; // resolved
    const struct stk_json_value *arguments;
    uint64_t limit;
};
struct stk_mcp_tool {
    const char *name, *description;
    struct stk_mcp_argument
        arguments[STK_MCP_ARGUMENTS]; // ends with an empty one, if there is room
    enum stoker_status (*run)(const struct stk_mcp_call *call, stoker_write_fn write, void *to,
                              struct stoker_err *err);
};
extern const struct stk_mcp_tool stk_mcp_tools[]; // ends with an empty one

// A path of a request, resolved, to be freed with free(). NULL, with the reason in err: it is not
// there, or not below a folder.
char *stk_mcp_resolve(const struct stk_mcp_folders *folders, const char *path,
                      struct stoker_err *err);
