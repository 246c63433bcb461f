// SPDX-License-Identifier: Apache-2.0
// JSON Schema (draft 2020-12, json-schema.org) from the field tables. Every object is written in
// place. Each occurs once, except `part`, and a reader finds a field without following references.
#include "results/print/schema.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"

static void write_struct(struct stk_json *j, const struct stk_struct_info *info, bool or_null);

static void pair(struct stk_json *j, const char *key, const char *value)
{
    stk_json_key(j, key);
    stk_json_text(j, value);
}

// "type": one of these.
static void types(struct stk_json *j, const char *const *names, size_t count)
{
    stk_json_key(j, "type");
    stk_json_open(j, '[', true);
    for (size_t i = 0; i < count; i++) {
        stk_json_text(j, names[i]);
    }
    stk_json_close(j, ']');
}

static void type_or_null(struct stk_json *j, const char *name, bool or_null)
{
    if (or_null) {
        types(j, (const char *const[]){name, "null"}, 2);
    } else {
        pair(j, "type", name);
    }
}

// A list, or an object with any keys. The following schema, until the bracket closes, is that of
// its values.
static void open_inner(struct stk_json *j, bool is_list)
{
    pair(j, "type", is_list ? "array" : "object");
    stk_json_key(j, is_list ? "items" : "additionalProperties");
    stk_json_open(j, '{', true);
}

static void write_choices(struct stk_json *j, const struct stk_field *f)
{
    char word[STK_FIELD_WORD_MAX];
    stk_json_key(j, "enum");
    stk_json_open(j, '[', true);
    for (size_t i = 0; stk_field_word(f, i, word); i++) {
        stk_json_text(j, word);
    }
    stk_json_close(j, ']');
}

// "type" and its bounds. A map's whole numbers are counts, so they start at 0.
static void write_plain(struct stk_json *j, const struct stk_field *f)
{
    const struct stk_type_info *info = stk_type_info(f->type);
    type_or_null(j, info->json, f->or_null);
    if (info->from_zero || f->from_zero ||
        (f->shape == STK_SHAPE_MAP && info->holds == STK_HOLDS_NUMBER)) {
        stk_json_key(j, "minimum");
        stk_json_u64(j, 0);
    }
    if (info->to_one) {
        stk_json_key(j, "maximum");
        stk_json_u64(j, 1);
    }
    if (f->choices && f->shape == STK_SHAPE_ONE) {
        write_choices(j, f);
    }
}

static void write_items(struct stk_json *j, const struct stk_field *f)
{
    pair(j, "type", "array");
    stk_json_key(j, "items");
    stk_json_open(j, '{', f->type != STK_TYPE_OBJECT);
    if (f->type == STK_TYPE_OBJECT) {
        write_struct(j, f->sub, false);
    } else {
        pair(j, "type", stk_type_info(f->type)->json);
    }
    stk_json_close(j, '}');
}

static void write_values(struct stk_json *j, const struct stk_field *f)
{
    stk_json_key(j, "additionalProperties");
    stk_json_open(j, '{', true);
    write_plain(j, f);
    stk_json_close(j, '}');
}

// The types of a cell: `null` is the last.
static const char *const of_cells[] = {"string", "number", "boolean", "null"};

// Lists of cells.
static void write_cell_rows(struct stk_json *j)
{
    open_inner(j, true);
    open_inner(j, true);
    types(j, of_cells, 4);
    stk_json_close(j, '}');
    stk_json_close(j, '}');
}

static void write_any_values(struct stk_json *j, const char *const *of, size_t count)
{
    open_inner(j, false);
    types(j, of, count);
    stk_json_close(j, '}');
}

static void write_type(struct stk_json *j, const struct stk_field *f)
{
    switch (f->shape) {
    case STK_SHAPE_LIST:
    case STK_SHAPE_LINE:
        write_items(j, f);
        break;
    case STK_SHAPE_MAP:
        pair(j, "type", "object");
        write_values(j, f);
        break;
    case STK_SHAPE_TUPLES:
    case STK_SHAPE_CELL_ROWS:
        write_cell_rows(j);
        break;
    case STK_SHAPE_CELL_MAP:
        write_any_values(j, of_cells, 3);
        break;
    case STK_SHAPE_VALUES:
        write_any_values(j, (const char *const[]){"number", "string", "boolean"}, 3);
        break;
    default:
        if (f->type == STK_TYPE_OBJECT) {
            write_struct(j, f->sub, f->or_null);
        } else {
            write_plain(j, f);
        }
    }
}

static void write_required(struct stk_json *j, const struct stk_struct_info *info)
{
    for (const struct stk_field *f = info->fields(); f->key; f++) {
        if (f->shape == STK_SHAPE_MERGED) {
            write_required(j, f->sub);
        } else if (stk_field_is_required(f)) {
            stk_json_text(j, f->key);
        }
    }
}

