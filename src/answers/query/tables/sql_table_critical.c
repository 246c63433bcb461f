// SPDX-License-Identifier: Apache-2.0
// The critical path of a usual step of each rank, piece by piece: what the step's end waited for.
#include "answers/query/tables/sql_table.h"

#define COLUMNS(C)                                                                                 \
    C(rank, NUMBER, stk_value_number(out, rank->sum->rank), "rank")                                \
    C(step, NUMBER, stk_value_number(out, rank->path.step),                                        \
      "number of the step: the one closest to the mean length")                                    \
    C(start_ns, NS, stk_value_number(out, piece->start_ns + rank->shift_ns),                       \
      "since the run's first event")                                                               \
    C(dur_ns, NS, stk_value_number(out, piece->dur_ns), "its share of the step's time")            \
    C(end_ns, NS, stk_value_number(out, piece->start_ns + rank->shift_ns + piece->dur_ns),         \
      "start_ns + dur_ns")                                                                         \
    C(kind, TEXT, stk_value_text(out, piece->kind),                                                \
      "compute, input, host, sync, transfer, communication or unknown")                            \
    C(name, NAME, stk_value_text(out, piece->name),                                                \
      "name of the event; null without one, or if names were replaced")                            \
    C(track, TEXT, stk_value_text(out, piece->where), "its thread or stream")                      \
    C(id, NUMBER, stk_sql_put_event(q, rank, piece->event, out),                                   \
      "number of its first event, for joins; null without one")
enum column { COLUMNS(STK_SQL_ENUM) };

static uint64_t critical_count(const struct stk_query *q)
{
    uint64_t n = 0;
    for (uint32_t r = 0; r < q->source.rank_count; r++) {
        n += q->source.ranks[r].path.count;
    }
    return n;
}

static void critical_cell(const struct stk_query *q, uint64_t row, int column,
                          struct stk_query_value *out)
{
    uint32_t r = 0;
    for (; r < q->source.rank_count && row >= q->source.ranks[r].path.count; r++) {
        row -= q->source.ranks[r].path.count;
    }
    if (r == q->source.rank_count) {
        return;
    }
    const struct stk_query_rank *rank = &q->source.ranks[r];
    const struct stk_path_piece *piece = &rank->path.v[row];
    switch (column) {
        COLUMNS(STK_SQL_CASE)
    }
}

static const struct stk_query_column columns[] = {COLUMNS(STK_SQL_COLUMN)};

const struct stk_sql_table stk_sql_table_critical = {
    .name = "critical",
    .doc = "critical path of a typical step: the pieces that its end waited for, in order",
    .sort = STK_SQL_LIST,
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
    .count = critical_count,
    .cell = critical_cell,
};
