// SPDX-License-Identifier: Apache-2.0
// The critical path of a usual step of each rank, piece by piece: what the step's end waited for.
#include "answers/query/tables/sql_table.h"

enum column { RANK, STEP, START_NS, DUR_NS, END_NS, KIND, NAME, TRACK, ID };

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
    case RANK:
        stk_value_number(out, rank->sum->rank);
        break;
    case STEP:
        stk_value_number(out, rank->path.step);
        break;
    case START_NS:
        stk_value_number(out, piece->start_ns + rank->shift_ns);
        break;
    case DUR_NS:
        stk_value_number(out, piece->dur_ns);
        break;
    case END_NS:
        stk_value_number(out, piece->start_ns + rank->shift_ns + piece->dur_ns);
        break;
    case KIND:
        stk_value_text(out, piece->kind);
        break;
    case NAME:
        stk_value_text(out, piece->name);
        break;
    case TRACK:
        stk_value_text(out, piece->where);
        break;
    case ID:
        for (uint32_t i = 0; i < q->trace_count && piece->event != STK_NONE; i++) {
            if (q->traces[i].t == rank->trace) {
                stk_value_number(out, stk_query_id(i, piece->event));
            }
        }
        break;
    }
}

static const struct stk_query_column columns[] = {
    [RANK] = {.name = "rank", .type = STK_TYPE_NUMBER, .doc = "rank"},
    [STEP] = {.name = "step",
              .type = STK_TYPE_NUMBER,
              .doc = "number of the step: the one whose length is nearest to the mean"},
    [START_NS] = {.name = "start_ns", .type = STK_TYPE_NS, .doc = "since the run's first event"},
    [DUR_NS] = {.name = "dur_ns", .type = STK_TYPE_NS, .doc = "what of the step's time is its"},
    [END_NS] = {.name = "end_ns", .type = STK_TYPE_NS, .doc = "start_ns + dur_ns"},
    [KIND] = {.name = "kind",
              .type = STK_TYPE_TEXT,
              .doc = "compute, input, host, sync, transfer, communication or unknown"},
    [NAME] = {.name = "name",
              .type = STK_TYPE_NAME,
              .doc = "of the event; null for what has none, and where names were replaced"},
    [TRACK] = {.name = "track", .type = STK_TYPE_TEXT, .doc = "thread or stream that it is on"},
    [ID] = {.name = "id",
            .type = STK_TYPE_NUMBER,
            .doc = "number of the event that it begins with, for joins; null for what has none"},
};

const struct stk_sql_table stk_sql_table_critical = {
    .name = "critical",
    .doc = "critical path of a usual step: pieces that its end waited for, one after the other",
    .sort = STK_SQL_LIST,
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
    .count = critical_count,
    .cell = critical_cell,
};
