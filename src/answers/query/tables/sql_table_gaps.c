// SPDX-License-Identifier: Apache-2.0
// Pieces of gaps between device operations, with their cause.
#include "answers/query/tables/sql_table.h"

#define COLUMNS(C)                                                                                 \
    C(rank, NUMBER, stk_value_number(out, rank->sum->rank), "rank")                                \
    C(device, TEXT, stk_value_text(out, rank->sum->devices[gap->device].id),                       \
      "rank/number of the device")                                                                 \
    C(start_ns, NS, stk_value_number(out, gap->start_ns + rank->shift_ns),                         \
      "since the run's first event")                                                               \
    C(dur_ns, NS, stk_value_number(out, gap->dur_ns), "duration")                                  \
    C(part, TEXT, stk_value_text(out, stk_part_info(gap->part)->key), "id of its part")            \
    C(event, NUMBER, stk_sql_put_event(q, rank, gap->event, out),                                  \
      "id of the host event that fills it; null without one")                                      \
    C(around, NUMBER, stk_sql_put_event(q, rank, gap->around, out),                                \
      "id of the operator around that event")                                                      \
    C(step, NUMBER, put_step(rank, gap, out), "number of the step in which it starts")
enum column { COLUMNS(STK_SQL_ENUM) };

// The gap of a row, and the index of its rank.
static uint32_t gap_of(const struct stk_query *q, uint64_t row, const struct stk_query_gap **gap)
{
    uint32_t r = 0;
    for (; r < q->source.rank_count && row >= q->source.ranks[r].gap_count; r++) {
        row -= q->source.ranks[r].gap_count;
    }
    if (r < q->source.rank_count) {
        *gap = &q->source.ranks[r].gaps[row];
    }
    return r;
}

static void put_step(const struct stk_query_rank *rank, const struct stk_query_gap *gap,
                     struct stk_query_value *out)
{
    int64_t start_ns = gap->start_ns + rank->shift_ns;
    for (uint32_t i = 0; i < rank->sum->step_count; i++) {
        const struct stk_step *s = &rank->sum->steps[i];
        if (s->device == gap->device && s->start_ns <= start_ns &&
            start_ns < s->start_ns + s->dur_ns) {
            stk_value_number(out, s->number);
            return;
        }
    }
}

static uint64_t gaps_count(const struct stk_query *q)
{
    uint64_t n = 0;
    for (uint32_t r = 0; r < q->source.rank_count; r++) {
        n += q->source.ranks[r].gap_count;
    }
    return n;
}

static void gaps_cell(const struct stk_query *q, uint64_t row, int column,
                      struct stk_query_value *out)
{
    const struct stk_query_gap *gap = NULL;
    uint32_t r = gap_of(q, row, &gap);
    if (!gap) {
        return;
    }
    const struct stk_query_rank *rank = &q->source.ranks[r];
    switch (column) {
        COLUMNS(STK_SQL_CASE)
    }
}

static const struct stk_query_column columns[] = {COLUMNS(STK_SQL_COLUMN)};

const struct stk_sql_table stk_sql_table_gaps = {
    .name = "gaps",
    .doc = "idle times of devices, cut where the cause changes",
    .sort = STK_SQL_LIST,
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
    .count = gaps_count,
    .cell = gaps_cell,
};
