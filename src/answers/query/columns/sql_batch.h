// SPDX-License-Identifier: Apache-2.0
// A SELECT answered by batches (batch.h), and the statement that SQLite runs instead, over few
// rows.
#pragma once

#include "answers/query/columns/batch.h"
#include "answers/query/sql_impl.h"

struct stk_sql_batch {
    struct stk_arena arena;
    struct stk_batch_plan plan;
    struct stk_batch_groups groups;
    struct stk_batch_top top;
    struct stk_sql_rows rows; // what the statement reads
    char *sql;                // sqlite3_free
    bool counted;             // without the caller's limit there would be `matching` rows
    uint64_t matching;
};

// Answers as much of the statement as possible, and makes the rest for SQLite to run. False: it
// can't be answered this way, or was interrupted (b->plan.interrupted). `rows`: the most that the
// caller wants; 0: all. `rows_id`: which of the database's rows it may use. End it in either case.
bool stk_sql_batch_begin(struct stk_sql_batch *b, struct stk_query *q, const char *sql,
                         uint64_t rows, int rows_id);
void stk_sql_batch_end(struct stk_sql_batch *b);
