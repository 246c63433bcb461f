// SPDX-License-Identifier: Apache-2.0
// Distinct strings of the profiles.
#include "answers/query/tables/sql_table.h"

#define COLUMNS(C)                                                                                 \
    C(profile, NUMBER, stk_value_number(out, i), "index of the profile")                           \
    C(text, NAME, stk_value_str(out, stk_strpool_get(&q->traces[i].t->strings, (uint32_t)row)),    \
      "the string")
enum column { COLUMNS(STK_SQL_ENUM) };

static uint64_t strings_count(const struct stk_query *q)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < q->trace_count; i++) {
        n += q->traces[i].t->strings.count;
    }
    return n;
}

static void strings_cell(const struct stk_query *q, uint64_t row, int column,
                         struct stk_query_value *out)
{
    uint32_t i = 0;
    for (; i < q->trace_count && row >= q->traces[i].t->strings.count; i++) {
        row -= q->traces[i].t->strings.count;
    }
    switch (column) {
        COLUMNS(STK_SQL_CASE)
    }
}

static const struct stk_query_column columns[] = {COLUMNS(STK_SQL_COLUMN)};

const struct stk_sql_table stk_sql_table_strings = {
    .name = "strings",
    .doc = "the distinct names of each profile",
    .sort = STK_SQL_LIST,
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
    .count = strings_count,
    .cell = strings_cell,
};
