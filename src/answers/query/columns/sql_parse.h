// SPDX-License-Identifier: Apache-2.0
// The form of a SELECT over one table of events. A statement with anything else (joins, subqueries,
// windows, quoted identifiers, unknown functions) is left to SQLite. SQLite has checked the
// statement before, so errors need no messages here.
#pragma once

#include "base/arena.h"
#include "answers/query/sql_lex.h"
#include "answers/query/tables/sql_table.h"

#define STK_SQL_TOKENS_MAX 2000
#define STK_SQL_ITEMS_MAX 64

enum stk_sql_node_kind {
    STK_NODE_COLUMN,
    STK_NODE_LITERAL,
    STK_NODE_ALIAS, // name of a result column: args[0] is its meaning
    STK_NODE_SIGN,  // unary or binary operator by `word`: + - * / % = < <= ... & | ~ and or not
    STK_NODE_IS,    // args[0] IS [NOT] args[1]
    STK_NODE_BETWEEN,
    STK_NODE_IN,   // args[0] among the others
    STK_NODE_CASE, // [operand,] when, then, ..., [else]
    STK_NODE_CALL, // function of one row
    STK_NODE_AGGREGATE,
    STK_NODE_CAST,
    STK_NODE_SELECT, // in parentheses; `word` is all of it
    STK_NODE_TEXTUAL // LIKE, GLOB, REGEXP, ||: left to SQLite, for each distinct operand
};

struct stk_sql_node {
    enum stk_sql_node_kind kind;
    uint32_t first, end;       // tokens
    int column, field;         // COLUMN
    struct stk_sql_token word; // operator, function or type
    struct stk_sql_node **args;
    uint32_t arg_count;
    bool negated;                // IS NOT, NOT IN, NOT BETWEEN
    bool has_operand, has_else;  // CASE
    bool star, distinct;         // AGGREGATE
    struct stk_sql_node *filter; // AGGREGATE: FILTER (WHERE ...)
};

struct stk_sql_item {
    struct stk_sql_node *node;
    const struct stk_sql_token *name; // AS ..., or NULL
    bool descending;                  // ORDER BY
    int nulls_first;                  // ORDER BY: 1, 0, or -1 if unspecified
};

struct stk_sql_select {
    struct stk_arena *arena;
    const struct stk_sql_token *tokens; // an empty one ends them
    uint32_t count;
    const struct stk_sql_table *table;
    struct stk_sql_token alias; // of the table; its name if it has no alias
    bool distinct, aggregates;
    bool star; // the list is *
    struct stk_sql_item list[STK_SQL_ITEMS_MAX], group[STK_SQL_ITEMS_MAX], order[STK_SQL_ITEMS_MAX];
    uint32_t list_count, group_count, order_count;
    struct stk_sql_node *where, *having;
    int64_t limit, offset; // limit -1: none
    // Clauses as tokens, for writing them again.
    uint32_t list_first, list_end, group_first, having_first, having_end, order_first, limit_first;
};

// NULL: form not supported, or no memory.
struct stk_sql_select *stk_sql_parse(struct stk_arena *arena, const char *sql);
bool stk_sql_node_equal(const struct stk_sql_node *a, const struct stk_sql_node *b);
