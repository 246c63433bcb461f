// SPDX-License-Identifier: Apache-2.0
// SQLite's errors for people: the place in the statement, and a suggestion.
#include <stdint.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/near.h"
#include "answers/query/sql_impl.h"
#include "answers/query/sql_lex.h"

struct guess {
    char typed[64];
    const char *best;
};

static void consider(struct guess *g, const char *name)
{
    g->best = stk_near_best(g->typed, g->best, name);
}

static bool mentions(const char *sql, const char *table)
{
    struct stk_sql_token t[256];
    size_t count = stk_sql_lex(sql, t, 256);
    for (size_t i = 0; count != SIZE_MAX && i < count; i++) {
        if (stk_sql_token_is(&t[i], table)) {
            return true;
        }
    }
    return false;
}

static void guess_column(struct guess *g, const char *sql)
{
    for (size_t t = 0; t < stk_sql_table_count; t++) {
        const struct stk_sql_table *table = stk_sql_tables[t];
        for (size_t c = 0; mentions(sql, table->name) && c < table->column_count; c++) {
            consider(g, stk_sql_column_name(table, c));
        }
    }
}

// Adds text, cut to the room left.
static void add(char *out, size_t size, const char *text)
{
    size_t used = strlen(out);
    snprintf(out + used, size - used, "%s", text);
}

// The columns of the tables in the statement; empty: no table.
static void list_columns(const char *sql, char *out, size_t size)
{
    for (size_t t = 0; t < stk_sql_table_count; t++) {
        const struct stk_sql_table *table = stk_sql_tables[t];
        if (!mentions(sql, table->name)) {
            continue;
        }
        add(out, size, "; ");
        add(out, size, table->name);
        add(out, size, " has ");
        for (size_t c = 0; c < table->column_count; c++) {
            add(out, size, c ? ", " : "");
            add(out, size, stk_sql_column_name(table, c));
        }
    }
}

static void list_tables(char *out, size_t size)
{
    size_t used = 0;
    for (size_t t = 0; t < stk_sql_table_count && used < size; t++) {
        used += (size_t)snprintf(out + used, size - used, "%s%s", t ? ", " : "",
                                 stk_sql_tables[t]->name);
    }
}

// The text after the prefix in the message: its last part after a dot.
static bool typed_after(const char *message, const char *prefix, struct guess *g)
{
    if (strncmp(message, prefix, strlen(prefix)) != 0) {
        return false;
    }
    const char *name = message + strlen(prefix), *point = strrchr(name, '.');
    snprintf(g->typed, sizeof g->typed, "%s", point ? point + 1 : name);
    return true;
}

static const char *last_word(const char *sql)
{
    struct stk_sql_token t[1000];
    size_t count = stk_sql_lex(sql, t, 1000);
    return count && count != SIZE_MAX ? t[count - 1].p : "";
}

static void advise(const char *sql, const char *message, char *out, size_t size)
{
    struct guess g = {.best = NULL};
    char tables[200];
    *out = 0;
    if (strcmp(message, "incomplete input") == 0) {
        snprintf(out, size, ": the statement ends too early, after '%.40s'", last_word(sql));
    }
    if (typed_after(message, "no such column: ", &g)) {
        guess_column(&g, sql);
    } else if (typed_after(message, "no such table: ", &g)) {
        for (size_t t = 0; t < stk_sql_table_count; t++) {
            consider(&g, stk_sql_tables[t]->name);
        }
        if (!g.best) {
            list_tables(tables, sizeof tables);
            snprintf(out, size, "; choose from: %s", tables);
            return;
        }
    }
    if (g.best) {
        snprintf(out, size, "; did you mean '%s'?", g.best);
    } else if (typed_after(message, "no such column: ", &g)) {
        list_columns(sql, out, size);
        add(out, size, *out ? "" : "; stoker query --tables lists them");
    }
}

// " (line 1, column 8)"; empty: unknown place.
static void locate(sqlite3 *db, const char *sql, char *out, size_t size)
{
    *out = 0;
#if SQLITE_VERSION_NUMBER >= 3038000
    int offset = sqlite3_error_offset(db), line = 1, column = 1;
    if (offset < 0 || (size_t)offset > strlen(sql)) {
        return;
    }
    for (int i = 0; i < offset; i++) {
        column = sql[i] == '\n' ? 1 : column + ((sql[i] & 0xc0) != 0x80);
        line += sql[i] == '\n';
    }
    snprintf(out, size, " (line %d, column %d)", line, column);
#else
    (void)db;
    (void)sql;
    (void)size;
#endif
}

enum stoker_status stk_sql_explain(struct stk_query *q, const char *sql, int code,
                                   struct stoker_err *err)
{
    STK_ASSERT(sql && code != 0);
    char advice[300], place[64];
    const char *message = sqlite3_errmsg(q->db->sql);
    if (q->db->err.code != STOKER_OK) {
        *err = q->db->err;
        return err->code;
    }
    if (q->db->interrupted) {
        return stk_err_set(err, STOKER_EINTR, "interrupted");
    }
    if (q->db->timed_out) {
        return stk_err_set(err, STOKER_ELIMIT,
                           "the query reached its time limit; --timeout sets another, 0s none");
    }
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return stk_err_nomem(err);
    case SQLITE_TOOBIG:
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        return stk_err_set(err, STOKER_ELIMIT, "the query needs too much memory: %s", message);
    case SQLITE_AUTH:
        return stk_err_set(err, STOKER_EUSAGE,
                           "a query can only read: SELECT, and WITH ... SELECT");
    default:
        locate(q->db->sql, sql, place, sizeof place);
        advise(sql, message, advice, sizeof advice);
        return stk_err_set(err, STOKER_EUSAGE, "%.200s%s%s", message, place, advice);
    }
}
