// SPDX-License-Identifier: Apache-2.0
// A table document as JSON, by the contract stoker.table/1. A row stands on one line; a cell whose
// value is not known is null, a figure of the summary that is not known is absent. Several
// documents are an array of them.
#include "results/print/json_fields.h"
#include "results/print/table_out.h"

static void write_cell(struct stk_json *j, enum stk_type type, const struct stk_cell *cell)
{
    if (!cell->known) {
        stk_json_null(j);
        return;
    }
    switch (type) {
    case STK_TYPE_TEXT:
        stk_json_text(j, cell->text);
        break;
    case STK_TYPE_SHARE:
    case STK_TYPE_RATE:
        stk_json_share(j, cell->ratio);
        break;
    case STK_TYPE_REAL:
        stk_json_real(j, cell->ratio);
        break;
    case STK_TYPE_BOOL:
        stk_json_bool(j, cell->truth);
        break;
    default:
        stk_json_i64(j, cell->number);
    }
}

static void write_pair(struct stk_json *j, const char *key, const char *text)
{
    stk_json_key(j, key);
    stk_json_text(j, text);
}

static void write_columns(struct stk_json *j, const struct stk_table *table)
{
    stk_json_key(j, "columns");
    stk_json_open(j, '[', false);
    for (size_t c = 0; c < table->column_count; c++) {
        stk_json_open(j, '{', true);
        write_pair(j, "id", table->columns[c].id);
        write_pair(j, "type", stk_type_info(table->columns[c].type)->key);
        stk_json_close(j, '}');
    }
    stk_json_close(j, ']');
}

static void write_table(struct stk_json *j, const struct stk_table *table)
{
    const struct stk_cell *cells = table->cells.items;
    stk_json_open(j, '{', false);
    write_pair(j, "id", table->id);
    write_pair(j, "title", table->title);
    write_columns(j, table);
    stk_json_key(j, "rows");
    stk_json_open(j, '[', false);
    for (size_t r = 0; r < table->row_count; r++) {
        stk_json_open(j, '[', true);
        for (size_t c = 0; c < table->column_count; c++) {
            write_cell(j, table->columns[c].type, &cells[r * table->column_count + c]);
        }
        stk_json_close(j, ']');
    }
    stk_json_close(j, ']');
    stk_json_key(j, "rows_left_out");
    stk_json_u64(j, table->rows_left_out);
    stk_json_close(j, '}');
}

static void write_summary(struct stk_json *j, const struct stk_table_doc *doc)
{
    stk_json_key(j, "summary");
    stk_json_open(j, '{', false);
    for (size_t i = 0; i < doc->summary_count; i++) {
        const struct stk_figure_row *f = &doc->summary[i];
        if (!f->value.known) {
            continue;
        }
        stk_json_key(j, f->key);
        write_cell(j, f->type, &f->value);
    }
    stk_json_close(j, '}');
}

static void write_missing(struct stk_json *j, const struct stk_table_doc *doc)
{
    stk_json_key(j, "missing");
    stk_json_open(j, '[', false);
    for (size_t i = 0; i < doc->missing_count; i++) {
        stk_json_open(j, '{', true);
        write_pair(j, "what", doc->missing[i].what);
        write_pair(j, "why", doc->missing[i].why);
        write_pair(j, "remedy", doc->missing[i].remedy);
        stk_json_close(j, '}');
    }
    stk_json_close(j, ']');
}

static void write_doc(struct stk_json *j, const struct stk_table_doc *doc, const char *table)
{
    stk_json_open(j, '{', false);
    write_pair(j, "schema", STK_TABLE_SCHEMA);
    write_pair(j, "analysis", doc->analysis);
    stk_json_key(j, "profile");
    if (doc->profile_json) {
        stk_json_raw(j, doc->profile_json);
    } else {
        stk_json_fields(j, &stk_profile_info, &doc->profile);
    }
    write_summary(j, doc);
    stk_json_key(j, "tables");
    stk_json_open(j, '[', false);
    const struct stk_table *chosen = stk_table_find(doc, table);
    for (size_t i = 0; i < doc->table_count; i++) {
        if (!table || &doc->tables[i] == chosen) {
            write_table(j, &doc->tables[i]);
        }
    }
    stk_json_close(j, ']');
    write_missing(j, doc);
    stk_json_close(j, '}');
}

static void write_json(const struct stk_table_doc *doc, const char *table,
                       const struct stk_out_options *options, struct stk_sink *sink)
{
    (void)options;
    struct stk_json j;
    stk_json_init(&j, sink);
    write_doc(&j, doc, table);
    stk_sink_text(sink, "\n");
}

static void write_list(const struct stk_table_doc *docs, size_t count,
                       const struct stk_out_options *options, struct stk_sink *sink)
{
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

const struct stk_table_out stk_table_out_json = {
    .name = "json",
    .summary = "the versioned contract, for programs (stoker schema table)",
    .write = write_json,
    .write_list = write_list,
};
