// SPDX-License-Identifier: Apache-2.0
// Tables "rows of kernels" and so on: the columns of the table, for rows that the running statement
// was given (struct stk_sql_rows), and hidden ones for values beside them. Empty where there are
// none.
#include <stdio.h>

#include "base/alloc.h"
#include "query/sql_module.h"

struct cursor {
    sqlite3_vtab_cursor base;
    size_t row;
};

static int rows_connect(sqlite3 *sql, void *module, int argc, const char *const *argv,
                        sqlite3_vtab **out, char **error)
{
    char extra[STK_SQL_VALUES_MAX * 20];
    size_t used = 0;
    (void)argc;
    (void)argv;
    (void)error;
    for (int i = 0; i < STK_SQL_VALUES_MAX; i++)
        used += (size_t)snprintf(extra + used, sizeof extra - used, ",\"value %d\" HIDDEN", i);
    return stk_sql_connect(sql, module, extra, out);
}

static const struct stk_sql_rows *rows_of(sqlite3_vtab_cursor *c)
{
    return ((struct stk_sql_vtab *)c->pVtab)->q->db->rows;
}

static int rows_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    (void)base;
    info->estimatedCost = (double)(info->estimatedRows = 1000);
    return SQLITE_OK;
}

static int rows_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    (void)base;
    struct cursor *c = stk_alloc_zero(1, sizeof *c);
    *out = c ? &c->base : NULL;
    return c ? SQLITE_OK : SQLITE_NOMEM;
}

static int rows_close(sqlite3_vtab_cursor *c)
{
    stk_free(c);
    return SQLITE_OK;
}

static int rows_filter(sqlite3_vtab_cursor *c, int number, const char *plan, int argc,
                       sqlite3_value **argv)
{
    (void)number;
    (void)plan;
    (void)argc;
    (void)argv;
    ((struct cursor *)c)->row = 0;
    return SQLITE_OK;
}

static int rows_next(sqlite3_vtab_cursor *c)
{
    ((struct cursor *)c)->row++;
    return SQLITE_OK;
}

static int rows_eof(sqlite3_vtab_cursor *c)
{
    return !rows_of(c) || ((struct cursor *)c)->row >= rows_of(c)->count;
}

static int rows_column(sqlite3_vtab_cursor *c, sqlite3_context *context, int column)
{
    const struct stk_sql_vtab *v = (struct stk_sql_vtab *)c->pVtab;
    const struct stk_sql_rows *rows = rows_of(c);
    size_t row = ((struct cursor *)c)->row;
    int which = column - (int)v->table->column_count;
    struct stk_query_value value = {.kind = STK_VALUE_NULL};
    if (which < 0)
        rows->field(rows->arg, row, (enum stk_query_field)v->table->columns[column].field, &value);
    else if (rows->value)
        rows->value(rows->arg, row, which, &value);
    stk_sql_result(context, &value);
    if (!v->q->failed)
        return SQLITE_OK;
    v->q->failed = false;
    return SQLITE_NOMEM;
}

static int rows_rowid(sqlite3_vtab_cursor *c, sqlite3_int64 *out)
{
    *out = (sqlite3_int64)((struct cursor *)c)->row;
    return SQLITE_OK;
}

const sqlite3_module stk_sql_rows_module = {
    .xConnect = rows_connect,
    .xBestIndex = rows_best_index,
    .xDisconnect = stk_sql_disconnect,
    .xOpen = rows_open,
    .xClose = rows_close,
    .xFilter = rows_filter,
    .xNext = rows_next,
    .xEof = rows_eof,
    .xColumn = rows_column,
    .xRowid = rows_rowid,
};
