// SPDX-License-Identifier: Apache-2.0
// Ids of launch calls and of the device work that each started.
#include "answers/query/tables/sql_table.h"

static const struct stk_query_column columns[] = {
    {.name = "call", .field = STK_FIELD_LAUNCH, .doc = "id of the CPU call in events"},
    {.name = "work", .field = STK_FIELD_ID, .doc = "id of the device operation in events"},
    STK_SQL_FIELD(RANK),
    STK_SQL_FIELD(DELAY),
};

const struct stk_sql_table stk_sql_table_links = {
    .name = "links",
    .doc = "CPU calls and the device work that each launched, by id",
    .sort = STK_SQL_EVENTS,
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
    .kinds = 1u << STK_KIND_KERNEL | 1u << STK_KIND_COLLECTIVE | 1u << STK_KIND_MEMCPY |
             1u << STK_KIND_MEMSET,
    .on_streams = true,
    .launched = true,
};
