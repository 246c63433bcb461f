// SPDX-License-Identifier: Apache-2.0
// Building a table document. Sorting is by an index of rows, so that rows of any width move once.
#include "report/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define MAX_CELLS ((size_t)1 << 28)

const char *stk_cell_type_key(enum stk_cell_type type)
{
    static const char *const keys[] = {"text", "count", "ns",     "bytes", "share",
                                       "rate", "bool",  "number", "real"};
    return keys[type];
}

void stk_table_doc_init(struct stk_table_doc *doc, struct stk_arena *arena, const char *analysis)
{
    *doc = (struct stk_table_doc){.arena = arena, .analysis = analysis};
}

void stk_table_doc_deinit(struct stk_table_doc *doc)
{
    for (size_t i = 0; i < doc->table_count; i++)
        stk_vec_deinit(&doc->tables[i].cells);
    doc->table_count = 0;
}

struct stk_table *stk_table_add(struct stk_table_doc *doc, const char *id, const char *title,
                                const struct stk_column *columns, size_t column_count)
{
    struct stk_table *table = &doc->tables[doc->table_count++];
    *table = (struct stk_table){
        .id = id, .title = title, .columns = columns, .column_count = column_count};
    stk_vec_init(&table->cells, sizeof(struct stk_cell), MAX_CELLS);
    return table;
}

struct stk_cell *stk_table_row(struct stk_table *table)
{
    struct stk_cell *row = stk_vec_push_n(&table->cells, table->column_count);
    if (!row)
        return NULL;
    for (size_t c = 0; c < table->column_count; c++)
        row[c] = stk_cell_unknown();
    table->row_count++;
    return row;
}

// Largest number first, texts in their order, what is not known last.
static int compare_cells(enum stk_cell_type type, const struct stk_cell *a,
                         const struct stk_cell *b)
{
    if (!a->known || !b->known)
        return b->known - a->known;
    switch (type) {
    case STK_CELL_TEXT:
        return strcmp(a->text, b->text);
    case STK_CELL_SHARE:
    case STK_CELL_RATE:
    case STK_CELL_REAL:
        return (b->ratio > a->ratio) - (b->ratio < a->ratio);
    case STK_CELL_BOOL:
        return b->truth - a->truth;
    default:
        return (b->number > a->number) - (b->number < a->number);
    }
}

struct sort_row {
    const struct stk_cell *cells;
    const struct stk_table *table;
    size_t key, index;
};

static int compare_rows(const void *pa, const void *pb)
{
    const struct sort_row *a = pa, *b = pb;
    const struct stk_column *columns = a->table->columns;
    int order = compare_cells(columns[a->key].type, &a->cells[a->key], &b->cells[a->key]);
    for (size_t c = 0; c < a->key && order == 0; c++)
        order = compare_cells(columns[c].type, &a->cells[c], &b->cells[c]);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

bool stk_table_sort(struct stk_table *table, const char *column)
{
    size_t key = 0, width = table->column_count * sizeof(struct stk_cell);
    while (key + 1 < table->column_count && strcmp(table->columns[key].id, column) != 0)
        key++;
    if (table->row_count < 2)
        return true;
    struct sort_row *rows = stk_alloc_array(table->row_count, sizeof *rows);
    struct stk_cell *sorted = stk_alloc_array(table->row_count, width);
    if (rows && sorted) {
        for (size_t i = 0; i < table->row_count; i++)
            rows[i] = (struct sort_row){stk_vec_at(&table->cells, i * table->column_count), table,
                                        key, i};
        qsort(rows, table->row_count, sizeof *rows, compare_rows);
        for (size_t i = 0; i < table->row_count; i++)
            memcpy(sorted + i * table->column_count, rows[i].cells, width);
        memcpy(table->cells.items, sorted, table->row_count * width);
    }
    bool ok = rows && sorted;
    stk_free(rows);
    stk_free(sorted);
    return ok;
}

void stk_table_cut(struct stk_table *table, uint64_t limit)
{
    if (limit == 0 || table->row_count <= limit)
        return;
    table->rows_left_out += table->row_count - limit;
    table->row_count = (size_t)limit;
    table->cells.count = table->row_count * table->column_count;
}

const struct stk_table *stk_table_find(const struct stk_table_doc *doc, const char *id)
{
    for (size_t i = 0; i < doc->table_count; i++)
        if (!id || strcmp(doc->tables[i].id, id) == 0)
            return &doc->tables[i];
    return NULL;
}

void stk_table_figure(struct stk_table_doc *doc, const char *key, enum stk_cell_type type,
                      struct stk_cell value)
{
    if (doc->summary_count < STK_TABLE_FIGURES)
        doc->summary[doc->summary_count++] =
            (struct stk_figure_row){.key = key, .type = type, .value = value};
}

void stk_table_figure_name(struct stk_table_doc *doc, const char *key, const char *name)
{
    size_t at = doc->summary_count;
    stk_table_figure(doc, key, STK_CELL_TEXT, stk_cell_text(name));
    if (doc->summary_count > at)
        doc->summary[at].is_name = true;
}

void stk_table_lacks(struct stk_table_doc *doc, const char *what, const char *why,
                     const char *remedy)
{
    if (doc->missing_count < STK_TABLE_MISSING)
        doc->missing[doc->missing_count++] = (struct stk_missing){what, why, remedy};
}
