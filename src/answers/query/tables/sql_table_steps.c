// SPDX-License-Identifier: Apache-2.0
// Steps, a row for each device as in the report.
#include "answers/query/tables/sql_table.h"

#define COLUMNS(C)                                                                                 \
    C(rank, NUMBER, stk_value_number(out, s->rank), "rank")                                        \
    C(device, TEXT, stk_value_text(out, stk_sql_step_device(q, s)),                                \
      "rank/number of the device; null for CPU steps")                                             \
    C(number, NUMBER, stk_value_number(out, s->number), "the marked number, else counted from 0")  \
    C(start_ns, NS, stk_value_number(out, s->start_ns), "on the device")                           \
    C(dur_ns, NS, stk_value_number(out, s->dur_ns), "on the device")                               \
    C(end_ns, NS, stk_value_number(out, s->start_ns + s->dur_ns), "start_ns + dur_ns")             \
    C(host_start_ns, NS, stk_value_number_if(out, s->host_dur_ns >= 0, s->host_start_ns),          \
      "on the CPU; null if not marked there")                                                      \
    C(host_dur_ns, NS, stk_value_number_if(out, s->host_dur_ns >= 0, s->host_dur_ns),              \
      "on the host")                                                                               \
    C(used, BOOL, stk_value_number(out, s->excluded == NULL), "1 if it counts in the verdict")     \
    C(excluded, TEXT, stk_value_text(out, s->excluded), "why it doesn't, else null")
enum column { COLUMNS(STK_SQL_ENUM) };

static uint64_t steps_count(const struct stk_query *q)
{
    return q->source.run->step_count;
}

static void steps_cell(const struct stk_query *q, uint64_t row, int column,
                       struct stk_query_value *out)
{
    const struct stk_step *s = &q->source.run->steps[row];
    switch (column) {
        COLUMNS(STK_SQL_CASE)
    }
}

static const struct stk_query_column columns[] = {COLUMNS(STK_SQL_COLUMN)};

const struct stk_sql_table stk_sql_table_steps = {
    .name = "steps",
    .doc = "steps of each rank on each device, or on the CPU without devices",
    .sort = STK_SQL_LIST,
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
    .count = steps_count,
    .cell = steps_cell,
};
