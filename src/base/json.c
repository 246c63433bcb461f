// SPDX-License-Identifier: Apache-2.0
// Writes JSON (RFC 8259): brackets, commas and line breaks; strings and numbers come from base.
#include "base/json.h"

#include <math.h>

#include "base/assert.h"
#include "base/text.h"

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

// Before a value: nothing after its key, else a comma and the line break.
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
    STK_ASSERT(bracket == '{' || bracket == '[');
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
    STK_ASSERT(bracket == '}' || bracket == ']');
    STK_ASSERT(j->depth > 0 && !j->after_key);
    j->depth--;
    if (j->inline_depth) {
        j->inline_depth--;
    } else if (!j->empty) {
        new_line(j);
    }
    stk_sink_put(j->sink, &bracket, 1);
    j->empty = false;
}

static void put_string(struct stk_sink *sink, const char *text)
{
    struct stk_text_piece piece;
    struct stk_str s = stk_str_from(text);
    stk_sink_text(sink, "\"");
    for (; s.n; s.p += piece.taken, s.n -= piece.taken) {
        stk_text_json(&piece, s);
        stk_sink_put(sink, piece.text, piece.n);
    }
    stk_sink_text(sink, "\"");
}

void stk_json_key(struct stk_json *j, const char *key)
{
    STK_ASSERT(j->depth > 0 && !j->after_key);
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
    stk_sink_i64(j->sink, value);
}

void stk_json_u64(struct stk_json *j, uint64_t value)
{
    char text[STK_TEXT_NUMBER_MAX];
    before_value(j);
    stk_sink_put(j->sink, text, stk_text_put_u64(text, value));
}

void stk_json_share(struct stk_json *j, double value)
{
    before_value(j);
    stk_sink_share(j->sink, value);
}

void stk_json_real(struct stk_json *j, double value)
{
    if (!isfinite(value)) {
        stk_json_null(j);
        return;
    }
    before_value(j);
    stk_sink_real(j->sink, value);
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

void stk_json_raw(struct stk_json *j, const char *json)
{
    before_value(j);
    stk_sink_text(j->sink, json);
}
