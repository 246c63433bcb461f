// SPDX-License-Identifier: Apache-2.0
// The schema of table documents. Rows are arrays of cells, as `columns` says; the profile is that
// of the report.
#include "results/print/table_schema.h"

#include "base/json.h"
#include "results/print/schema.h"
#include "results/table.h"

static void pair(struct stk_json *j, const char *key, const char *value)
{
    stk_json_key(j, key);
    stk_json_text(j, value);
}

static void texts(struct stk_json *j, const char *key, const char *const *values)
{
    stk_json_key(j, key);
    stk_json_open(j, '[', true);
    for (; *values; values++) {
        stk_json_text(j, *values);
    }
    stk_json_close(j, ']');
}

static void open_property(struct stk_json *j, const char *key, const char *type,
                          const char *description)
{
    stk_json_key(j, key);
    stk_json_open(j, '{', false);
    pair(j, "description", description);
    pair(j, "type", type);
}

static void plain(struct stk_json *j, const char *key, const char *type, const char *description)
{
    stk_json_key(j, key);
    stk_json_open(j, '{', true);
    pair(j, "description", description);
    pair(j, "type", type);
    stk_json_close(j, '}');
}

static void open_items(struct stk_json *j, const char *type)
{
    stk_json_key(j, "items");
    stk_json_open(j, '{', false);
    pair(j, "type", type);
}

static void write_columns(struct stk_json *j)
{
    open_property(j, "columns", "array", "what the cells of a row are, in order");
    open_items(j, "object");
    texts(j, "required", (const char *const[]){"id", "type", NULL});
    stk_json_key(j, "properties");
    stk_json_open(j, '{', false);
    plain(j, "id", "string", "stable name; `stoker stats ANALYSIS --tables` says what it means");
    stk_json_key(j, "type");
    stk_json_open(j, '{', true);
    pair(j, "description", "kind of value; rate: per second; number (whole) and real: no unit");
    pair(j, "type", "string");
    stk_json_key(j, "enum");
    stk_json_open(j, '[', true);
    for (int type = STK_TYPE_TEXT; type <= STK_TYPE_REAL; type++) {
        stk_json_text(j, stk_type_info((enum stk_type)type)->key);
    }
    stk_json_close(j, ']');
    stk_json_close(j, '}');
    stk_json_close(j, '}');
    stk_json_close(j, '}');
    stk_json_close(j, '}');
}

static void write_rows(struct stk_json *j)
{
    open_property(j, "rows", "array", "sorted by the most telling column");
    open_items(j, "array");
    stk_json_key(j, "items");
    stk_json_open(j, '{', true);
    texts(j, "type", (const char *const[]){"string", "number", "boolean", "null", NULL});
    stk_json_close(j, '}');
    stk_json_close(j, '}');
    stk_json_close(j, '}');
}

static void write_tables(struct stk_json *j)
{
    open_property(j, "tables", "array", "the tables of the analysis");
    open_items(j, "object");
    texts(j, "required",
          (const char *const[]){"id", "title", "columns", "rows", "rows_left_out", NULL});
    stk_json_key(j, "properties");
    stk_json_open(j, '{', false);
    plain(j, "id", "string", "stable name");
    plain(j, "title", "string", "for people");
    write_columns(j);
    write_rows(j);
    plain(j, "rows_left_out", "integer", "rows that --limit cut; the summary covers them");
    stk_json_close(j, '}');
    stk_json_close(j, '}');
    stk_json_close(j, '}');
}

static void write_summary(struct stk_json *j)
{
    open_property(j, "summary", "object",
                  "the few figures that answer the question, as `stoker stats ANALYSIS --tables` "
                  "explains them; one that is not known is absent");
    stk_json_key(j, "additionalProperties");
    stk_json_open(j, '{', true);
    texts(j, "type", (const char *const[]){"string", "number", "boolean", NULL});
    stk_json_close(j, '}');
    stk_json_close(j, '}');
}

static void write_missing(struct stk_json *j)
{
    open_property(j, "missing", "array", "what the profile does not hold");
    open_items(j, "object");
    texts(j, "required", (const char *const[]){"what", "why", "remedy", NULL});
    stk_json_key(j, "properties");
    stk_json_open(j, '{', false);
    plain(j, "what", "string", "the data");
    plain(j, "why", "string", "why they are missing");
    plain(j, "remedy", "string", "how to record them");
    stk_json_close(j, '}');
    stk_json_close(j, '}');
    stk_json_close(j, '}');
}

void stk_table_schema_write(struct stk_sink *sink)
{
    struct stk_json j;
    stk_json_init(&j, sink);
    stk_json_open(&j, '{', false);
    pair(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
    pair(&j, "title", STK_TABLE_SCHEMA);
    pair(&j, "type", "object");
    texts(&j, "required",
          (const char *const[]){"schema", "analysis", "profile", "summary", "tables", "missing",
                                NULL});
    stk_json_key(&j, "properties");
    stk_json_open(&j, '{', false);
    stk_json_key(&j, "schema");
    stk_json_open(&j, '{', true);
    pair(&j, "description", "name and version of this contract");
    pair(&j, "type", "string");
    texts(&j, "enum", (const char *const[]){STK_TABLE_SCHEMA, NULL});
    stk_json_close(&j, '}');
    plain(&j, "analysis", "string", "as `stoker stats` lists it; query, find");
    stk_json_key(&j, "profile");
    stk_schema_object(&j, &stk_profile_info);
    write_summary(&j);
    write_tables(&j);
    write_missing(&j);
    stk_json_close(&j, '}');
    stk_json_close(&j, '}');
    stk_sink_text(sink, "\n");
}
