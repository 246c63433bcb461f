// SPDX-License-Identifier: Apache-2.0
// Shared by the virtual tables' modules.
#ifndef STK_QUERY_SQL_MODULE_H
#define STK_QUERY_SQL_MODULE_H

#include "answers/query/sql_impl.h"

struct stk_sql_vtab {
    sqlite3_vtab base;
    struct stk_query *q;
    const struct stk_sql_table *table;
};

// xConnect and xDisconnect of every module.
int stk_sql_connect(sqlite3 *sql, void *module, const char *extra, sqlite3_vtab **out);
int stk_sql_disconnect(sqlite3_vtab *v);

// SQLITE_OK, or why the scan's last answer does not count: it was stopped, or lacked memory.
int stk_sql_state(struct stk_query_scan *s);

#endif
