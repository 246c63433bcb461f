// SPDX-License-Identifier: Apache-2.0
// Building a table document. Sorting is by an index of rows, so that rows of any width move once.
#include "results/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"

#define MAX_CELLS ((size_t)1 << 28)
#define KEEP_SLACK 4096 // rows beyond twice the kept ones, before some are dropped

void stk_table_doc_init(struct stk_table_doc *doc, struct stk_arena *arena, const char *analysis)
{
    *doc = (struct stk_table_doc){.arena = arena, .analysis = analysis};
}

void stk_table_doc_deinit(struct stk_table_doc *doc)
{
    for (size_t i = 0; i < doc->table_count; i++) {
        stk_vec_deinit(&doc->tables[i].cells);
    }
    doc->table_count = 0;
}

struct stk_table *stk_table_add(struct stk_table_doc *doc, const struct stk_table_info *info)
{
    STK_ASSERT(doc->table_count < STK_TABLE_MAX);
    struct stk_table *table = &doc->tables[doc->table_count++];
    *table = (struct stk_table){.id = info->id,
                                .title = info->title,
                                .columns = info->columns,
                                .column_count = info->column_count};
    stk_vec_init(&table->cells, sizeof(struct stk_cell), MAX_CELLS);
    return table;
}

bool stk_table_doc_ran_out(const struct stk_table_doc *doc)
{
    bool ran_out = doc->ran_out;
    for (size_t i = 0; i < doc->table_count; i++) {
        ran_out |= doc->tables[i].ran_out;
    }
    return ran_out;
}

static size_t find_column(const struct stk_table *table, const char *column)
{
    size_t key = 0;
    while (key + 1 < table->column_count && strcmp(table->columns[key].id, column) != 0) {
        key++;
    }
    return key;
}

void stk_table_keep(struct stk_table *table, const char *column, uint64_t limit)
{
    table->keep = limit < MAX_CELLS ? (size_t)limit : 0;
    table->keep_key = find_column(table, column);
}

static bool drop_rows(struct stk_table *table);

struct stk_cell *stk_table_row(struct stk_table *table)
{
    if (table->keep && table->row_count >= 2 * table->keep + KEEP_SLACK && !drop_rows(table)) {
        return NULL;
    }
    struct stk_cell *row = stk_vec_push_n(&table->cells, table->column_count);
    if (!row) {
        return NULL;
    }
    for (size_t c = 0; c < table->column_count; c++) {
        row[c] = stk_cell_unknown();
    }
    table->row_count++;
    return row;
}

bool stk_cell_fits(const struct stk_column *column, const struct stk_cell *cell)
{
    return cell->known ? cell->holds == stk_type_info(column->type)->holds
                       : cell->holds != STK_HOLDS_UNSET;
}

bool stk_table_put_cells(struct stk_table *table, const struct stk_cell *cells, size_t count)
{
    STK_ASSERT(count >= table->column_count);
    struct stk_cell *row = stk_table_row(table);
    if (!row) {
        table->ran_out = true;
        return false;
    }
    for (size_t c = 0; c < table->column_count; c++) {
        STK_ASSERT(table->columns[c].at == c && stk_cell_fits(&table->columns[c], &cells[c]));
        row[c] = cells[c];
    }
    return true;
}

const struct stk_column *stk_table_check(const struct stk_table_doc *doc)
{
    for (size_t i = 0; i < doc->table_count; i++) {
        const struct stk_table *t = &doc->tables[i];
        const struct stk_cell *cells = t->cells.items;
        for (size_t k = 0; k < t->row_count * t->column_count; k++) {
            if (!stk_cell_fits(&t->columns[k % t->column_count], &cells[k])) {
                return &t->columns[k % t->column_count];
            }
        }
    }
    return NULL;
}

