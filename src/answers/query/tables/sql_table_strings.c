// SPDX-License-Identifier: Apache-2.0
// Distinct strings of the profiles.
#include "answers/query/tables/sql_table.h"

enum column { PROFILE, TEXT };

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
    if (column == PROFILE) {
        stk_value_number(out, i);
    } else {
        stk_value_str(out, stk_strpool_get(&q->traces[i].t->strings, (uint32_t)row));
    }
}

static const struct stk_query_column columns[] = {
    [PROFILE] = {.name = "profile", .type = STK_TYPE_NUMBER, .doc = "index of the profile"},
    [TEXT] = {.name = "text", .type = STK_TYPE_NAME, .doc = "the string"},
};

const struct stk_sql_table stk_sql_table_strings = {
    .name = "strings",
    .doc = "the distinct names of each profile",
    .sort = STK_SQL_LIST,
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
    .count = strings_count,
    .cell = strings_cell,
};
