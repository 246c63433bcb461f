// SPDX-License-Identifier: Apache-2.0
// All events.
#include "answers/query/tables/sql_table.h"

static const struct stk_query_column columns[] = {
    STK_SQL_FIELD(ID),     STK_SQL_FIELD(RANK),   STK_SQL_FIELD(TRACK), STK_SQL_FIELD(DEVICE),
    STK_SQL_FIELD(STREAM), STK_SQL_FIELD(THREAD), STK_SQL_FIELD(KIND),  STK_SQL_FIELD(NAME),
    STK_SQL_FIELD(START),  STK_SQL_FIELD(DUR),    STK_SQL_FIELD(END),   STK_SQL_FIELD(DEPTH),
    STK_SQL_FIELD(PARENT), STK_SQL_FIELD(STEP),   STK_SQL_FIELD(VALUE), STK_SQL_FIELD(LAUNCH),
    STK_SQL_ALIASES};

const struct stk_sql_table stk_sql_table_events = {
    .name = "events",
    .doc = "every event of every track, including derived rows",
    .sort = STK_SQL_EVENTS,
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
    .alias_count = STK_SQL_ALIAS_COUNT,
};
