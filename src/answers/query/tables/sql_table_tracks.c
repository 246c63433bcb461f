// SPDX-License-Identifier: Apache-2.0
// Tracks of all profiles.
#include "answers/query/tables/sql_table.h"

enum column { ID, RANK, KIND, NAME, PROCESS, THREAD, DEVICE, PARENT, EVENTS };

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
    case ID:
        stk_value_number(out, stk_query_id(i, (uint32_t)row));
        break;
    case RANK:
        if (known->rank >= 0) {
            stk_value_number(out, known->rank);
        }
        break;
    case KIND:
        stk_value_text(out, kinds[track->kind]);
        break;
    case NAME:
        if (track->name) {
            stk_value_str(out, stk_strpool_get(&t->strings, track->name));
        }
        break;
    case PROCESS:
        stk_value_number(out, t->processes[track->process].pid);
        break;
    case THREAD:
        stk_value_number(out, track->id);
        break;
    case DEVICE:
        stk_value_text(out, known->device);
        break;
    case PARENT:
        if (track->parent != STK_NONE) {
            stk_value_number(out, stk_query_id(i, track->parent));
        }
        break;
    case EVENTS:
        stk_value_number(out, track->count);
        break;
    }
}

static const struct stk_query_column columns[] = {
    [ID] = {.name = "id", .type = STK_TYPE_NUMBER, .doc = "as in events.track"},
    [RANK] = {.name = "rank", .type = STK_TYPE_NUMBER, .doc = "rank of its process"},
    [KIND] = {.name = "kind",
              .type = STK_TYPE_TEXT,
              .doc = "thread, stream, derived, counter or other"},
    [NAME] = {.name = "name", .type = STK_TYPE_NAME, .doc = "as recorded"},
    [PROCESS] = {.name = "process", .type = STK_TYPE_NUMBER, .doc = "process id as recorded"},
    [THREAD] = {.name = "thread", .type = STK_TYPE_NUMBER, .doc = "thread, stream or line id"},
    [DEVICE] = {.name = "device",
                .type = STK_TYPE_TEXT,
                .doc = "rank/number of the device; null on the host"},
    [PARENT] = {.name = "parent",
                .type = STK_TYPE_NUMBER,
                .doc = "track whose events that overlap without nesting these are"},
    [EVENTS] = {.name = "events", .type = STK_TYPE_NUMBER, .doc = "how many it holds"},
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
