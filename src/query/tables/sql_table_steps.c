// SPDX-License-Identifier: Apache-2.0
// Steps, a row for each device as in the report.
#include "query/tables/sql_table.h"

static uint64_t steps_count(const struct stk_query *q)
{
    return q->source.run->step_count;
}

static void steps_cell(const struct stk_query *q, uint64_t row, int column,
                       struct stk_query_value *out)
{
    const struct stk_step *s = &q->source.run->steps[row];
    switch (column) {
    case 0:
        stk_value_number(out, s->rank);
        break;
    case 1:
        stk_value_text(out, s->device == STK_NONE ? NULL : q->source.run->devices[s->device].id);
        break;
    case 2:
        stk_value_number(out, s->number);
        break;
    case 3:
        stk_value_number(out, s->start_ns);
        break;
    case 4:
        stk_value_number(out, s->dur_ns);
        break;
    case 5:
        stk_value_number(out, s->start_ns + s->dur_ns);
        break;
    case 6:
    case 7:
        if (s->host_dur_ns >= 0) {
            stk_value_number(out, column == 6 ? s->host_start_ns : s->host_dur_ns);
        }
        break;
    case 8:
        stk_value_number(out, s->excluded == NULL);
        break;
    default:
        stk_value_text(out, s->excluded);
    }
}

static const struct stk_query_column columns[] = {
    {.name = "rank", .type = STK_QUERY_NUMBER, .doc = "rank"},
    {.name = "device",
     .type = STK_QUERY_TEXT,
     .doc = "rank/number of the device; null for steps of the host"},
    {.name = "number",
     .type = STK_QUERY_NUMBER,
     .doc = "as the profile marks it, else counted from 0"},
    {.name = "start_ns", .type = STK_QUERY_NS, .doc = "on the device"},
    {.name = "dur_ns", .type = STK_QUERY_NS, .doc = "on the device"},
    {.name = "end_ns", .type = STK_QUERY_NS, .doc = "start_ns + dur_ns"},
    {.name = "host_start_ns",
     .type = STK_QUERY_NS,
     .doc = "on the host; null where not marked there"},
    {.name = "host_dur_ns", .type = STK_QUERY_NS, .doc = "on the host"},
    {.name = "used", .type = STK_QUERY_BOOL, .doc = "1 where it counts in the verdict"},
    {.name = "excluded", .type = STK_QUERY_TEXT, .doc = "why it does not, else null"},
};

const struct stk_sql_table stk_sql_table_steps = {
    .name = "steps",
    .doc = "steps of each rank on each device, or on the host where there is none",
    .sort = STK_SQL_LIST,
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
    .count = steps_count,
    .cell = steps_cell,
};
