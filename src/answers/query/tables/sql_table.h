// SPDX-License-Identifier: Apache-2.0
// A table of stoker query. To add one: a file query/tables/sql_table_<name>.c that ends in its
// descriptor `const struct stk_sql_table stk_sql_table_<name>`, and one line X(<name>) in
// sql_tables.def; help, docs and completion take it from there.
//
// Three sorts:
//   events  rows are events of the store that `takes` lets through; columns are fields.def's
//   lists   few rows, numbered; `cell` makes a value
//   args    arguments of one event, fetched from the file
#ifndef STK_QUERY_SQL_TABLE_H
#define STK_QUERY_SQL_TABLE_H

#include "answers/query/event_field.h"

#define STK_SQL_COLUMNS_MAX 40

enum stk_sql_sort { STK_SQL_EVENTS, STK_SQL_LIST, STK_SQL_ARGS };

struct stk_sql_table {
    const char *name, *doc;
    enum stk_sql_sort sort;
    const struct stk_query_column *columns;
    size_t column_count;
    size_t alias_count; // of these, the last ones: other names, hidden from `select *`
    // Events: kinds as a bit mask, 0 any; tracks of streams alone; rows with a launch call alone.
    uint32_t kinds;
    bool on_streams, launched;
    // Lists. Values that `cell` leaves alone are null. Texts live as long as the query.
    uint64_t (*count)(const struct stk_query *q);
    void (*cell)(const struct stk_query *q, uint64_t row, int column, struct stk_query_value *out);
};

#define X(name) extern const struct stk_sql_table stk_sql_table_##name;
#include "answers/query/tables/sql_tables.def"
#undef X
extern const struct stk_sql_table *const stk_sql_tables[];
extern const size_t stk_sql_table_count;

// A column of an event table under its usual name, or another one.
#define STK_SQL_FIELD(id) {.field = STK_FIELD_##id}
#define STK_SQL_FIELD_AS(column, id) {.name = column, .field = STK_FIELD_##id}
const char *stk_sql_column_name(const struct stk_sql_table *table, size_t column);
enum stk_type stk_sql_column_type(const struct stk_sql_table *table, size_t column);
const char *stk_sql_column_doc(const struct stk_sql_table *table, size_t column);
// -1: none.
int stk_sql_column_find(const struct stk_sql_table *table, const char *name, size_t n);

// The first columns of a table whose rows are of a step.
enum { STK_SQL_STEP_RANK, STK_SQL_STEP_DEVICE, STK_SQL_STEP_NUMBER, STK_SQL_STEP_COLUMNS };
#define STK_SQL_STEP_ROWS(number_name, number_doc)                                                 \
    [STK_SQL_STEP_RANK] = {.name = "rank", .type = STK_TYPE_NUMBER, .doc = "rank"},                \
    [STK_SQL_STEP_DEVICE] = {.name = "device",                                                     \
                             .type = STK_TYPE_TEXT,                                                \
                             .doc = "rank/number of the device; null for steps of the host"},      \
    [STK_SQL_STEP_NUMBER] = {.name = number_name, .type = STK_TYPE_NUMBER, .doc = number_doc}
void stk_sql_step_cell(const struct stk_query *q, const struct stk_step *s, int column,
                       struct stk_query_value *out);

static inline void stk_value_number(struct stk_query_value *v, int64_t number)
{
    *v = (struct stk_query_value){.kind = STK_VALUE_INT, .number = number};
}
static inline void stk_value_str(struct stk_query_value *v, struct stk_str text)
{
    *v = (struct stk_query_value){.kind = text.p ? STK_VALUE_TEXT : STK_VALUE_NULL, .text = text};
}
static inline void stk_value_text(struct stk_query_value *v, const char *text) // NULL: null
{
    stk_value_str(v, stk_str_from(text));
}

#endif
