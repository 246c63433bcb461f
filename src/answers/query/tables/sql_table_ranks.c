// SPDX-License-Identifier: Apache-2.0
// Ranks of the run, each with its profile and host.
#include "answers/query/tables/sql_table.h"

#define COLUMNS(C)                                                                                 \
    C(rank, NUMBER, stk_value_number(out, r->sum->rank), "rank")                                   \
    C(host, TEXT, stk_value_text(out, r->sum->host && *r->sum->host ? r->sum->host : NULL),        \
      "name of its host, if recorded")                                                             \
    C(format, TEXT, stk_value_text(out, r->trace->format), "reader of its profile")                \
    C(events, NUMBER, stk_value_number(out, r->trace->count),                                      \
      "number of events in its profile, which several ranks may share")                            \
    C(devices, NUMBER, stk_value_number(out, r->sum->device_count), "with operations")             \
    C(base_ns, NUMBER, stk_value_number(out, r->sum->base_ns),                                     \
      "the profile's own clock at time 0 of this run")
enum column { COLUMNS(STK_SQL_ENUM) };

static uint64_t ranks_count(const struct stk_query *q)
{
    return q->source.rank_count;
}

static void ranks_cell(const struct stk_query *q, uint64_t row, int column,
                       struct stk_query_value *out)
{
    const struct stk_query_rank *r = &q->source.ranks[row];
    switch (column) {
        COLUMNS(STK_SQL_CASE)
    }
}

static const struct stk_query_column columns[] = {COLUMNS(STK_SQL_COLUMN)};

const struct stk_sql_table stk_sql_table_ranks = {
    .name = "ranks",
    .doc = "ranks of the run and their profiles",
    .sort = STK_SQL_LIST,
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
    .count = ranks_count,
    .cell = ranks_cell,
};
