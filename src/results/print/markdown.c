// SPDX-License-Identifier: Apache-2.0
// Texts of profiles in Markdown; see markdown.h.
#include "results/print/markdown.h"

#include <string.h>

#include "base/utf8.h"

#define NAME_MAX_CHARS 120

void stk_markdown_code(struct stk_sink *s, const char *text)
{
    size_t length;
    int n = 0;
    stk_sink_text(s, "`");
    for (const char *p = text; *p && n < NAME_MAX_CHARS; p += length, n++) {
        uint32_t c = stk_utf8_next(p, &length);
        if (c == STK_UTF8_INVALID || c < 0x20 || c == 0x7f || c == 0x202e || c == 0x2066) {
            stk_sink_text(s, "?");
        } else if (c == '`') {
            stk_sink_text(s, "'");
        } else if (c == '|') {
            stk_sink_text(s, "\\|");
        } else {
            stk_sink_put(s, p, length);
        }
    }
    stk_sink_text(s, n == NAME_MAX_CHARS ? "...`" : *text ? "`" : " `");
}

void stk_markdown_plain(struct stk_sink *s, const char *text)
{
    for (const char *p = text; *p; p++) {
        if (strchr("\\`*_[]<>|~#", *p)) {
            stk_sink_text(s, "\\");
        }
        if ((unsigned char)*p < 0x20) {
            stk_sink_text(s, " ");
        } else if (*p == '@') { // it would notify a person with that name
            stk_sink_text(s, "&#64;");
        } else {
            stk_sink_put(s, p, 1);
        }
    }
}
