// SPDX-License-Identifier: Apache-2.0
// Shared by the virtual tables' modules.
#pragma once

#include "answers/query/sql_impl.h"

struct stk_sql_vtab {
    sqlite3_vtab base;
    struct stk_query *q;
    const struct stk_sql_table *table;
};

// Declares the table of a module, with these further columns (NULL: none).
int stk_sql_declare(sqlite3 *sql, void *module, const char *extra, sqlite3_vtab **out);
// xConnect, xDisconnect, and xClose for modules without special work.
int stk_sql_connect(sqlite3 *sql, void *module, int argc, const char *const *argv,
                    sqlite3_vtab **out, char **error);
int stk_sql_disconnect(sqlite3_vtab *v);
int stk_sql_close(sqlite3_vtab_cursor *cursor);
// A cursor of this size, all 0, whose first member is SQLite's.
int stk_sql_open(size_t size, sqlite3_vtab_cursor **out);

// SQLITE_OK, or an error: the scan was stopped or lacked memory, so its last answer is invalid.
int stk_sql_state(struct stk_query_scan *s);
