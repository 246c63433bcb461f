// SPDX-License-Identifier: Apache-2.0
// Runs one statement: first prepares it as written, which finds its errors and the names and types
// of its columns; then, if batches can answer its form, runs the statement over their results
// instead (columns/columns.h).
#include <stdint.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "answers/query/columns/columns.h"
#include "answers/query/sql_impl.h"
#include "answers/query/sql_lex.h"

static enum stk_type type_by_name(const char *name, size_t n)
{
    STK_ASSERT(name || n == 0);
    static const struct {
        const char *suffix;
        enum stk_type type;
    } units[] = {{"_ns", STK_TYPE_NS}, {"_bytes", STK_TYPE_BYTES}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (n > strlen(units[i].suffix) &&
            strncasecmp(name + n - strlen(units[i].suffix), units[i].suffix,
                        strlen(units[i].suffix)) == 0) {
            return units[i].type;
        }
    }
    for (size_t t = 0; t < stk_sql_table_count; t++) {
        int column = stk_sql_column_find(stk_sql_tables[t], name, n);
        if (column >= 0) {
            return stk_sql_column_type(stk_sql_tables[t], (size_t)column);
        }
    }
    return STK_TYPE_ANY;
}

// sum(dur_ns) has the unit of dur_ns; a column named x_ns counts as nanoseconds.
static enum stk_type expression_type(const char *name)
{
    static const char *const same_unit[] = {"sum", "min", "max", "avg", "total"};
    struct stk_sql_token t[8];
    size_t count = stk_sql_lex(name, t, 8);
    if (count == SIZE_MAX || count == 0) {
        return STK_TYPE_ANY;
    }
    if (count == 1) {
        enum stk_type type = type_by_name(t[0].p, t[0].n);
        return type == STK_TYPE_NS || type == STK_TYPE_BYTES ? type : STK_TYPE_ANY;
    }
    if (!stk_sql_token_is(&t[count - 1], ")") || !stk_sql_token_is(&t[1], "(") ||
        (count != 4 && !(count == 6 && stk_sql_token_is(&t[3], ".")))) {
        return STK_TYPE_ANY;
    }
    for (size_t i = 0; i < sizeof same_unit / sizeof same_unit[0]; i++) {
        if (stk_sql_token_is(&t[0], same_unit[i])) {
            return type_by_name(t[count - 2].p, t[count - 2].n);
        }
    }
    return STK_TYPE_ANY;
}

static enum stoker_status begin_rows(sqlite3_stmt *stmt, const struct stk_query_sink *sink,
                                     struct stoker_err *err)
{
    struct stk_query_column columns[STK_QUERY_COLUMNS_MAX];
    int count = sqlite3_column_count(stmt);
    for (int i = 0; i < count; i++) {
        const char *name = sqlite3_column_name(stmt, i);
        if (!name) {
            return stk_err_nomem(err);
        }
        columns[i] = (struct stk_query_column){
            .name = name, .type = stk_type_declared(sqlite3_column_decltype(stmt, i))};
        if (columns[i].type == STK_TYPE_ANY) {
            columns[i].type = expression_type(name);
        }
    }
    return sink->begin(sink->arg, columns, (size_t)count, err);
}

static void read_value(sqlite3_stmt *stmt, int i, struct stk_query_value *out)
{
    STK_ASSERT(i >= 0 && i < sqlite3_column_count(stmt));
    switch (sqlite3_column_type(stmt, i)) {
    case SQLITE_INTEGER:
        *out = (struct stk_query_value){.kind = STK_VALUE_INT,
                                        .number = sqlite3_column_int64(stmt, i)};
        break;
    case SQLITE_FLOAT:
        *out = (struct stk_query_value){.kind = STK_VALUE_REAL,
                                        .real = sqlite3_column_double(stmt, i)};
        break;
    case SQLITE_NULL:
        *out = (struct stk_query_value){.kind = STK_VALUE_NULL};
        break;
    default: {
        const char *text = (const char *)sqlite3_column_text(stmt, i); // blobs as they are
        stk_value_str(out, text ? (struct stk_str){text, strlen(text)} : STK_STR(""));
    }
    }
}

