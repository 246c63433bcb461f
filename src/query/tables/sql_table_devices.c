// SPDX-License-Identifier: Apache-2.0
// Devices of the run.
#include "query/tables/sql_table.h"

static uint64_t devices_count(const struct stk_query *q)
{
    return q->source.run->device_count;
}

static void devices_cell(const struct stk_query *q, uint64_t row, int column,
                         struct stk_query_value *out)
{
    const struct stk_device_sum *d = &q->source.run->devices[row];
    const int64_t numbers[] = {0,
                               d->rank,
                               d->ordinal,
                               0,
                               d->first_ns,
                               d->span_ns,
                               d->busy_ns,
                               d->idle_ns,
                               (int64_t)d->kernels,
                               (int64_t)d->copies,
                               (int64_t)d->ops,
                               (int64_t)d->linked_ops,
                               d->analysed};
    if (column == 0) {
        stk_value_text(out, d->id);
    } else if (column == 3) {
        stk_value_text(out, d->name && *d->name ? d->name : NULL);
    } else {
        stk_value_number(out, numbers[column]);
    }
}

static const struct stk_query_column columns[] = {
    {.name = "device", .type = STK_QUERY_TEXT, .doc = "rank/number"},
    {.name = "rank", .type = STK_QUERY_NUMBER, .doc = "rank"},
    {.name = "number", .type = STK_QUERY_NUMBER, .doc = "as its process numbers it"},
    {.name = "name", .type = STK_QUERY_TEXT, .doc = "product, where recorded"},
    {.name = "first_ns", .type = STK_QUERY_NS, .doc = "start of its first operation"},
    {.name = "span_ns", .type = STK_QUERY_NS, .doc = "from there to the end of its last one"},
    {.name = "busy_ns", .type = STK_QUERY_NS, .doc = "union of its operations"},
    {.name = "idle_ns", .type = STK_QUERY_NS, .doc = "span_ns - busy_ns"},
    {.name = "kernels", .type = STK_QUERY_NUMBER, .doc = "how many, without collectives"},
    {.name = "copies", .type = STK_QUERY_NUMBER, .doc = "how many"},
    {.name = "operations", .type = STK_QUERY_NUMBER, .doc = "all of them"},
    {.name = "linked", .type = STK_QUERY_NUMBER, .doc = "operations whose launch call is known"},
    {.name = "analysed", .type = STK_QUERY_BOOL, .doc = "1 where it takes part in the breakdown"},
};

const struct stk_sql_table stk_sql_table_devices = {
    .name = "devices",
    .doc = "devices with their sums, as in the report",
    .sort = STK_SQL_LIST,
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
    .count = devices_count,
    .cell = devices_cell,
};
