// SPDX-License-Identifier: Apache-2.0
// JSON Schema (draft 2020-12, json-schema.org) from the field tables. Every object is written in
// place: each occurs once, but for `part`, and a reader finds a field without following references.
#include "results/schema.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"

static void write_struct(struct stk_json *j, const struct stk_struct_info *info);

static void pair(struct stk_json *j, const char *key, const char *value)
{
    stk_json_key(j, key);
    stk_json_text(j, value);
}

static void write_choices(struct stk_json *j, const char *choices)
{
    stk_json_key(j, "enum");
    stk_json_open(j, '[', true);
    while (*choices) {
        char word[64];
        size_t n = strcspn(choices, "|");
        size_t kept = n < sizeof word ? n : sizeof word - 1;
        memcpy(word, choices, kept);
        word[kept] = 0;
        stk_json_text(j, word);
        choices += n + (choices[n] == '|');
    }
    stk_json_close(j, ']');
}

static void write_number(struct stk_json *j, const char *type, bool from_zero)
{
    pair(j, "type", type);
    if (from_zero) {
        stk_json_key(j, "minimum");
        stk_json_u64(j, 0);
    }
}

static void write_items(struct stk_json *j, const char *type)
{
    pair(j, "type", "array");
    stk_json_key(j, "items");
    stk_json_open(j, '{', true);
    pair(j, "type", type);
    stk_json_close(j, '}');
}

static void write_map(struct stk_json *j)
{
    pair(j, "type", "object");
    stk_json_key(j, "additionalProperties");
    stk_json_open(j, '{', true);
    write_number(j, "integer", true);
    stk_json_close(j, '}');
}

static void write_values(struct stk_json *j)
{
    pair(j, "type", "object");
    stk_json_key(j, "additionalProperties");
    stk_json_open(j, '{', true);
    stk_json_key(j, "type");
    stk_json_open(j, '[', true);
    stk_json_text(j, "number");
    stk_json_text(j, "string");
    stk_json_text(j, "boolean");
    stk_json_close(j, ']');
    stk_json_close(j, '}');
}

static void write_list(struct stk_json *j, const struct stk_struct_info *sub)
{
    pair(j, "type", "array");
    stk_json_key(j, "items");
    stk_json_open(j, '{', false);
    write_struct(j, sub);
    stk_json_close(j, '}');
}

static void write_type(struct stk_json *j, const struct stk_field *f)
{
    switch (f->kind) {
    case STK_FIELD_TEXT:
        pair(j, "type", "string");
        if (f->choices) {
            write_choices(j, f->choices);
        }
        break;
    case STK_FIELD_NS: // times may lie before a base and delays may be negative
    case STK_FIELD_INT:
        write_number(j, "integer", false);
        break;
    case STK_FIELD_COUNT_:
    case STK_FIELD_BYTES:
    case STK_FIELD_LEFT_OUT:
        write_number(j, "integer", true);
        break;
    case STK_FIELD_SHARE:
        write_number(j, "number", true);
        stk_json_key(j, "maximum");
        stk_json_u64(j, 1);
        break;
    case STK_FIELD_REAL:
        write_number(j, "number", false);
        break;
    case STK_FIELD_BOOL:
        pair(j, "type", "boolean");
        break;
    case STK_FIELD_OBJECT:
        write_struct(j, f->sub);
        break;
    case STK_FIELD_LIST:
        write_list(j, f->sub);
        break;
    case STK_FIELD_TEXTS:
        write_items(j, "string");
        break;
    case STK_FIELD_INTS:
        write_items(j, "integer");
        break;
    case STK_FIELD_NS_MAP:
    case STK_FIELD_COUNT_MAP:
        write_map(j);
        break;
    case STK_FIELD_VALUES:
        write_values(j);
        break;
    }
}

