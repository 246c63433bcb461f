// SPDX-License-Identifier: Apache-2.0
// The tools of `stoker mcp`: each is a row with its arguments and a library call that returns a
// JSON document. They only read, and only below the folders given at startup.
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
// A call's arguments: texts of the request; NULL: not given.
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

// A path of a request, resolved; free it with free(). NULL, with the reason in err: it doesn't
// exist, or isn't below one of the folders.
char *stk_mcp_resolve(const struct stk_mcp_folders *folders, const char *path,
                      struct stoker_err *err);
