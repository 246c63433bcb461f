// SPDX-License-Identifier: Apache-2.0
// All columns of one event's row, fetched by the table number and rowid in its position. Columns
// that hold an id of StringIds are given as their text, NULLs are left out. Only the low 32 bits of
// a rowid are kept: rows beyond 4 billion in a table cannot be fetched.
#include "base/assert.h"
#include "readers/nsys/nsys.h"

#include <stdio.h>

static bool is_string_id(const char *column)
{
    static const char *const columns[] = {"nameId",    "textId",      "demangledName",
                                          "shortName", "mangledName", "jsonTextId"};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        if (strcmp(column, columns[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void emit_row(sqlite3_stmt *row, sqlite3_stmt *find,
                     void (*emit)(void *arg, struct stk_str key, struct stk_str value), void *arg)
{
    for (int col = 0; col < sqlite3_column_count(row); col++) {
        const char *key = sqlite3_column_name(row, col);
        int type = sqlite3_column_type(row, col);
        if (!key || type == SQLITE_NULL) {
            continue;
        }
        sqlite3_stmt *from = row;
        int at = col;
        if (find && type == SQLITE_INTEGER && is_string_id(key)) {
            sqlite3_bind_int64(find, 1, sqlite3_column_int64(row, col));
            if (sqlite3_step(find) == SQLITE_ROW) {
                from = find;
                at = 0;
            }
        }
        const char *text = (const char *)sqlite3_column_text(from, at);
        if (text) {
            emit(arg, stk_str_from(key),
                 (struct stk_str){text, (size_t)sqlite3_column_bytes(from, at)});
        }
        sqlite3_reset(find);
    }
}

enum stoker_status stk_nsys_args(struct stk_stream *stream, const char *path,
                                 const struct stk_trace *t, uint32_t event,
                                 void (*emit)(void *arg, struct stk_str key, struct stk_str value),
                                 void *arg, struct stoker_err *err)
{
    STK_ASSERT(event < t->count);
    (void)stream;
    uint64_t pos = stk_pos(t, event);
    const struct stk_nsys_table *table = NULL;
    for (int i = 0; i < stk_nsys_table_count; i++) {
        if (stk_nsys_tables[i].number == pos >> 32) {
            table = &stk_nsys_tables[i];
        }
    }
    if (!table) {
        return STOKER_OK;
    }
    sqlite3 *db;
    enum stoker_status status = stk_nsys_db_open(&db, path, err);
    if (status != STOKER_OK) {
        return status;
    }
    struct stk_nsys_file file = {.strings_by_rowid =
                                     stk_nsys_db_has_column(db, "StringIds", "value")};
    sqlite3_stmt *row = NULL, *find = stk_nsys_names_prepare(db, &file);
    char sql[160];
    snprintf(sql, sizeof sql, "SELECT * FROM \"%s\" NOT INDEXED WHERE rowid = ?1", table->name);
    if (stk_nsys_db_table(db, table->name) != STK_NSYS_REAL ||
        sqlite3_prepare_v2(db, sql, -1, &row, NULL) != SQLITE_OK ||
        sqlite3_bind_int64(row, 1, (int64_t)(pos & UINT32_MAX)) != SQLITE_OK) {
        status = stk_nsys_db_error(db, path, "looking for an event's row", err);
    } else {
        int rc = sqlite3_step(row);
        if (rc == SQLITE_ROW) {
            emit_row(row, find, emit, arg);
        } else if (rc != SQLITE_DONE) {
            status = stk_nsys_db_error(db, path, "reading an event's row", err);
        }
    }
    sqlite3_finalize(row);
    sqlite3_finalize(find);
    sqlite3_close(db);
    return status;
}
