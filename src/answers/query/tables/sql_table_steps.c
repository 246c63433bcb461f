// SPDX-License-Identifier: Apache-2.0
// Steps, a row for each device as in the report.
#include "answers/query/tables/sql_table.h"

enum column {
    START_NS = STK_SQL_STEP_COLUMNS,
    DUR_NS,
    END_NS,
    HOST_START_NS,
    HOST_DUR_NS,
    USED,
    EXCLUDED
};

void stk_sql_step_cell(const struct stk_query *q, const struct stk_step *s, int column,
                       struct stk_query_value *out)
{
    switch (column) {
    case STK_SQL_STEP_RANK:
        stk_value_number(out, s->rank);
        break;
    case STK_SQL_STEP_DEVICE:
        stk_value_text(out, s->device == STK_NONE ? NULL : q->source.run->devices[s->device].id);
        break;
    case STK_SQL_STEP_NUMBER:
        stk_value_number(out, s->number);
        break;
    }
}

static uint64_t steps_count(const struct stk_query *q)
{
    return q->source.run->step_count;
}

static void steps_cell(const struct stk_query *q, uint64_t row, int column,
                       struct stk_query_value *out)
{
    const struct stk_step *s = &q->source.run->steps[row];
    switch (column) {
    case START_NS:
        stk_value_number(out, s->start_ns);
        break;
    case DUR_NS:
        stk_value_number(out, s->dur_ns);
        break;
    case END_NS:
        stk_value_number(out, s->start_ns + s->dur_ns);
        break;
    case HOST_START_NS:
    case HOST_DUR_NS:
        if (s->host_dur_ns >= 0) {
            stk_value_number(out, column == HOST_START_NS ? s->host_start_ns : s->host_dur_ns);
        }
        break;
    case USED:
        stk_value_number(out, s->excluded == NULL);
        break;
    case EXCLUDED:
        stk_value_text(out, s->excluded);
        break;
    default:
        stk_sql_step_cell(q, s, column, out);
    }
}

static const struct stk_query_column columns[] = {
    STK_SQL_STEP_ROWS("number", "as the profile marks it, else counted from 0"),
    [START_NS] = {.name = "start_ns", .type = STK_TYPE_NS, .doc = "on the device"},
    [DUR_NS] = {.name = "dur_ns", .type = STK_TYPE_NS, .doc = "on the device"},
    [END_NS] = {.name = "end_ns", .type = STK_TYPE_NS, .doc = "start_ns + dur_ns"},
    [HOST_START_NS] = {.name = "host_start_ns",
                       .type = STK_TYPE_NS,
                       .doc = "on the host; null where not marked there"},
    [HOST_DUR_NS] = {.name = "host_dur_ns", .type = STK_TYPE_NS, .doc = "on the host"},
    [USED] = {.name = "used", .type = STK_TYPE_BOOL, .doc = "1 where it counts in the verdict"},
    [EXCLUDED] = {.name = "excluded", .type = STK_TYPE_TEXT, .doc = "why it does not, else null"},
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
