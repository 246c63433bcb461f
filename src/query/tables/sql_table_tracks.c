// SPDX-License-Identifier: Apache-2.0
// Tracks of all profiles.
#include "query/tables/sql_table.h"

static uint64_t tracks_count(const struct stk_query *q)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < q->trace_count; i++) {
        n += q->traces[i].t->track_count;
    }
    return n;
}

static void tracks_cell(const struct stk_query *q, uint64_t row, int column,
                        struct stk_query_value *out)
{
    static const char *const kinds[] = {"thread", "stream", "derived", "counter", "other"};
    uint32_t i = 0;
    for (; i < q->trace_count && row >= q->traces[i].t->track_count; i++) {
        row -= q->traces[i].t->track_count;
    }
    const struct stk_trace *t = q->traces[i].t;
    const struct stk_track *track = &t->tracks[row];
    const struct stk_query_track *known = &q->traces[i].tracks[row];
    switch (column) {
    case 0:
        stk_value_number(out, stk_query_id(i, (uint32_t)row));
        break;
    case 1:
        if (known->rank >= 0) {
            stk_value_number(out, known->rank);
        }
        break;
    case 2:
        stk_value_text(out, kinds[track->kind]);
        break;
    case 3:
        if (track->name) {
            stk_value_str(out, stk_strpool_get(&t->strings, track->name));
        }
        break;
    case 4:
        stk_value_number(out, t->processes[track->process].pid);
        break;
    case 5:
        stk_value_number(out, track->id);
        break;
    case 6:
        stk_value_text(out, known->device);
        break;
    case 7:
        if (track->parent != STK_NONE) {
            stk_value_number(out, stk_query_id(i, track->parent));
        }
        break;
    default:
        stk_value_number(out, track->count);
    }
}

static const struct stk_query_column columns[] = {
    {.name = "id", .type = STK_QUERY_NUMBER, .doc = "as in events.track"},
    {.name = "rank", .type = STK_QUERY_NUMBER, .doc = "rank of its process"},
    {.name = "kind", .type = STK_QUERY_TEXT, .doc = "thread, stream, derived, counter or other"},
    {.name = "name", .type = STK_QUERY_NAME, .doc = "as recorded"},
    {.name = "process", .type = STK_QUERY_NUMBER, .doc = "process id as recorded"},
    {.name = "thread", .type = STK_QUERY_NUMBER, .doc = "thread, stream or line id"},
    {.name = "device",
     .type = STK_QUERY_TEXT,
     .doc = "rank/number of the device; null on the host"},
    {.name = "parent",
     .type = STK_QUERY_NUMBER,
     .doc = "track whose events that overlap without nesting these are"},
    {.name = "events", .type = STK_QUERY_NUMBER, .doc = "how many it holds"},
};

const struct stk_sql_table stk_sql_table_tracks = {
    .name = "tracks",
    .doc = "threads, streams and other rows of events",
    .sort = STK_SQL_LIST,
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
    .count = tracks_count,
    .cell = tracks_cell,
};
