// SPDX-License-Identifier: Apache-2.0
// A table document as JSON (results/table_fields.c). A row is one line. An unknown cell is null, an
// unknown figure of the summary is absent. Several documents are an array of them.
#include "results/print/json_fields.h"
#include "results/print/out.h"
#include "results/table.h"

static void write_doc(struct stk_json *j, const struct stk_table_doc *doc, const char *table)
{
    struct stk_table_printed tables[STK_TABLE_MAX];
    const struct stk_table *chosen = table ? stk_table_find(doc, table) : NULL;
    size_t n = 0;
    for (size_t i = 0; i < doc->table_count; i++) {
        const struct stk_table *t = &doc->tables[i];
        if (!table || t == chosen) {
            tables[n++] = (struct stk_table_printed){
                .id = t->id,
                .title = t->title,
                .columns = {.items = t->columns, .count = t->column_count},
                .rows = t,
                .rows_left_out = t->rows_left_out};
        }
    }
    const struct stk_table_doc_printed printed = {
        .schema = STK_TABLE_SCHEMA,
        .analysis = doc->analysis,
        .profile = {.object = doc->profile_json ? NULL : &doc->profile, .json = doc->profile_json},
        .summary = {.items = doc->summary, .count = doc->summary_count},
        .has_figures = true,
        .figures = {.items = doc->summary, .count = doc->summary_count},
        .tables = {.items = tables, .count = n},
        .missing = {.items = doc->missing, .count = doc->missing_count}};
    stk_json_fields(j, &stk_table_doc_printed_info, &printed);
}

static void write_json(const void *object, const struct stk_out_options *options,
                       struct stk_sink *sink)
{
    const struct stk_table_doc *doc = object;
    struct stk_json j;
    stk_json_init(&j, sink);
    write_doc(&j, doc, options->table);
    stk_sink_text(sink, "\n");
}

static void write_list(const void *objects, size_t count, const struct stk_out_options *options,
                       struct stk_sink *sink)
{
    const struct stk_table_doc *docs = objects;
    (void)options;
    struct stk_json j;
    stk_json_init(&j, sink);
    stk_json_open(&j, '[', false);
    for (size_t i = 0; i < count; i++) {
        write_doc(&j, &docs[i], NULL);
    }
    stk_json_close(&j, ']');
    stk_sink_text(sink, "\n");
}

const struct stk_out stk_out_table_json = {.write = write_json, .write_list = write_list};