// Largest number first, texts in order, unknown values last.
static int compare_cells(enum stk_type type, const struct stk_cell *a, const struct stk_cell *b)
{
    if (!a->known || !b->known) {
        return b->known - a->known;
    }
    switch (type) {
    case STK_TYPE_TEXT:
        return strcmp(a->text, b->text);
    case STK_TYPE_SHARE:
    case STK_TYPE_RATE:
    case STK_TYPE_REAL:
        return (b->ratio > a->ratio) - (b->ratio < a->ratio);
    case STK_TYPE_BOOL:
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
    for (size_t c = 0; c < a->key && order == 0; c++) {
        order = compare_cells(columns[c].type, &a->cells[c], &b->cells[c]);
    }
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

// Move the first `count` rows to the front, in any order (Hoare's selection).
static void select_rows(struct sort_row *rows, size_t n, size_t count)
{
    size_t low = 0, high = n;
    while (high - low > 1 && low < count) {
        struct sort_row pivot =
            rows[low + (high - low - 1) / 2]; // never the last: both sides hold some
        size_t i = low, k = high - 1;
        for (;; i++, k--) {
            while (compare_rows(&rows[i], &pivot) < 0) {
                i++;
            }
            while (compare_rows(&pivot, &rows[k]) < 0) {
                k--;
            }
            if (i >= k) {
                break;
            }
            struct sort_row swapped = rows[i];
            rows[i] = rows[k];
            rows[k] = swapped;
        }
        if (k + 1 <= count) {
            low = k + 1;
        } else {
            high = k + 1;
        }
    }
}

// Keep the first table->keep rows, in the order in which they were added: equal rows stay in that
// order, even if more are added later.
static bool drop_rows(struct stk_table *table)
{
    size_t n = table->row_count, width = table->column_count;
    struct sort_row *rows = stk_alloc_array(n, sizeof *rows);
    bool *kept = stk_alloc_zero(n, sizeof *kept);
    if (rows && kept) {
        struct stk_cell *cells = table->cells.items;
        size_t to = 0;
        for (size_t i = 0; i < n; i++) {
            rows[i] = (struct sort_row){&cells[i * width], table, table->keep_key, i};
        }
        select_rows(rows, n, table->keep);
        for (size_t i = 0; i < table->keep; i++) {
            kept[rows[i].index] = true;
        }
        for (size_t i = 0; i < n; i++) {
            if (kept[i]) {
                memmove(&cells[to++ * width], &cells[i * width], width * sizeof *cells);
            }
        }
        stk_table_cut(table, table->keep);
    }
    bool ok = rows && kept;
    stk_free(rows);
    stk_free(kept);
    return ok;
}

bool stk_table_sort(struct stk_table *table, const char *column)
{
    size_t key = find_column(table, column), width = table->column_count * sizeof(struct stk_cell);
    if (table->row_count < 2) {
        return true;
    }
    struct sort_row *rows = stk_alloc_array(table->row_count, sizeof *rows);
    struct stk_cell *sorted = stk_alloc_array(table->row_count, width);
    if (rows && sorted) {
        for (size_t i = 0; i < table->row_count; i++) {
            rows[i] = (struct sort_row){stk_vec_at(&table->cells, i * table->column_count), table,
                                        key, i};
        }
        stk_sort(rows, table->row_count, sizeof *rows, compare_rows);
        for (size_t i = 0; i < table->row_count; i++) {
            memcpy(sorted + i * table->column_count, rows[i].cells, width);
        }
        memcpy(table->cells.items, sorted, table->row_count * width);
    }
    bool ok = rows && sorted;
    table->ran_out |= !ok;
    stk_free(rows);
    stk_free(sorted);
    return ok;
}

void stk_table_cut(struct stk_table *table, uint64_t limit)
{
    if (limit == 0 || table->row_count <= limit) {
        return;
    }
    table->rows_left_out += table->row_count - limit;
    table->row_count = (size_t)limit;
    table->cells.count = table->row_count * table->column_count;
}

const struct stk_table *stk_table_find(const struct stk_table_doc *doc, const char *id)
{
    for (size_t i = 0; i < doc->table_count; i++) {
        if (!id || strcmp(doc->tables[i].id, id) == 0) {
            return &doc->tables[i];
        }
    }
    return NULL;
}

void stk_table_put_figures(struct stk_table_doc *doc, const struct stk_summary_info *info,
                           const struct stk_cell *cells, size_t count)
{
    STK_ASSERT(count == info->figure_count && doc->summary_count + count <= STK_TABLE_FIGURES);
    for (size_t i = 0; i < count && doc->summary_count < STK_TABLE_FIGURES; i++) {
        const struct stk_column *f = &info->figures[i];
        STK_ASSERT(f->at == i && stk_cell_fits(f, &cells[i]));
        doc->summary[doc->summary_count++] = (struct stk_figure_row){.key = f->id,
                                                                     .label = f->label,
                                                                     .type = f->type,
                                                                     .is_name = f->is_name,
                                                                     .value = cells[i]};
    }
}

void stk_table_lacks(struct stk_table_doc *doc, const struct stk_missing *missing)
{
    if (doc->missing_count < STK_TABLE_MISSING) {
        doc->missing[doc->missing_count++] = *missing;
    }
}
