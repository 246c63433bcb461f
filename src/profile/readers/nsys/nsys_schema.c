// SPDX-License-Identifier: Apache-2.0
// The tables and columns of a database, read once: tables when it is opened, a table's columns when
// first needed. Views, virtual tables and generated columns are excluded, since no code from the
// file may run.
#include "base/assert.h"
#include "profile/readers/nsys/nsys.h"

#include <stdio.h>

#define TABLES_MAX (1u << 24)
#define COLUMNS_MAX (1u << 16)

struct column {
    struct stk_str name;
    bool is_direct; // stored in records as SELECT gives it
};

struct table {
    struct stk_str name;
    const struct column *columns; // NULL: not asked yet; in the order of a record's fields
    size_t column_count;
    bool is_real;
    bool has_hidden; // columns, which move the fields of records
    uint32_t root_page;
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
        "SELECT name, type = 'table' AND substr(sql, 1, 13) = 'CREATE TABLE ' COLLATE NOCASE, "
        "rootpage FROM sqlite_master WHERE type IN ('table', 'view')";
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
            int64_t root = sqlite3_column_int64(st, 2);
            t->is_real = sqlite3_column_int(st, 1);
            t->root_page = root > 0 && root <= UINT32_MAX ? (uint32_t)root : 0;
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

uint32_t stk_nsys_root_page(const struct stk_nsys_schema *s, const char *table)
{
    const struct table *t = find(s, table);
    return t && t->is_real && !t->has_hidden ? t->root_page : 0;
}

// An integer key may be the rowid, which records don't repeat. Reals may be stored as integers.
static bool is_stored_plainly(const char *type, int key)
{
    static const char *const plain[] = {"INTEGER", "INT", "BIGINT", "TEXT"};
    for (size_t i = 0; type && key == 0 && i < sizeof plain / sizeof plain[0]; i++) {
        if (stk_str_eq_nocase(stk_str_from(type), stk_str_from(plain[i]))) {
            return true;
        }
    }
    return false;
}

// Generated and hidden columns are left out. Table names are our own constants.
static void read_columns(struct stk_nsys_schema *s, struct table *t)
{
    enum { NAME = 1, TYPE = 2, KEY = 5, HIDDEN = 6 };
    char sql[128];
    sqlite3_stmt *st = NULL;
    struct stk_vec columns;
    stk_vec_init(&columns, sizeof(struct column), COLUMNS_MAX);
    snprintf(sql, sizeof sql, "PRAGMA table_xinfo(\"%.*s\")", (int)t->name.n, t->name.p);
    bool ok = sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) == SQLITE_OK;
    while (ok && sqlite3_step(st) == SQLITE_ROW) {
        if (sqlite3_column_int(st, HIDDEN) != 0) {
            t->has_hidden = true;
            continue;
        }
        struct column *column = stk_vec_push(&columns);
        ok = column && keep_text(s, st, NAME, &column->name);
        s->out_of_memory |= !ok;
        if (ok) {
            column->is_direct = is_stored_plainly((const char *)sqlite3_column_text(st, TYPE),
                                                  sqlite3_column_int(st, KEY));
        }
    }
    sqlite3_finalize(st);
    t->column_count = columns.count;
    t->columns = s->out_of_memory ? NULL : stk_arena_items(&s->names, &columns);
    s->out_of_memory |= !t->columns;
    stk_vec_deinit(&columns);
}

// Place of the column in a record, or one of STK_NSYS_..._FIELD.
static int16_t place_of(struct stk_nsys_schema *s, struct table *t, struct stk_str column)
{
    if (!t->columns) {
        read_columns(s, t);
    }
    for (size_t i = 0; t->columns && i < t->column_count; i++) {
        if (stk_str_eq_nocase(t->columns[i].name, column)) {
            return t->columns[i].is_direct && i < STK_NSYS_FIELDS_MAX ? (int16_t)i
                                                                      : STK_NSYS_UNFIT_FIELD;
        }
    }
    return STK_NSYS_NO_FIELD;
}

bool stk_nsys_has_column(struct stk_nsys_schema *s, const char *table, const char *column)
{
    struct table *t = find(s, table);
    return t && t->is_real && place_of(s, t, stk_str_from(column)) != STK_NSYS_NO_FIELD;
}

int stk_nsys_select_list(struct stk_nsys_schema *s, const char *table, const char *columns,
                         char *out, size_t cap, struct stk_nsys_places *places)
{
    STK_ASSERT(cap > 0);
    struct table *t = find(s, table);
    int absent = 0;
    size_t at = 0;
    out[0] = 0;
    for (const char *p = columns; *p;) {
        bool needed = *p == '!';
        int16_t place = STK_NSYS_NO_FIELD;
        size_t whole = strcspn(p, ",");
        const char *end = p + whole;
        p += needed;
        struct stk_str pick = {NULL, 0};
        while (p < end && place == STK_NSYS_NO_FIELD) {
            size_t n = strcspn(p, ",|");
            pick = (struct stk_str){p, n};
            place = t ? place_of(s, t, pick) : STK_NSYS_NO_FIELD;
            p += n + (p[n] == '|');
        }
        bool present = place != STK_NSYS_NO_FIELD;
        if (needed && !present) {
            return -1;
        }
        if (places && places->count < STK_NSYS_CELLS_MAX) {
            places->field[places->count++] = place;
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
        stk_nsys_select_list(s, table, columns, list, sizeof list, NULL) < 0) {
        return NULL;
    }
    snprintf(sql, sizeof sql, "SELECT %s FROM \"%s\" NOT INDEXED %s", list, table, tail);
    return sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) == SQLITE_OK ? st : NULL;
}
