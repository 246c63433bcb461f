// SPDX-License-Identifier: Apache-2.0
// Tables "rows of kernels" and so on: the columns of the table, for the rows of the running
// statement (struct stk_sql_rows). Hidden columns say which rows ("rows id", required) and hold
// further values.
#include <stdio.h>
#include <string.h>

#include "answers/query/tables/sql_module.h"

struct cursor {
    sqlite3_vtab_cursor base;
    const struct stk_sql_rows *rows;
    size_t row;
};

static int rows_connect(sqlite3 *sql, void *module, int argc, const char *const *argv,
                        sqlite3_vtab **out, char **error)
{
    char extra[STK_SQL_VALUES_MAX * 20 + 40] = ",\"rows id\" HIDDEN";
    size_t used = strlen(extra);
    (void)argc;
    (void)argv;
    (void)error;
    for (int i = 0; i < STK_SQL_VALUES_MAX; i++) {
        used += (size_t)snprintf(extra + used, sizeof extra - used, ",\"value %d\" HIDDEN", i);
    }
    return stk_sql_declare(sql, module, extra, out);
}

static int rows_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct stk_sql_vtab *v = (struct stk_sql_vtab *)base;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        if (!c->usable || c->op != SQLITE_INDEX_CONSTRAINT_EQ ||
            c->iColumn != (int)v->table->column_count) {
            continue;
        }
        info->aConstraintUsage[i].argvIndex = 1;
        info->aConstraintUsage[i].omit = 1;
        info->estimatedCost = (double)(info->estimatedRows = 1000);
        return SQLITE_OK;
    }
    return SQLITE_CONSTRAINT;
}

static int rows_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    (void)base;
    return stk_sql_open(sizeof(struct cursor), out);
}

static int rows_filter(sqlite3_vtab_cursor *c, int number, const char *plan, int argc,
                       sqlite3_value **argv)
{
    sqlite3_int64 id = argc == 1 ? sqlite3_value_int64(argv[0]) : -1;
    const struct stk_query_db *db = ((struct stk_sql_vtab *)c->pVtab)->q->db;
    (void)number;
    (void)plan;
    ((struct cursor *)c)->rows = id >= 0 && id < STK_SQL_ROWS_MAX ? db->rows[id] : NULL;
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
    const struct stk_sql_rows *rows = ((struct cursor *)c)->rows;
    return !rows || ((struct cursor *)c)->row >= rows->count;
}

static int rows_column(sqlite3_vtab_cursor *c, sqlite3_context *context, int column)
{
    const struct stk_sql_vtab *v = (struct stk_sql_vtab *)c->pVtab;
    const struct stk_sql_rows *rows = ((struct cursor *)c)->rows;
    size_t row = ((struct cursor *)c)->row;
    int which = column - (int)v->table->column_count - 1;
    struct stk_query_value value = {.kind = STK_VALUE_NULL};
    if (which < -1) {
        rows->field(rows->arg, row, (enum stk_query_field)v->table->columns[column].field, &value);
    } else if (which >= 0 && rows->value) {
        rows->value(rows->arg, row, which, &value);
    }
    stk_sql_result(context, &value);
    if (!v->q->failed) {
        return SQLITE_OK;
    }
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
    .xClose = stk_sql_close,
    .xFilter = rows_filter,
    .xNext = rows_next,
    .xEof = rows_eof,
    .xColumn = rows_column,
    .xRowid = rows_rowid,
};
