// SPDX-License-Identifier: Apache-2.0
// Ranks of the run, each with its profile and host.
#include "answers/query/tables/sql_table.h"

enum column { RANK, HOST, FORMAT, EVENTS, DEVICES, BASE_NS };

static uint64_t ranks_count(const struct stk_query *q)
{
    return q->source.rank_count;
}

static void ranks_cell(const struct stk_query *q, uint64_t row, int column,
                       struct stk_query_value *out)
{
    const struct stk_query_rank *r = &q->source.ranks[row];
    switch (column) {
    case RANK:
        stk_value_number(out, r->sum->rank);
        break;
    case HOST:
        stk_value_text(out, r->sum->host && *r->sum->host ? r->sum->host : NULL);
        break;
    case FORMAT:
        stk_value_text(out, r->trace->format);
        break;
    case EVENTS:
        stk_value_number(out, r->trace->count);
        break;
    case DEVICES:
        stk_value_number(out, r->sum->device_count);
        break;
    case BASE_NS:
        stk_value_number(out, r->sum->base_ns);
        break;
    }
}

static const struct stk_query_column columns[] = {
    [RANK] = {.name = "rank", .type = STK_TYPE_NUMBER, .doc = "rank"},
    [HOST] = {.name = "host", .type = STK_TYPE_TEXT, .doc = "name of its host, where recorded"},
    [FORMAT] = {.name = "format", .type = STK_TYPE_TEXT, .doc = "reader of its profile"},
    [EVENTS] = {.name = "events",
                .type = STK_TYPE_NUMBER,
                .doc = "in its profile, which several ranks may share"},
    [DEVICES] = {.name = "devices", .type = STK_TYPE_NUMBER, .doc = "with operations"},
    [BASE_NS] = {.name = "base_ns",
                 .type = STK_TYPE_NUMBER,
                 .doc = "the profile's own clock at time 0 of this run"},
};

const struct stk_sql_table stk_sql_table_ranks = {
    .name = "ranks",
    .doc = "ranks of the run and their profiles",
    .sort = STK_SQL_LIST,
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
    .count = ranks_count,
    .cell = ranks_cell,
};
