// SPDX-License-Identifier: Apache-2.0
// Copies. A device operation that only waits for a copy is in `kernels`' place: see `events`.
#include "answers/query/tables/sql_table.h"

static const struct stk_query_column columns[] = {
    STK_SQL_FIELD(ID),     STK_SQL_FIELD(RANK),   STK_SQL_FIELD(TRACK),     STK_SQL_FIELD(DEVICE),
    STK_SQL_FIELD(STREAM), STK_SQL_FIELD(NAME),   STK_SQL_FIELD(START),     STK_SQL_FIELD(DUR),
    STK_SQL_FIELD(END),    STK_SQL_FIELD(STEP),   STK_SQL_FIELD(DIRECTION), STK_SQL_FIELD(SOURCE),
    STK_SQL_FIELD(TARGET), STK_SQL_FIELD(PINNED), STK_SQL_FIELD(BYTES),     STK_SQL_FIELD(LAUNCH),
    STK_SQL_ALIASES};

const struct stk_sql_table stk_sql_table_transfers = {
    .name = "transfers",
    .doc = "copies that a device executed",
    .sort = STK_SQL_EVENTS,
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
    .alias_count = STK_SQL_ALIAS_COUNT,
    .kinds = 1u << STK_KIND_MEMCPY,
    .on_streams = true,
};
