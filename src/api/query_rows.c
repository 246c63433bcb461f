// SPDX-License-Identifier: Apache-2.0
// Collects rows. SQL types values and tables type columns, so a column's type is settled once all
// rows are there: its declared unit if every value is an integer, else a number, else text. Rows
// beyond the limit are only counted.
#include "api/query_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/open.h"
#include "base/assert.h"

// A value exists twice for a moment: as received, and as a cell. Rows may take a third of the
// memory.
#define VALUE_BYTES (sizeof(struct stk_query_value) + sizeof(struct stk_cell))
#define VALUES_MAX ((uint64_t)1 << 28)

static enum stoker_status begin(void *arg, const struct stk_query_column *columns, size_t count,
                                struct stoker_err *err)
{
    struct stk_query_rows *r = arg;
    struct stk_arena *arena = &r->tables->in.arena;
    r->columns = stk_arena_array(arena, count + 1, sizeof *r->columns);
    r->column_count = count;
    if (!r->columns) {
        return stk_err_nomem(err);
    }
    for (size_t c = 0; c < count; c++) {
        r->types[c] = columns[c].type;
        r->columns[c].id = stk_arena_strdup(arena, columns[c].name);
        if (!r->columns[c].id) {
            return stk_err_nomem(err);
        }
    }
    return STOKER_OK;
}

static bool keep_text(struct stk_query_rows *r, struct stk_query_value *v)
{
    struct stk_strpool *pool = &r->tables->texts;
    uint32_t id = stk_strpool_intern(pool, v->text.p, v->text.n);
    if (id == STK_STRPOOL_FAILED) {
        return false;
    }
    v->text = stk_strpool_get(pool, id);
    return true;
}

static enum stoker_status row(void *arg, const struct stk_query_value *values,
                              struct stoker_err *err)
{
    struct stk_query_rows *r = arg;
    r->rows++;
    struct stk_query_value *out = stk_vec_push_n(&r->values, r->column_count);
    if (!out) {
        return stk_err_set(err, STOKER_ELIMIT, "the result doesn't fit in memory: use --limit");
    }
    memcpy(out, values, r->column_count * sizeof *out);
    for (size_t c = 0; c < r->column_count; c++) {
        if (out[c].kind == STK_VALUE_TEXT && !keep_text(r, &out[c])) {
            return stk_err_set(err, STOKER_ELIMIT,
                               "the texts of the result don't fit in memory: use --limit");
        }
    }
    return STOKER_OK;
}

static void left_out(void *arg, uint64_t rows)
{
    ((struct stk_query_rows *)arg)->rows += rows;
}

void stk_query_rows_init(struct stk_query_rows *r, struct stoker_tables *tables, uint64_t limit)
{
    *r = (struct stk_query_rows){.tables = tables, .limit = limit};
    uint64_t most = stk_open_cap_bytes() / 3 / VALUE_BYTES;
    stk_vec_init(&r->values, sizeof(struct stk_query_value),
                 most < VALUES_MAX ? (size_t)most : (size_t)VALUES_MAX);
}

void stk_query_rows_deinit(struct stk_query_rows *r)
{
    stk_vec_deinit(&r->values);
}

struct stk_query_sink stk_query_rows_sink(struct stk_query_rows *r)
{
    return (struct stk_query_sink){
        .limit = r->limit, .left_out = left_out, .begin = begin, .row = row, .arg = r};
}

static enum stk_type cell_type(const struct stk_query_rows *r, size_t column)
{
    const struct stk_query_value *values = r->values.items;
    enum stk_type type = r->types[column] == STK_TYPE_NAME  ? STK_TYPE_TEXT
                         : r->types[column] == STK_TYPE_ANY ? STK_TYPE_NUMBER
                                                            : r->types[column];
    bool real = false, number = false, text = false, truth = true;
    for (size_t i = column; i < r->values.count; i += r->column_count) {
        text |= values[i].kind == STK_VALUE_TEXT;
        real |= values[i].kind == STK_VALUE_REAL;
        number |= values[i].kind == STK_VALUE_INT;
        truth &= values[i].kind == STK_VALUE_NULL ||
                 (values[i].kind == STK_VALUE_INT && (values[i].number | 1) == 1);
    }
    if (text || (type == STK_TYPE_TEXT && !real && !number)) {
        return STK_TYPE_TEXT;
    }
    if (type == STK_TYPE_SHARE) {
        return type;
    }
    if (real) {
        return STK_TYPE_REAL;
    }
    return type == STK_TYPE_TEXT || (type == STK_TYPE_BOOL && !truth) ? STK_TYPE_NUMBER : type;
}

// A number in a column of texts.
static const char *number_text(struct stk_query_rows *r, const struct stk_query_value *v)
{
    return v->kind == STK_VALUE_INT ? stk_arena_printf(&r->tables->in.arena, "%" PRId64, v->number)
                                    : stk_arena_printf(&r->tables->in.arena, "%.15g", v->real);
}

static bool fill_cell(struct stk_query_rows *r, enum stk_type type, const struct stk_query_value *v,
                      struct stk_cell *out)
{
    if (v->kind == STK_VALUE_NULL) {
        return true;
    }
    switch (type) {
    case STK_TYPE_TEXT:
        *out = stk_cell_text(v->kind == STK_VALUE_TEXT ? v->text.p : number_text(r, v));
        return out->known;
    case STK_TYPE_REAL:
    case STK_TYPE_SHARE:
        *out = stk_cell_ratio(v->kind == STK_VALUE_INT ? (double)v->number : v->real);
        return true;
    case STK_TYPE_BOOL:
        *out = stk_cell_truth(v->number != 0);
        return true;
    default:
        *out = stk_cell_number(v->number);
        return true;
    }
}

enum stoker_status stk_query_rows_finish(struct stk_query_rows *r, const char *id,
                                         const char *title, struct stoker_err *err)
{
    STK_ASSERT(r->column_count == 0 || r->values.count % r->column_count == 0);
    const struct stk_query_value *values = r->values.items;
    for (size_t c = 0; c < r->column_count; c++) {
        r->columns[c].type = cell_type(r, c);
        r->columns[c].is_given = true;
        r->columns[c].is_name = r->columns[c].type == STK_TYPE_TEXT;
    }
    const struct stk_table_info info = {id, title, r->columns, r->column_count};
    struct stk_table *table = stk_table_add(&r->tables->doc, &info);
    for (size_t i = 0; r->column_count && i < r->values.count; i += r->column_count) {
        struct stk_cell *cells = stk_table_row(table);
        if (!cells) {
            return stk_err_nomem(err);
        }
        for (size_t c = 0; c < r->column_count; c++) {
            if (!fill_cell(r, r->columns[c].type, &values[i + c], &cells[c])) {
                return stk_err_nomem(err);
            }
        }
    }
    table->rows_left_out = r->rows - table->row_count;
    return STOKER_OK;
}
