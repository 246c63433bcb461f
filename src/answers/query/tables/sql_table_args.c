// SPDX-License-Identifier: Apache-2.0
// Arguments of events: the only table that goes back to the file.
#include "answers/query/tables/sql_table.h"

static const struct stk_query_column columns[] = {
    {.name = "event", .type = STK_TYPE_NUMBER, .doc = "id of the event; required, or joined"},
    {.name = "key", .type = STK_TYPE_TEXT, .doc = "name of the argument"},
    {.name = "value", .type = STK_TYPE_NAME, .doc = "its value; numbers as numbers"},
};

const struct stk_sql_table stk_sql_table_args = {
    .name = "args",
    .doc = "arguments of an event, fetched from its profile: where event = ...",
    .sort = STK_SQL_ARGS,
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
};
