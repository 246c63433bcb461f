// SPDX-License-Identifier: Apache-2.0
// The Model Context Protocol: one message in, at most one answer out, each a line. mcp_tools.h has
// what can be asked.
#pragma once

#include "base/json.h"
#include "base/json_read.h"
#include "serve/mcp_tools.h"

enum { STK_MCP_VALUES = 4096, STK_MCP_PARSE_ERROR = -32700 };

struct stk_mcp {
    struct stk_mcp_folders folders;                      // filled by who starts it, at least one
    int (*write)(void *to, const char *bytes, size_t n); // where answers go, a line each
    void *to;
    struct stk_json_value values[STK_MCP_VALUES]; // of the request
    struct stk_sink out;
    struct stk_json json;
};

// line: n bytes and a zero, which are changed. false: the answer could not be written.
bool stk_mcp_handle(struct stk_mcp *s, char *line, size_t n);
// An error as the answer to the request `id`; NULL: it is not known.
bool stk_mcp_refuse(struct stk_mcp *s, const struct stk_json_value *id, int code, const char *why);
