// SPDX-License-Identifier: Apache-2.0
// Devices of the run.
#include "answers/query/tables/sql_table.h"

#define COLUMNS(C)                                                                                 \
    C(device, TEXT, stk_value_text(out, d->id), "rank/number")                                     \
    C(rank, NUMBER, stk_value_number(out, d->rank), "rank")                                        \
    C(number, NUMBER, stk_value_number(out, d->ordinal), "the process's number of it")             \
    C(name, TEXT, stk_value_text(out, d->name && *d->name ? d->name : NULL),                       \
      "product, where recorded")                                                                   \
    C(first_ns, NS, stk_value_number(out, d->first_ns), "start of its first operation")            \
    C(span_ns, NS, stk_value_number(out, d->span_ns), "from there to the end of its last one")     \
    C(busy_ns, NS, stk_value_number(out, d->busy_ns), "union of its operations")                   \
    C(idle_ns, NS, stk_value_number(out, d->idle_ns), "span_ns - busy_ns")                         \
    C(kernels, NUMBER, stk_value_number(out, (int64_t)d->kernels),                                 \
      "number of kernels, without collectives")                                                    \
    C(copies, NUMBER, stk_value_number(out, (int64_t)d->copies), "how many")                       \
    C(operations, NUMBER, stk_value_number(out, (int64_t)d->ops), "all of them")                   \
    C(linked, NUMBER, stk_value_number(out, (int64_t)d->linked_ops),                               \
      "operations with a known launch call")                                                       \
    C(analysed, BOOL, stk_value_number(out, d->analysed), "1 if it is part of the breakdown")
enum column { COLUMNS(STK_SQL_ENUM) };

static uint64_t devices_count(const struct stk_query *q)
{
    return q->source.run->device_count;
}

static void devices_cell(const struct stk_query *q, uint64_t row, int column,
                         struct stk_query_value *out)
{
    const struct stk_device_sum *d = &q->source.run->devices[row];
    switch (column) {
        COLUMNS(STK_SQL_CASE)
    }
}

static const struct stk_query_column columns[] = {COLUMNS(STK_SQL_COLUMN)};

const struct stk_sql_table stk_sql_table_devices = {
    .name = "devices",
    .doc = "devices with their sums, as in the report",
    .sort = STK_SQL_LIST,
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
    .count = devices_count,
    .cell = devices_cell,
};
