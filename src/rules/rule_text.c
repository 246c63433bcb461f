// SPDX-License-Identifier: Apache-2.0
// Formatted text that lives as long as the report.
#include <stdarg.h>
#include <stdio.h>

#include "rules/finding.h"

#include "base/text.h"

#define MAX_TEXT 480

const char *stk_rule_text(const struct stk_rule_ctx *ctx, const char *fmt, ...)
{
    char text[MAX_TEXT];
    va_list args;
    va_start(args, fmt);
    stk_text_vprintf(text, sizeof text, fmt, args);
    va_end(args);
    const char *copy = stk_arena_strdup(ctx->pass.arena, text);
    return copy ? copy : "";
}