static void write_properties(struct stk_json *j, const struct stk_struct_info *info)
{
    for (const struct stk_field *f = info->fields(); f->key; f++) {
        if (f->shape == STK_SHAPE_MERGED) {
            write_properties(j, f->sub);
        } else if (f->shape != STK_SHAPE_MEMBERS) {
            stk_json_key(j, f->key);
            stk_json_open(j, '{', f->type != STK_TYPE_OBJECT);
            pair(j, "description", f->doc);
            write_type(j, f);
            stk_json_close(j, '}');
        }
    }
}

static void write_struct(struct stk_json *j, const struct stk_struct_info *info, bool or_null)
{
    type_or_null(j, "object", or_null);
    stk_json_key(j, "required");
    stk_json_open(j, '[', true);
    write_required(j, info);
    stk_json_close(j, ']');
    stk_json_key(j, "properties");
    stk_json_open(j, '{', false);
    write_properties(j, info);
    stk_json_close(j, '}');
    for (const struct stk_field *f = info->fields(); f->key; f++) {
        if (f->shape == STK_SHAPE_MEMBERS) {
            write_values(j, f);
        }
    }
}

void stk_schema_write(const struct stk_struct_info *info, struct stk_sink *sink)
{
    struct stk_json j;
    stk_json_init(&j, sink);
    stk_json_open(&j, '{', false);
    pair(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
    pair(&j, "title", info->fields()[0].choices);
    write_struct(&j, info, false);
    stk_json_close(&j, '}');
    stk_sink_text(sink, "\n");
}

static void describe_type(const struct stk_field *f, struct stk_sink *sink)
{
    static const char *const shapes[] = {[STK_SHAPE_LIST] = "list of ",
                                         [STK_SHAPE_LINE] = "list of ",
                                         [STK_SHAPE_MAP] = "object of ",
                                         [STK_SHAPE_MEMBERS] = "members of ",
                                         [STK_SHAPE_TUPLES] = "list of lists",
                                         [STK_SHAPE_CELL_MAP] = "object of cells",
                                         [STK_SHAPE_CELL_ROWS] = "list of lists of cells",
                                         [STK_SHAPE_VALUES] = "object of values",
                                         [STK_SHAPE_LEFT_OUT] = NULL};
    bool is_list = f->shape == STK_SHAPE_LIST || f->shape == STK_SHAPE_LINE;
    const char *shape = shapes[f->shape];
    bool is_said = shape && shape[strlen(shape) - 1] != ' ';
    stk_sink_printf(sink, "%s%s", shape ? shape : "",
                    is_said                                 ? ""
                    : is_list && f->type == STK_TYPE_OBJECT ? "objects"
                                                            : stk_type_info(f->type)->key);
}

static void describe_choices(const struct stk_field *f, struct stk_sink *sink)
{
    char word[STK_FIELD_WORD_MAX];
    for (size_t i = 0; stk_field_word(f, i, word); i++) {
        stk_sink_printf(sink, "%s`%s`", i ? ", " : ": ", word);
    }
}

static void describe_rows(const struct stk_struct_info *info, struct stk_sink *sink)
{
    for (const struct stk_field *f = info->fields(); f->key; f++) {
        if (f->shape == STK_SHAPE_MERGED) {
            describe_rows(f->sub, sink);
            continue;
        }
        stk_sink_printf(sink, "| `%s` | ", f->key);
        describe_type(f, sink);
        stk_sink_printf(sink, " | %s | %s",
                        f->or_null                 ? "or null"
                        : stk_field_is_required(f) ? "always"
                                                   : "if known",
                        f->doc);
        if (f->choices) {
            describe_choices(f, sink);
        }
        stk_sink_text(sink, " |\n");
    }
}

static void describe_struct(const struct stk_struct_info *info, const char *title, const char *path,
                            struct stk_sink *sink);

static void describe_inner(const struct stk_struct_info *info, const char *path,
                           struct stk_sink *sink)
{
    for (const struct stk_field *f = info->fields(); f->key; f++) {
        bool is_list = f->shape == STK_SHAPE_LIST || f->shape == STK_SHAPE_TUPLES;
        char inner[160];
        if (f->shape == STK_SHAPE_MERGED) {
            describe_inner(f->sub, path, sink);
        } else if (f->sub && strcmp(f->sub->fields()[0].key, "schema") != 0) { // else it has a page
            snprintf(inner, sizeof inner, "%s%s%s%s", path, *path ? "." : "", f->key,
                     is_list ? "[]" : "");
            describe_struct(f->sub, inner, inner, sink);
        }
    }
}

static void describe_struct(const struct stk_struct_info *info, const char *title, const char *path,
                            struct stk_sink *sink)
{
    stk_sink_printf(sink, "\n## %s%s\n\n| key | type | present | meaning |\n|---|---|---|---|\n",
                    *path ? "" : "The ", title);
    describe_rows(info, sink);
    describe_inner(info, path, sink);
}

void stk_schema_describe(const struct stk_struct_info *info, const char *name,
                         struct stk_sink *sink)
{
    describe_struct(info, name, "", sink);
}