static void write_required(struct stk_json *j, const struct stk_struct_info *info)
{
    stk_json_key(j, "required");
    stk_json_open(j, '[', true);
    for (const struct stk_field *f = info->fields; f->key; f++) {
        if (f->has_offset == STK_FIELD_ALWAYS) {
            stk_json_text(j, f->key);
        }
    }
    stk_json_close(j, ']');
}

static void write_struct(struct stk_json *j, const struct stk_struct_info *info)
{
    pair(j, "type", "object");
    write_required(j, info);
    stk_json_key(j, "properties");
    stk_json_open(j, '{', false);
    for (const struct stk_field *f = info->fields; f->key; f++) {
        bool nested = f->kind == STK_FIELD_LIST || f->kind == STK_FIELD_OBJECT;
        stk_json_key(j, f->key);
        stk_json_open(j, '{', !nested);
        pair(j, "description", f->doc);
        write_type(j, f);
        stk_json_close(j, '}');
    }
    stk_json_close(j, '}');
}

void stk_schema_object(struct stk_json *j, const struct stk_struct_info *info)
{
    stk_json_open(j, '{', false);
    write_struct(j, info);
    stk_json_close(j, '}');
}

void stk_schema_write(const struct stk_struct_info *info, const char *id, struct stk_sink *sink)
{
    struct stk_json j;
    stk_json_init(&j, sink);
    stk_json_open(&j, '{', false);
    pair(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
    pair(&j, "title", id);
    write_struct(&j, info);
    stk_json_close(&j, '}');
    stk_sink_text(sink, "\n");
}

static const char *type_name(const struct stk_field *f)
{
    static const char *const names[] = {
        [STK_FIELD_TEXT] = "text",           [STK_FIELD_NS] = "ns",
        [STK_FIELD_COUNT_] = "count",        [STK_FIELD_INT] = "integer",
        [STK_FIELD_BYTES] = "bytes",         [STK_FIELD_SHARE] = "share",
        [STK_FIELD_REAL] = "number",         [STK_FIELD_BOOL] = "true or false",
        [STK_FIELD_OBJECT] = "object",       [STK_FIELD_LIST] = "list",
        [STK_FIELD_TEXTS] = "list of texts", [STK_FIELD_INTS] = "list of integers",
        [STK_FIELD_NS_MAP] = "object of ns", [STK_FIELD_COUNT_MAP] = "object of counts",
        [STK_FIELD_LEFT_OUT] = "count",      [STK_FIELD_VALUES] = "object of values",
    };
    return names[f->kind];
}

static void describe_choices(const char *choices, struct stk_sink *sink)
{
    stk_sink_text(sink, ": `");
    for (const char *p = choices; *p; p++) {
        if (*p == '|') {
            stk_sink_text(sink, "`, `");
        } else {
            stk_sink_put(sink, p, 1);
        }
    }
    stk_sink_text(sink, "`");
}

static void describe_struct(const struct stk_struct_info *info, const char *path,
                            struct stk_sink *sink)
{
    stk_sink_printf(sink, "\n## %s%s\n\n| key | type | there | meaning |\n|---|---|---|---|\n",
                    *path ? "" : "The ", *path ? path : info->name);
    for (const struct stk_field *f = info->fields; f->key; f++) {
        stk_sink_printf(sink, "| `%s` | %s | %s | %s", f->key, type_name(f),
                        f->has_offset == STK_FIELD_ALWAYS ? "always" : "if known", f->doc);
        if (f->choices) {
            describe_choices(f->choices, sink);
        }
        stk_sink_text(sink, " |\n");
    }
    for (const struct stk_field *f = info->fields; f->key; f++) {
        char inner[160];
        if (!f->sub) {
            continue;
        }
        snprintf(inner, sizeof inner, "%s%s%s%s", path, *path ? "." : "", f->key,
                 f->kind == STK_FIELD_LIST ? "[]" : "");
        describe_struct(f->sub, inner, sink);
    }
}

void stk_schema_describe(const struct stk_struct_info *info, struct stk_sink *sink)
{
    describe_struct(info, "", sink);
}
