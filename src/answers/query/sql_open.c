// SPDX-License-Identifier: Apache-2.0
// The connection of a query: an empty database in memory, whose tables are the trace. It can only
// read: an authoriser refuses statements that write, attach or configure, and the resources of a
// hostile statement are bounded. LIKE and GLOB are SQLite's; REGEXP is PCRE2's, with bounds on
// steps, time and memory (base/regex.h).
#include "answers/query/query.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/regex.h"
#include "answers/query/sql_impl.h"

#define OPCODES_BETWEEN_CHECKS 20000
#define TEXT_MAX_BYTES (64 << 20) // of one value
#define SQL_MAX_BYTES (1 << 20)

static int progress(void *q)
{
    return stk_sql_should_stop(q);
}

static int authorise(void *arg, int action, const char *a, const char *b, const char *database,
                     const char *trigger)
{
    static const char *const pragmas[] = {"table_info", "table_xinfo", "table_list",
                                          "function_list"};
    // fts3_tokenizer returns and accepts addresses in the program.
    static const char *const refused[] = {"load_extension", "fts3_tokenizer"};
    const struct stk_query *q = arg;
    (void)database;
    (void)trigger;
    if (q->db->declaring) {
        return SQLITE_OK;
    }
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        for (size_t i = 0; b && i < sizeof refused / sizeof refused[0]; i++) {
            if (sqlite3_stricmp(b, refused[i]) == 0) {
                return SQLITE_DENY;
            }
        }
        return SQLITE_OK;
    case SQLITE_PRAGMA:
        for (size_t i = 0; a && i < sizeof pragmas / sizeof pragmas[0]; i++) {
            if (sqlite3_stricmp(a, pragmas[i]) == 0) {
                return SQLITE_OK;
            }
        }
        return SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

static void free_regex(void *regex)
{
    stk_regex_free(regex);
}

static void regexp_fail(sqlite3_context *context, const char *pattern, const char *why)
{
    char *message = sqlite3_mprintf("REGEXP '%.60s': %s", pattern, why);
    sqlite3_result_error(context, message ? message : why, -1);
    sqlite3_free(message);
}

// text REGEXP pattern: SQLite calls regexp(pattern, text). The compiled pattern stays with the
// statement.
static void regexp(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    (void)argc;
    char why[STK_REGEX_WHY];
    const char *pattern = (const char *)sqlite3_value_text(argv[0]);
    const char *text = (const char *)sqlite3_value_text(argv[1]);
    struct stk_regex *regex = sqlite3_get_auxdata(context, 0);
    if (!pattern || !text) {
        return;
    }
    if (!regex) {
        size_t at, n = (size_t)sqlite3_value_bytes(argv[0]);
        regex = stk_regex_make((struct stk_str){pattern, n}, NULL, &at, why);
        if (!regex && at) {
            regexp_fail(context, pattern, why);
            return;
        }
        if (regex) {
            sqlite3_set_auxdata(context, 0, regex, free_regex);
            regex = sqlite3_get_auxdata(context, 0);
        }
        if (!regex) {
            sqlite3_result_error_nomem(context);
            return;
        }
    }
    size_t n = (size_t)sqlite3_value_bytes(argv[1]);
    int found = stk_regex_find(regex, (struct stk_str){text, n}, 0, stk_sql_should_stop,
                               sqlite3_user_data(context), why);
    if (found >= 0) {
        sqlite3_result_int(context, found);
    } else if (found == -2) {
        sqlite3_result_error_nomem(context);
    } else if (*why) {
        regexp_fail(context, pattern, why);
    } else {
        sqlite3_result_error_code(context, SQLITE_INTERRUPT);
    }
}

static int add_table(struct stk_query *q, const struct stk_sql_table *table)
{
    static const sqlite3_module *const modules[] = {&stk_sql_event_module, &stk_sql_list_module,
                                                    &stk_sql_args_module};
    struct stk_sql_module *m = stk_arena_alloc(&q->arena, sizeof *m);
    const char *name = stk_arena_printf(&q->arena, "rows of %s", table->name);
    if (!m || !name) {
        return SQLITE_NOMEM;
    }
    *m = (struct stk_sql_module){q, table};
    int code = sqlite3_create_module(q->db->sql, table->name, modules[table->sort], m);
    if (code == SQLITE_OK && table->sort == STK_SQL_EVENTS) {
        code = sqlite3_create_module(q->db->sql, name, &stk_sql_rows_module, m);
    }
    return code;
}

static int prepare_connection(struct stk_query *q)
{
    sqlite3 *sql = q->db->sql;
    int code = sqlite3_create_function(sql, "regexp", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, q,
                                       regexp, NULL, NULL);
    for (size_t i = 0; i < stk_sql_table_count && code == SQLITE_OK; i++) {
        code = add_table(q, stk_sql_tables[i]);
    }
    if (code != SQLITE_OK) {
        return code;
    }
    sqlite3_db_config(sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(sql, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_limit(sql, SQLITE_LIMIT_LENGTH, TEXT_MAX_BYTES);
    sqlite3_limit(sql, SQLITE_LIMIT_SQL_LENGTH, SQL_MAX_BYTES);
    sqlite3_limit(sql, SQLITE_LIMIT_COLUMN, 200);
    sqlite3_limit(sql, SQLITE_LIMIT_EXPR_DEPTH, 200);
    sqlite3_limit(sql, SQLITE_LIMIT_COMPOUND_SELECT, 100);
    sqlite3_limit(sql, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(sql, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 2000);
    sqlite3_progress_handler(sql, OPCODES_BETWEEN_CHECKS, progress, q);
    return sqlite3_set_authorizer(sql, authorise, q);
}

// STOKER_SQL=sqlite: SQLite answers every statement alone (columns/columns.h).
static bool wants_columns(void)
{
    const char *engine = getenv("STOKER_SQL");
    return !engine || strcmp(engine, "sqlite") != 0;
}

enum stoker_status stk_query_open(struct stk_query **out, const struct stk_query_source *source,
                                  struct stoker_err *err)
{
    *out = NULL;
    struct stk_query *q = stk_alloc_zero(1, sizeof *q);
    if (!q) {
        return stk_err_nomem(err);
    }
    q->source = *source;
    stk_arena_init(&q->arena, 0);
    enum stoker_status status = stk_query_source_make(q, err);
    if (status == STOKER_OK) {
        q->db = stk_arena_alloc(&q->arena, sizeof *q->db);
    }
    if (status == STOKER_OK && !q->db) {
        status = stk_err_nomem(err);
    }
    if (status == STOKER_OK) {
        q->db->batches_wanted = wants_columns();
        int code = sqlite3_open_v2(":memory:", &q->db->sql,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY |
                                       SQLITE_OPEN_NOMUTEX,
                                   NULL);
        code = code == SQLITE_OK ? prepare_connection(q) : code;
        if (code == SQLITE_NOMEM) {
            status = stk_err_nomem(err);
        } else if (code != SQLITE_OK) {
            status =
                stk_err_set(err, STOKER_EBUG, "SQLite cannot be set up: %s", sqlite3_errstr(code));
        }
    }
    if (status != STOKER_OK) {
        stk_query_close(q);
        return status;
    }
    *out = q;
    return STOKER_OK;
}

void stk_query_close(struct stk_query *q)
{
    if (!q) {
        return;
    }
    if (q->db) {
        sqlite3_close_v2(q->db->sql);
    }
    stk_query_source_free(q);
    stk_arena_deinit(&q->arena);
    stk_free(q);
}

void stk_query_set_batches(struct stk_query *q, bool wanted, uint32_t events_per_thread)
{
    q->db->batches_wanted = wanted;
    q->db->events_per_thread = events_per_thread;
}

bool stk_query_used_batches(const struct stk_query *q)
{
    return q->db->batches_used;
}
