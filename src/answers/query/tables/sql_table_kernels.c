// SPDX-License-Identifier: Apache-2.0
// Kernels of devices, including collectives.
#include "answers/query/tables/sql_table.h"

static const struct stk_query_column columns[] = {
    STK_SQL_FIELD(ID),          STK_SQL_FIELD(RANK),      STK_SQL_FIELD(TRACK),
    STK_SQL_FIELD(DEVICE),      STK_SQL_FIELD(STREAM),    STK_SQL_FIELD(KIND),
    STK_SQL_FIELD(NAME),        STK_SQL_FIELD(START),     STK_SQL_FIELD(DUR),
    STK_SQL_FIELD(END),         STK_SQL_FIELD(STEP),      STK_SQL_FIELD(LAUNCH),
    STK_SQL_FIELD(TENSOR_CORE), STK_SQL_FIELD(PRECISION), STK_SQL_FIELD(GRID),
    STK_SQL_FIELD(BLOCK),       STK_SQL_FIELD(REGISTERS), STK_SQL_FIELD(SHARED_BYTES),
    STK_SQL_FIELD(OCCUPANCY),   STK_SQL_ALIASES};

const struct stk_sql_table stk_sql_table_kernels = {
    .name = "kernels",
    .doc = "kernels and collectives, as stoker stats kernels counts them",
    .sort = STK_SQL_EVENTS,
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
    .alias_count = STK_SQL_ALIAS_COUNT,
    .kinds = 1u << STK_KIND_KERNEL | 1u << STK_KIND_COLLECTIVE,
    .on_streams = true,
};