// SQLITE_DONE, an error of SQLite, or SQLITE_ROW at the limit; *status is the sink's.
static int step_rows(sqlite3_stmt *stmt, const struct stk_query_sink *sink, uint64_t *rows,
                     enum stoker_status *status, struct stoker_err *err)
{
    struct stk_query_value values[STK_QUERY_COLUMNS_MAX];
    int code, count = sqlite3_column_count(stmt);
    while ((code = sqlite3_step(stmt)) == SQLITE_ROW && *status == STOKER_OK) {
        if (sink->limit && *rows == sink->limit) {
            return code; // at the first row beyond the limit
        }
        for (int i = 0; i < count; i++) {
            read_value(stmt, i, &values[i]);
        }
        *status = sink->row(sink->arg, values, err);
        ++*rows;
    }
    return code;
}

// Counts the statement's rows without making them. SQLITE_DONE, or an error.
static int count_rows(struct stk_query *q, const char *sql, size_t length, int64_t *rows)
{
    sqlite3_stmt *stmt = NULL;
    while (length && strchr("; \t\r\n", sql[length - 1])) {
        length--;
    }
    // The line break ends a comment at the end of the statement.
    char *text = sqlite3_mprintf("select count(*) from (%.*s\n)", (int)length, sql);
    int code = text ? sqlite3_prepare_v2(q->db->sql, text, -1, &stmt, NULL) : SQLITE_NOMEM;
    sqlite3_free(text);
    if (code == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW) {
        *rows = sqlite3_column_int64(stmt, 0);
        code = SQLITE_DONE;
    } else if (code == SQLITE_OK) {
        code = sqlite3_errcode(q->db->sql);
    }
    sqlite3_finalize(stmt);
    return code;
}

// Whether rows are made one by one on request: then counting without making them saves most of the
// work. Otherwise the work is done before the first row.
static bool is_scan(const char *sql)
{
    static const char *const words[] = {"group",  "order", "distinct", "union",
                                        "except", "over",  "intersect"};
    struct stk_sql_token t[400];
    size_t count = stk_sql_lex(sql, t, 400);
    for (size_t i = 0; count != SIZE_MAX && i < count; i++) {
        for (size_t w = 0; w < sizeof words / sizeof words[0]; w++) {
            if (stk_sql_token_is(&t[i], words[w])) {
                return false;
            }
        }
    }
    return count != SIZE_MAX;
}

// Counts the rows from the present one of `stmt` on: by a counting statement, or one by one if that
// isn't faster or isn't possible (EXPLAIN, PRAGMA).
static int count_rest(struct stk_query *q, const char *sql, size_t length, sqlite3_stmt *stmt,
                      const struct stk_query_sink *sink)
{
    int64_t all = 0;
    uint64_t rest = 1;
    int code = is_scan(sql) ? count_rows(q, sql, length, &all) : SQLITE_ERROR;
    if (code == SQLITE_DONE && all > 0 && (uint64_t)all > sink->limit) {
        rest = (uint64_t)all - sink->limit;
    } else if (code == SQLITE_INTERRUPT || code == SQLITE_NOMEM) {
        return code;
    } else {
        while ((code = sqlite3_step(stmt)) == SQLITE_ROW) {
            rest++;
        }
    }
    sink->left_out(sink->arg, rest);
    return code;
}

static enum stoker_status check_statement(sqlite3_stmt *stmt, const char *tail,
                                          struct stoker_err *err)
{
    struct stk_sql_token rest[1];
    if (!stmt) {
        return stk_err_set(err, STOKER_EUSAGE, "there is no statement: give a SELECT");
    }
    if (stk_sql_lex(tail, rest, 1) != 0) {
        return stk_err_set(err, STOKER_EUSAGE, "one statement at a time: '%.40s' follows", tail);
    }
    if (sqlite3_column_count(stmt) == 0 || !sqlite3_stmt_readonly(stmt)) {
        return stk_err_set(err, STOKER_EUSAGE, "only statements that read are allowed: SELECT");
    }
    if (sqlite3_column_count(stmt) > STK_QUERY_COLUMNS_MAX) {
        return stk_err_set(err, STOKER_EUSAGE, "%d columns: at most %d can be printed",
                           sqlite3_column_count(stmt), STK_QUERY_COLUMNS_MAX);
    }
    if (sqlite3_bind_parameter_count(stmt) > 0) {
        return stk_err_set(err, STOKER_EUSAGE,
                           "the statement has parameters (?, :name), which can't be set here");
    }
    return STOKER_OK;
}

