// SPDX-License-Identifier: Apache-2.0
// All columns of one event's row, fetched by the table number and rowid in its position. Columns
// that hold an id of StringIds are given as their text, NULLs are left out. Only the low 32 bits of
// a rowid are kept: rows beyond 4 billion in a table cannot be fetched.
#include "base/alloc.h"
#include "base/assert.h"
#include "profile/readers/nsys/nsys.h"

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

static void emit_row(sqlite3_stmt *row, sqlite3_stmt *find, stk_emit_fn *emit, void *arg)
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

// Shared by many events: the connection, whose opening reads the schema, and a statement per table.
struct state {
    const char *path;
    sqlite3 *db;
    struct stk_nsys_schema schema;
    sqlite3_stmt *find; // a string by its id, or NULL
    sqlite3_stmt *rows[STK_NSYS_TABLES_MAX];
};

enum stoker_status stk_nsys_args_open(struct stk_stream *stream, const char *path, void **state,
                                      struct stoker_err *err)
{
    (void)stream;
    struct state *s = stk_alloc_zero(1, sizeof *s);
    *state = NULL;
    if (!s) {
        return stk_err_nomem(err);
    }
    s->path = path;
    enum stoker_status status = stk_nsys_db_open(&s->db, path, false, err);
    status = status == STOKER_OK ? stk_nsys_schema_read(&s->schema, s->db, err) : status;
    if (status != STOKER_OK) {
        stk_nsys_args_close(s);
        return status;
    }
    struct stk_nsys_file file = {.strings_by_rowid =
                                     stk_nsys_has_column(&s->schema, "StringIds", "value")};
    s->find = stk_nsys_names_prepare(s->db, &file);
    if (!stk_nsys_schema_is_whole(&s->schema)) { // there would be ids instead of names
        stk_nsys_args_close(s);
        return stk_err_nomem(err);
    }
    *state = s;
    return STOKER_OK;
}

void stk_nsys_args_close(void *state)
{
    struct state *s = state;
    if (!s) {
        return;
    }
    for (int i = 0; i < STK_NSYS_TABLES_MAX; i++) {
        sqlite3_finalize(s->rows[i]);
    }
    sqlite3_finalize(s->find);
    stk_nsys_schema_close(&s->schema);
    sqlite3_close(s->db);
    stk_free(s);
}

// Index of the table that an event came from, -1: none.
static int table_of(uint64_t pos)
{
    int found = -1;
    for (int i = 0; i < stk_nsys_table_count; i++) {
        found = stk_nsys_tables[i].number == pos >> 32 ? i : found;
    }
    return found;
}

static enum stoker_status prepare(struct state *s, int i, struct stoker_err *err)
{
    STK_ASSERT(i >= 0 && i < STK_NSYS_TABLES_MAX);
    char sql[160];
    const char *table = stk_nsys_tables[i].name;
    snprintf(sql, sizeof sql, "SELECT * FROM \"%s\" NOT INDEXED WHERE rowid = ?1", table);
    if (!s->rows[i] && (stk_nsys_table_state(&s->schema, table) != STK_NSYS_REAL ||
                        sqlite3_prepare_v2(s->db, sql, -1, &s->rows[i], NULL) != SQLITE_OK)) {
        return stk_nsys_db_error(s->db, s->path, "looking for an event's row", err);
    }
    return STOKER_OK;
}

enum stoker_status stk_nsys_args_next(void *state, const struct stk_trace *t, uint32_t event,
                                      stk_emit_fn *emit, void *arg, struct stoker_err *err)
{
    STK_ASSERT(event < t->count);
    struct state *s = state;
    uint64_t pos = stk_pos(t, event);
    int i = table_of(pos);
    enum stoker_status status = i < 0 ? STOKER_OK : prepare(s, i, err);
    if (i < 0 || status != STOKER_OK) {
        return status;
    }
    int rc = sqlite3_bind_int64(s->rows[i], 1, (int64_t)(pos & UINT32_MAX));
    rc = rc == SQLITE_OK ? sqlite3_step(s->rows[i]) : rc;
    if (rc == SQLITE_ROW) {
        emit_row(s->rows[i], s->find, emit, arg);
    } else if (rc != SQLITE_DONE) {
        status = stk_nsys_db_error(s->db, s->path, "reading an event's row", err);
    }
    sqlite3_reset(s->rows[i]);
    return status;
}
