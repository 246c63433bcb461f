// SPDX-License-Identifier: Apache-2.0
// Tracks of all profiles.
#include "answers/query/tables/sql_table.h"

#define COLUMNS(C)                                                                                 \
    C(id, NUMBER, stk_value_number(out, stk_query_id(i, (uint32_t)row)), "as in events.track")     \
    C(rank, NUMBER, stk_value_number_if(out, known->rank >= 0, known->rank),                       \
      "rank of its process")                                                                       \
    C(kind, TEXT, stk_value_text(out, kinds[track->kind]),                                         \
      "thread, stream, derived, counter or other")                                                 \
    C(name, NAME, stk_value_str(out, name), "as recorded")                                         \
    C(process, NUMBER, stk_value_number(out, t->processes[track->process].pid),                    \
      "process id as recorded")                                                                    \
    C(thread, NUMBER, stk_value_number(out, track->id), "thread, stream or line id")               \
    C(device, TEXT, stk_value_text(out, known->device),                                            \
      "rank/number of the device; null on the host")                                               \
    C(parent, NUMBER,                                                                              \
      stk_value_number_if(out, track->parent != STK_NONE, stk_query_id(i, track->parent)),         \
      "the original track, if this is a sub-row of overlapping events")                            \
    C(events, NUMBER, stk_value_number(out, track->count), "number of its events")
enum column { COLUMNS(STK_SQL_ENUM) };

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
    struct stk_str name =
        track->name ? stk_strpool_get(&t->strings, track->name) : (struct stk_str){0};
    const struct stk_query_track *known = &q->traces[i].tracks[row];
    switch (column) {
        COLUMNS(STK_SQL_CASE)
    }
}

static const struct stk_query_column columns[] = {COLUMNS(STK_SQL_COLUMN)};

const struct stk_sql_table stk_sql_table_tracks = {
    .name = "tracks",
    .doc = "threads, streams and other rows of events",
    .sort = STK_SQL_LIST,
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
    .count = tracks_count,
    .cell = tracks_cell,
};
