// SPDX-License-Identifier: Apache-2.0
// A table of stoker query. To add one: a file query/tables/sql_table_<name>.c that ends in its
// descriptor `const struct stk_sql_table stk_sql_table_<name>`, and one line X(<name>) in
// sql_tables.def; help, docs and completion take it from there.
//
// Three sorts:
//   events  rows are events of the store that `takes` lets through; columns are fields.def's
//   lists   few rows, numbered; `cell` makes a value
//   args    arguments of one event, fetched from the file
#pragma once

#include "answers/query/event_field.h"

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

// A column of an event table under its usual name, or another one; those that most tables have.
#define STK_SQL_FIELD(id) {.field = STK_FIELD_##id}
#define STK_SQL_FIELD_AS(column, id) {.name = column, .field = STK_FIELD_##id}
#define STK_SQL_ALIASES STK_SQL_FIELD_AS("ts", START), STK_SQL_FIELD_AS("dur", DUR)
enum { STK_SQL_ALIAS_COUNT = 2 };
const char *stk_sql_column_name(const struct stk_sql_table *table, size_t column);
enum stk_type stk_sql_column_type(const struct stk_sql_table *table, size_t column);
const char *stk_sql_column_doc(const struct stk_sql_table *table, size_t column);
// -1: none.
int stk_sql_column_find(const struct stk_sql_table *table, const char *name, size_t n);

// The columns of a list are written once, as rows of a macro COLUMNS(C): C(name, type, put, doc),
// where `put` sets `out` or leaves it null. From them come the enum of the columns, the cases of
// `cell`, and the columns as SQL and the docs have them.
#define STK_SQL_ENUM(name, type, put, doc) COLUMN_##name,
#define STK_SQL_CASE(name, type, put, doc)                                                         \
    case COLUMN_##name:                                                                            \
        put;                                                                                       \
        break;
#define STK_SQL_COLUMN(column, kind, put, text)                                                    \
    {.name = #column, .type = STK_TYPE_##kind, .doc = text},

static inline void stk_value_number(struct stk_query_value *v, int64_t number)
{
    *v = (struct stk_query_value){.kind = STK_VALUE_INT, .number = number};
}
// Only if it is known.
static inline void stk_value_number_if(struct stk_query_value *v, bool is_known, int64_t number)
{
    if (is_known) {
        stk_value_number(v, number);
    }
}
static inline void stk_value_str(struct stk_query_value *v, struct stk_str text)
{
    *v = (struct stk_query_value){.kind = text.p ? STK_VALUE_TEXT : STK_VALUE_NULL, .text = text};
}
static inline void stk_value_text(struct stk_query_value *v, const char *text) // NULL: null
{
    stk_value_str(v, stk_str_from(text));
}
// The id of an event of a rank's trace; STK_NONE: null.
void stk_sql_put_event(const struct stk_query *q, const struct stk_query_rank *rank, uint32_t event,
                       struct stk_query_value *out);
static inline const char *stk_sql_step_device(const struct stk_query *q, const struct stk_step *s)
{
    return s->device == STK_NONE ? NULL : q->source.run->devices[s->device].id;
}