// Runs the statement over the engine's results; returns SQLITE_DONE or an error, like step_rows.
static int run_rest(const struct stk_columns_answer *a, sqlite3_stmt *stmt,
                    const struct stk_query_sink *sink, enum stoker_status *status,
                    struct stoker_err *err)
{
    uint64_t rows = 0, rest = 1, all;
    int code = step_rows(stmt, sink, &rows, status, err);
    if (*status != STOKER_OK || code != SQLITE_ROW) {
        return code;
    }
    if (stk_columns_answer_count(a, &all)) {
        rest = all - rows;
        code = SQLITE_DONE;
    } else {
        while ((code = sqlite3_step(stmt)) == SQLITE_ROW) {
            rest++;
        }
    }
    sink->left_out(sink->arg, rest);
    return code;
}

// Runs by columns the part of the statement with a suitable form. False: SQLite must answer alone.
static bool run_columns(struct stk_query *q, const char *sql, size_t length, sqlite3_stmt *stmt,
                        const struct stk_query_sink *sink, enum stoker_status *status,
                        struct stoker_err *err)
{
    sqlite3_stmt *rest = NULL;
    char *text = sqlite3_mprintf("%.*s", (int)length, sql);
    struct stk_columns_answer *a = text ? stk_columns_answer_begin(q, text, sink->limit) : NULL;
    bool done =
        a &&
        sqlite3_prepare_v2(q->db->sql, stk_columns_answer_rest(a), -1, &rest, NULL) == SQLITE_OK &&
        sqlite3_column_count(rest) == sqlite3_column_count(stmt);
    if (done) {
        q->db->batches_used = true;
        int code = run_rest(a, rest, sink, status, err);
        if (*status == STOKER_OK && code != SQLITE_DONE) {
            *status = stk_sql_explain(q, sql, code, err);
        }
    } else if (q->db->interrupted || q->db->timed_out) {
        done = true;
        *status = stk_sql_explain(q, sql, SQLITE_INTERRUPT, err);
    }
    sqlite3_finalize(rest);
    stk_columns_answer_end(a, q);
    sqlite3_free(text);
    return done;
}

static enum stoker_status run_statement(struct stk_query *q, const char *sql, size_t length,
                                        sqlite3_stmt *stmt, const struct stk_query_sink *sink,
                                        struct stoker_err *err)
{
    uint64_t rows = 0;
    enum stoker_status status = begin_rows(stmt, sink, err);
    if (status != STOKER_OK) {
        return status;
    }
    if (q->db->batches_wanted && run_columns(q, sql, length, stmt, sink, &status, err)) {
        return status;
    }
    int code = step_rows(stmt, sink, &rows, &status, err);
    if (status == STOKER_OK && code == SQLITE_ROW) {
        code = count_rest(q, sql, length, stmt, sink);
    }
    if (status == STOKER_OK && code != SQLITE_DONE) {
        status = stk_sql_explain(q, sql, code, err);
    }
    return status;
}

enum stoker_status stk_query_run(struct stk_query *q, const char *sql, int64_t timeout_ns,
                                 const struct stk_query_sink *sink, struct stoker_err *err)
{
    struct stk_query_db *db = q->db;
    sqlite3_stmt *stmt = NULL;
    const char *tail = "";
    db->timed_out = db->interrupted = db->batches_used = false;
    db->deadline_ns = 0;
    if (timeout_ns > 0 &&
        __builtin_add_overflow((int64_t)stk_clock_ns(), timeout_ns, &db->deadline_ns)) {
        db->deadline_ns = 0;
    }
    stk_err_init(&db->err);
    int code = sqlite3_prepare_v2(db->sql, sql, -1, &stmt, &tail);
    enum stoker_status status =
        code == SQLITE_OK ? check_statement(stmt, tail, err) : stk_sql_explain(q, sql, code, err);
    if (status == STOKER_OK) {
        status = run_statement(q, sql, (size_t)(tail - sql), stmt, sink, err);
    }
    sqlite3_finalize(stmt);
    return status;
}
