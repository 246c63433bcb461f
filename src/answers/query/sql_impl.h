// SPDX-License-Identifier: Apache-2.0
// Shared by the files of stoker query's SQL: the connection and its modules.
#pragma once

#include <sqlite3.h>

#include "answers/query/event_scan.h"
#include "answers/query/tables/sql_table.h"

// The content of a table "rows of <events>" while a statement runs: rows that represent events,
// with further values ("value 0", "value 1", ...).
#define STK_SQL_VALUES_MAX 48
#define STK_SQL_ROWS_MAX 16 // at a time; column "rows id" says which
struct stk_sql_rows {
    size_t count;
    void (*field)(void *arg, size_t row, enum stk_query_field f, struct stk_query_value *out);
    void (*value)(void *arg, size_t row, int which, struct stk_query_value *out);
    void *arg;
};

struct stk_query_db {
    sqlite3 *sql;
    int64_t deadline_ns; // on the monotonic clock; 0: none
    bool timed_out, interrupted;
    bool declaring; // a table's columns: SQLite asks the authoriser as for any CREATE
    bool batches_wanted, batches_used;
    uint32_t events_per_thread;                        // 0: as usual
    const struct stk_sql_rows *rows[STK_SQL_ROWS_MAX]; // of the running statement
    struct stoker_err err;                             // a table's error; code STOKER_OK: none
};

// A module's data, one per table.
struct stk_sql_module {
    struct stk_query *q;
    const struct stk_sql_table *table;
};

// Whether to stop; `q` is a struct stk_query.
bool stk_sql_should_stop(void *q);

extern const sqlite3_module stk_sql_event_module, stk_sql_list_module, stk_sql_args_module,
    stk_sql_rows_module;
// "CREATE TABLE x(...)" of a table, its aliases hidden; in the arena. `extra`: further columns, or
// NULL. NULL: no memory.
const char *stk_sql_declaration(const struct stk_sql_table *table, struct stk_arena *arena,
                                const char *extra);
void stk_sql_result(sqlite3_context *context, const struct stk_query_value *value);

// sql_filter.c: conditions that SQLite hands over.
// One byte pair per argument: column's field + 'A', operator. False: not one that can be taken.
bool stk_sql_filter_takes(const struct stk_sql_table *table, sqlite3_index_info *info, int i,
                          char pair[2]);
struct stk_sql_names {            // storage for a scan's filters
    struct stk_scan_names *names; // per trace
    uint8_t **takes;              // per trace, may be NULL each
    char *pattern;                // the patterns that `takes` is for
};
void stk_sql_names_free(struct stk_sql_names *n, const struct stk_query *q);
// Sets the arguments in the scan. SQLITE_OK or an error.
int stk_sql_filter_apply(struct stk_query_scan *s, struct stk_sql_names *names, const char *plan,
                         int argc, sqlite3_value **argv);

// sql_explain.c: from SQLite's error to one for people.
enum stoker_status stk_sql_explain(struct stk_query *q, const char *sql, int code,
                                   struct stoker_err *err);
