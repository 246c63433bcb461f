// SPDX-License-Identifier: Apache-2.0
// The contract of `stoker stats --json`, field by field. Rows are only ever added.
#include "results/field_rows.h"
#include "results/table.h"

static const struct stk_field column_fields[] = {
    ROW("id", TEXT, stk_column, id, NULL, NULL,
        "stable name; `stoker stats ANALYSIS --tables` says what it means"),
    ROW("type", WORD, stk_column, type, NULL, "text|count|ns|bytes|share|rate|bool|number|real",
        "kind of value; rate: per second; number (whole) and real: no unit"),
    END};
INFO(column, sizeof(struct stk_column));

static const struct stk_field tables_fields[] = {
    ROW("id", TEXT, stk_table_printed, id, NULL, NULL, "stable name"),
    ROW("title", TEXT, stk_table_printed, title, NULL, NULL, "for people; its wording may change"),
    ROW("columns", LIST, stk_table_printed, columns, &column, NULL,
        "what the cells of a row are, in order"),
    ROW("rows", CELL_ROWS, stk_table_printed, rows, NULL, NULL,
        "lists of cells, sorted by the most telling column"),
    ROW("rows_left_out", COUNT, stk_table_printed, rows_left_out, NULL, NULL,
        "rows that --limit cut; the summary covers them"),
    END};
INFO(tables, sizeof(struct stk_table_printed));

static const struct stk_field missing_fields[] = {
    ROW("what", TEXT, stk_missing, what, NULL, NULL, "the data"),
    ROW("why", TEXT, stk_missing, why, NULL, NULL, "why they are missing"),
    ROW("remedy", TEXT, stk_missing, remedy, NULL, NULL, "how to record them"), END};
INFO(missing, sizeof(struct stk_missing));

static const struct stk_field table_fields[] = {
    ROW("schema", TEXT, stk_table_doc_printed, schema, NULL, STK_TABLE_SCHEMA,
        "name and version of this contract"),
    ROW("analysis", TEXT, stk_table_doc_printed, analysis, NULL, NULL,
        "as `stoker stats` lists it; query, find"),
    ROW("profile", APART, stk_table_doc_printed, profile, &stk_profile_info, NULL,
        "as in the report"),
    ROW("summary", CELL_MAP, stk_table_doc_printed, summary, NULL, NULL,
        "the few figures that answer the question, as `stoker stats ANALYSIS --tables` explains "
        "them; one that is not known is absent"),
    ROW("tables", LIST, stk_table_doc_printed, tables, &tables, NULL, "the tables of the analysis"),
    ROW("missing", LIST, stk_table_doc_printed, missing, &missing, NULL,
        "what the profile does not hold"),
    END};
const struct stk_struct_info stk_table_info = {"table", sizeof(struct stk_table_doc_printed),
                                               table_fields};
