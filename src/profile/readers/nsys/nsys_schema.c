// SPDX-License-Identifier: Apache-2.0
// Which tables and columns a database has, asked once: tables as it is opened, the columns of one
// when they are first needed. Views, virtual tables and generated columns are excluded, since
// no code from the file may run.
#include "base/assert.h"
#include "profile/readers/nsys/nsys.h"

#include <stdio.h>

#define TABLES_MAX (1u << 24)
#define COLUMNS_MAX (1u << 16)

struct table {
    struct stk_str name;
    const struct stk_str *columns; // NULL: not asked yet
    size_t column_count;
    bool is_real;
};

// Text of a result, in the arena; false: no memory.
static bool keep_text(struct stk_nsys_schema *s, sqlite3_stmt *st, int col, struct stk_str *out)
{
    STK_ASSERT(col >= 0 && col < sqlite3_column_count(st));
    const char *text = (const char *)sqlite3_column_text(st, col);
    size_t n = text ? (size_t)sqlite3_column_bytes(st, col) : 0;
    *out = (struct stk_str){stk_arena_strndup(&s->names, text ? text : "", n), n};
    return out->p;
}

enum stoker_status stk_nsys_schema_read(struct stk_nsys_schema *s, sqlite3 *db,
                                        struct stoker_err *err)
{
    static const char sql[] =
        "SELECT name, type = 'table' AND substr(sql, 1, 13) = 'CREATE TABLE ' COLLATE NOCASE "
        "FROM sqlite_master WHERE type IN ('table', 'view')";
    sqlite3_stmt *st = NULL;
    *s = (struct stk_nsys_schema){.db = db};
    stk_arena_init(&s->names, 0);
    stk_vec_init(&s->tables, sizeof(struct table), TABLES_MAX);
    bool ok = sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK;
    int rc = SQLITE_ERROR;
    while (ok && (rc = sqlite3_step(st)) == SQLITE_ROW) { // ends at a damaged page
        struct table *t = stk_vec_push(&s->tables);
        s->out_of_memory |= !t || !keep_text(s, st, 0, &t->name);
        ok = !s->out_of_memory;
        if (ok) {
            t->is_real = sqlite3_column_int(st, 1);
        }
    }
    s->is_cut = rc != SQLITE_DONE;
    sqlite3_finalize(st);
    return stk_nsys_schema_is_whole(s) ? STOKER_OK : stk_err_nomem(err);
}

void stk_nsys_schema_close(struct stk_nsys_schema *s)
{
    stk_vec_deinit(&s->tables);
    stk_arena_deinit(&s->names);
}

bool stk_nsys_schema_is_whole(const struct stk_nsys_schema *s)
{
    return !s->out_of_memory && sqlite3_errcode(s->db) != SQLITE_NOMEM;
}

static struct table *find(const struct stk_nsys_schema *s, const char *name)
{
    struct stk_str wanted = stk_str_from(name);
    for (size_t i = 0; i < s->tables.count; i++) {
        struct table *t = stk_vec_at(&s->tables, i);
        if (stk_str_eq_nocase(t->name, wanted)) {
            return t;
        }
    }
    return NULL;
}

enum stk_nsys_table_state stk_nsys_table_state(const struct stk_nsys_schema *s, const char *table)
{
    const struct table *t = find(s, table);
    return !t ? STK_NSYS_ABSENT : t->is_real ? STK_NSYS_REAL : STK_NSYS_UNFIT;
}

// table_info does not list generated and hidden columns. Table names are our own constants.
static void read_columns(struct stk_nsys_schema *s, struct table *t)
{
    char sql[128];
    sqlite3_stmt *st = NULL;
    struct stk_vec columns;
    stk_vec_init(&columns, sizeof(struct stk_str), COLUMNS_MAX);
    snprintf(sql, sizeof sql, "PRAGMA table_info(\"%.*s\")", (int)t->name.n, t->name.p);
    bool ok = sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) == SQLITE_OK;
    while (ok && sqlite3_step(st) == SQLITE_ROW) {
        struct stk_str *column = stk_vec_push(&columns);
        ok = column && keep_text(s, st, 1, column);
        s->out_of_memory |= !ok;
    }
    sqlite3_finalize(st);
    t->column_count = columns.count;
    t->columns = s->out_of_memory ? NULL : stk_arena_items(&s->names, &columns);
    s->out_of_memory |= !t->columns;
    stk_vec_deinit(&columns);
}

static bool has(struct stk_nsys_schema *s, struct table *t, struct stk_str column)
{
    if (!t->columns) {
        read_columns(s, t);
    }
    for (size_t i = 0; t->columns && i < t->column_count; i++) {
        if (stk_str_eq_nocase(t->columns[i], column)) {
            return true;
        }
    }
    return false;
}

bool stk_nsys_has_column(struct stk_nsys_schema *s, const char *table, const char *column)
{
    struct table *t = find(s, table);
    return t && t->is_real && has(s, t, stk_str_from(column));
}

int stk_nsys_select_list(struct stk_nsys_schema *s, const char *table, const char *columns,
                         char *out, size_t cap)
{
    STK_ASSERT(cap > 0);
    struct table *t = find(s, table);
    int absent = 0;
    size_t at = 0;
    out[0] = 0;
    for (const char *p = columns; *p;) {
        bool needed = *p == '!', present = false;
        size_t whole = strcspn(p, ",");
        const char *end = p + whole;
        p += needed;
        struct stk_str pick = {NULL, 0};
        while (p < end && !present) {
            size_t n = strcspn(p, ",|");
            pick = (struct stk_str){p, n};
            present = t && has(s, t, pick);
            p += n + (p[n] == '|');
        }
        if (needed && !present) {
            return -1;
        }
        absent += !present;
        int n = present ? snprintf(out + at, cap - at, "%s\"%.*s\"", at ? ", " : "", (int)pick.n,
                                   pick.p)
                        : snprintf(out + at, cap - at, "%sNULL", at ? ", " : "");
        at += (size_t)n;
        if (at >= cap) {
            return -1;
        }
        p = *end ? end + 1 : end;
    }
    return absent;
}

sqlite3_stmt *stk_nsys_select(struct stk_nsys_schema *s, const char *table, const char *columns,
                              const char *tail)
{
    char list[STK_NSYS_SQL_MAX - 200], sql[STK_NSYS_SQL_MAX];
    sqlite3_stmt *st = NULL;
    if (stk_nsys_table_state(s, table) != STK_NSYS_REAL ||
        stk_nsys_select_list(s, table, columns, list, sizeof list) < 0) {
        return NULL;
    }
    snprintf(sql, sizeof sql, "SELECT %s FROM \"%s\" NOT INDEXED %s", list, table, tail);
    return sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) == SQLITE_OK ? st : NULL;
}
