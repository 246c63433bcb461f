// SPDX-License-Identifier: Apache-2.0
// JSON (RFC 8259) out. Only ASCII control characters, quote and backslash are escaped; text that is
// not UTF-8 is mended, since a parser would refuse the whole report for one bad kernel name.
#include "report/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/utf8.h"

void stk_json_init(struct stk_json *j, struct stk_sink *sink)
{
    *j = (struct stk_json){.sink = sink, .empty = true};
}

static void new_line(struct stk_json *j)
{
    stk_sink_text(j->sink, "\n");
    for (int i = 0; i < j->depth; i++) {
        stk_sink_text(j->sink, "  ");
    }
}

// What stands before a value: nothing after its key, else a comma and the line break.
static void before_value(struct stk_json *j)
{
    if (j->after_key) {
        j->after_key = false;
        return;
    }
    if (!j->empty) {
        stk_sink_text(j->sink, j->inline_depth ? ", " : ",");
    }
    if (j->depth > 0 && !j->inline_depth) {
        new_line(j);
    }
    j->empty = false;
}

void stk_json_open(struct stk_json *j, char bracket, bool in_line)
{
    before_value(j);
    stk_sink_put(j->sink, &bracket, 1);
    j->depth++;
    if (in_line || j->inline_depth) {
        j->inline_depth++;
    }
    j->empty = true;
}

void stk_json_close(struct stk_json *j, char bracket)
{
    j->depth--;
    if (j->inline_depth) {
        j->inline_depth--;
    } else if (!j->empty) {
        new_line(j);
    }
    stk_sink_put(j->sink, &bracket, 1);
    j->empty = false;
}

static void put_char(struct stk_sink *s, const char *p, size_t *length)
{
    uint32_t c = stk_utf8_next(p, length);
    if (c == STK_UTF8_INVALID) {
        stk_sink_text(s, "\xef\xbf\xbd");
    } else if (c == '"' || c == '\\') {
        stk_sink_put(s, (const char[]){'\\', (char)c}, 2);
    } else if (c == '\n') {
        stk_sink_text(s, "\\n");
    } else if (c == '\t') {
        stk_sink_text(s, "\\t");
    } else if (c < 0x20 || c == 0x7f) {
        stk_sink_printf(s, "\\u%04x", (unsigned)c);
    } else {
        stk_sink_put(s, p, *length);
    }
}

static void put_string(struct stk_sink *s, const char *text)
{
    size_t length;
    stk_sink_text(s, "\"");
    for (const char *p = text; *p; p += length) {
        put_char(s, p, &length);
    }
    stk_sink_text(s, "\"");
}

void stk_json_key(struct stk_json *j, const char *key)
{
    before_value(j);
    put_string(j->sink, key);
    stk_sink_text(j->sink, ": ");
    j->after_key = true;
}

void stk_json_text(struct stk_json *j, const char *text)
{
    before_value(j);
    put_string(j->sink, text);
}

void stk_json_i64(struct stk_json *j, int64_t value)
{
    before_value(j);
    stk_sink_printf(j->sink, "%" PRId64, value);
}

void stk_json_u64(struct stk_json *j, uint64_t value)
{
    before_value(j);
    stk_sink_printf(j->sink, "%" PRIu64, value);
}

// Through an integer, since printf would follow the host program's decimal comma.
void stk_json_share(struct stk_json *j, double value)
{
    if (isfinite(value) && fabs(value) >= 1e12) {
        stk_json_real(j, value);
        return;
    }
    before_value(j);
    int64_t millionths = isfinite(value) ? llround(value * 1e6) : 0;
    char digits[8];
    uint64_t size = millionths < 0 ? 0 - (uint64_t)millionths : (uint64_t)millionths;
    snprintf(digits, sizeof digits, "%06u", (unsigned)(size % 1000000));
    size_t n = 6;
    while (n > 1 && digits[n - 1] == '0') {
        n--;
    }
    digits[n] = 0;
    stk_sink_printf(j->sink, "%s%" PRIu64 ".%s", millionths < 0 ? "-" : "", size / 1000000, digits);
}

// The fewest digits that read back as the same number, with a point whatever the locale.
void stk_json_real(struct stk_json *j, double value)
{
    char text[40];
    if (!isfinite(value)) {
        stk_json_null(j);
        return;
    }
    before_value(j);
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    for (char *p = text; *p; p++) {
        if (!strchr("0123456789+-eE", *p)) {
            *p = '.';
        }
    }
    stk_sink_text(j->sink, text);
    if (!strpbrk(text, ".e")) {
        stk_sink_text(j->sink, ".0");
    }
}

void stk_json_bool(struct stk_json *j, bool value)
{
    before_value(j);
    stk_sink_text(j->sink, value ? "true" : "false");
}

void stk_json_null(struct stk_json *j)
{
    before_value(j);
    stk_sink_text(j->sink, "null");
}
