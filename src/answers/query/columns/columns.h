// SPDX-License-Identifier: Apache-2.0
// The engine that answers aggregates by column, many events at a time: its only interface to the
// rest of stoker query (tools/layers.txt). If it understands a statement, in part or as a whole, it
// evaluates that much. SQLite then runs a smaller statement over the few resulting rows. SQLite
// answers other statements alone, as with STOKER_SQL=sqlite. The answers are the same
// (prop.query_random).
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct stk_query;
struct stk_columns_answer;

// The caller ends it. `rows`: the most rows that the caller wants; 0: all. NULL: no part can be
// answered this way, no memory, or interrupted (see stk_sql_should_stop).
struct stk_columns_answer *stk_columns_answer_begin(struct stk_query *q, const char *sql,
                                                    uint64_t rows);
const char *stk_columns_answer_rest(const struct stk_columns_answer *a); // for SQLite to run
// How many rows the statement has without the caller's limit. False: unknown.
bool stk_columns_answer_count(const struct stk_columns_answer *a, uint64_t *rows);
void stk_columns_answer_end(struct stk_columns_answer *a, struct stk_query *q); // takes NULL
