// SPDX-License-Identifier: Apache-2.0
// The Model Context Protocol: one message in, at most one answer out, one line each. mcp_tools.h
// has the tools.
#pragma once

#include "base/json.h"
#include "base/json_read.h"
#include "serve/mcp_tools.h"

enum { STK_MCP_VALUES = 4096, STK_MCP_PARSE_ERROR = -32700 };

struct stk_mcp {
    struct stk_mcp_folders folders;                      // filled by the caller, at least one
    int (*write)(void *to, const char *bytes, size_t n); // receives answers, one line each
    void *to;
    struct stk_json_value values[STK_MCP_VALUES]; // values of the request
    struct stk_sink out;
    struct stk_json json;
};

// line: n bytes and a terminator, which are modified. False: the answer couldn't be written.
bool stk_mcp_handle(struct stk_mcp *s, char *line, size_t n);
// An error as the answer to the request `id`; NULL: unknown.
bool stk_mcp_refuse(struct stk_mcp *s, const struct stk_json_value *id, int code, const char *why);
