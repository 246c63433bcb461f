// SPDX-License-Identifier: Apache-2.0
// The engine that answers aggregates by column, many events at a time: all that the rest of
// stoker query knows of it (tools/layers.txt). If it understands a statement, in part or as a
// whole, it evaluates that much. SQLite then runs a smaller statement over the few resulting
// rows. SQLite answers other statements alone, as with
// STOKER_SQL=sqlite. The answers are the same (prop.query_random).
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct stk_query;
struct stk_columns_answer;

// The caller ends it. `rows`: the caller wants no more; 0: all. NULL: nothing is answered so, no
// memory, or interrupted, as stk_sql_should_stop says then.
struct stk_columns_answer *stk_columns_answer_begin(struct stk_query *q, const char *sql,
                                                    uint64_t rows);
const char *stk_columns_answer_rest(const struct stk_columns_answer *a); // for SQLite to run
// How many rows the statement has without the caller's limit. False: not known.
bool stk_columns_answer_count(const struct stk_columns_answer *a, uint64_t *rows);
void stk_columns_answer_end(struct stk_columns_answer *a, struct stk_query *q); // takes NULL
