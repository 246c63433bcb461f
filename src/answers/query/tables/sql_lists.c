// SPDX-License-Identifier: Apache-2.0
// Small tables in SQL: numbered rows without conditions; SQLite does the rest.
#include "answers/query/tables/sql_module.h"

struct cursor {
    sqlite3_vtab_cursor base;
    uint64_t row, count;
};

static int list_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    struct stk_sql_vtab *v = (struct stk_sql_vtab *)base;
    double rows = (double)v->table->count(v->q) + 1;
    info->estimatedRows = (sqlite3_int64)rows;
    info->estimatedCost = rows;
    return SQLITE_OK;
}

static int list_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    (void)base;
    return stk_sql_open(sizeof(struct cursor), out);
}

static int list_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int argc,
                       sqlite3_value **argv)
{
    (void)number;
    (void)plan;
    (void)argc;
    (void)argv;
    struct cursor *c = (struct cursor *)base;
    struct stk_sql_vtab *v = (struct stk_sql_vtab *)base->pVtab;
    c->row = 0;
    c->count = v->table->count(v->q);
    return SQLITE_OK;
}

static int list_next(sqlite3_vtab_cursor *base)
{
    ((struct cursor *)base)->row++;
    return SQLITE_OK;
}

static int list_eof(sqlite3_vtab_cursor *base)
{
    struct cursor *c = (struct cursor *)base;
    return c->row >= c->count;
}

static int list_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    struct cursor *c = (struct cursor *)base;
    struct stk_sql_vtab *v = (struct stk_sql_vtab *)base->pVtab;
    struct stk_query_value value = {.kind = STK_VALUE_NULL};
    v->table->cell(v->q, c->row, column, &value);
    stk_sql_result(context, &value);
    return SQLITE_OK;
}

static int list_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = (sqlite3_int64)((struct cursor *)base)->row;
    return SQLITE_OK;
}

const sqlite3_module stk_sql_list_module = {
    .xConnect = stk_sql_connect,
    .xBestIndex = list_best_index,
    .xDisconnect = stk_sql_disconnect,
    .xOpen = list_open,
    .xClose = stk_sql_close,
    .xFilter = list_filter,
    .xNext = list_next,
    .xEof = list_eof,
    .xColumn = list_column,
    .xRowid = list_rowid,
};
