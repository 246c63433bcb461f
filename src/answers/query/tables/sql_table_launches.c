// SPDX-License-Identifier: Apache-2.0
// Device work whose launch call was recorded.
#include "answers/query/tables/sql_table.h"

static const struct stk_query_column columns[] = {
    STK_SQL_FIELD(ID),           STK_SQL_FIELD(RANK),
    STK_SQL_FIELD(DEVICE),       STK_SQL_FIELD(STREAM),
    STK_SQL_FIELD(KIND),         STK_SQL_FIELD(NAME),
    STK_SQL_FIELD(START),        STK_SQL_FIELD(DUR),
    STK_SQL_FIELD(STEP),         STK_SQL_FIELD(LAUNCH),
    STK_SQL_FIELD(LAUNCH_NAME),  STK_SQL_FIELD(LAUNCH_THREAD),
    STK_SQL_FIELD(LAUNCH_START), STK_SQL_FIELD(LAUNCH_DUR),
    STK_SQL_FIELD(DELAY),        STK_SQL_ALIASES};

const struct stk_sql_table stk_sql_table_launches = {
    .name = "launches",
    .doc = "device work with the CPU call that launched it",
    .sort = STK_SQL_EVENTS,
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
    .alias_count = STK_SQL_ALIAS_COUNT,
    .kinds = 1u << STK_KIND_KERNEL | 1u << STK_KIND_COLLECTIVE | 1u << STK_KIND_MEMCPY |
             1u << STK_KIND_MEMSET,
    .on_streams = true,
    .launched = true,
};
