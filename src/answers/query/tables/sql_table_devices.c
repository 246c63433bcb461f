// SPDX-License-Identifier: Apache-2.0
// Devices of the run.
#include "answers/query/tables/sql_table.h"

enum column {
    DEVICE,
    RANK,
    NUMBER,
    NAME,
    FIRST_NS,
    SPAN_NS,
    BUSY_NS,
    IDLE_NS,
    KERNELS,
    COPIES,
    OPERATIONS,
    LINKED,
    ANALYSED
};

static uint64_t devices_count(const struct stk_query *q)
{
    return q->source.run->device_count;
}

static void devices_cell(const struct stk_query *q, uint64_t row, int column,
                         struct stk_query_value *out)
{
    const struct stk_device_sum *d = &q->source.run->devices[row];
    switch (column) {
    case DEVICE:
        stk_value_text(out, d->id);
        break;
    case RANK:
        stk_value_number(out, d->rank);
        break;
    case NUMBER:
        stk_value_number(out, d->ordinal);
        break;
    case NAME:
        stk_value_text(out, d->name && *d->name ? d->name : NULL);
        break;
    case FIRST_NS:
        stk_value_number(out, d->first_ns);
        break;
    case SPAN_NS:
        stk_value_number(out, d->span_ns);
        break;
    case BUSY_NS:
        stk_value_number(out, d->busy_ns);
        break;
    case IDLE_NS:
        stk_value_number(out, d->idle_ns);
        break;
    case KERNELS:
        stk_value_number(out, (int64_t)d->kernels);
        break;
    case COPIES:
        stk_value_number(out, (int64_t)d->copies);
        break;
    case OPERATIONS:
        stk_value_number(out, (int64_t)d->ops);
        break;
    case LINKED:
        stk_value_number(out, (int64_t)d->linked_ops);
        break;
    case ANALYSED:
        stk_value_number(out, d->analysed);
        break;
    }
}

static const struct stk_query_column columns[] = {
    [DEVICE] = {.name = "device", .type = STK_TYPE_TEXT, .doc = "rank/number"},
    [RANK] = {.name = "rank", .type = STK_TYPE_NUMBER, .doc = "rank"},
    [NUMBER] = {.name = "number", .type = STK_TYPE_NUMBER, .doc = "as its process numbers it"},
    [NAME] = {.name = "name", .type = STK_TYPE_TEXT, .doc = "product, where recorded"},
    [FIRST_NS] = {.name = "first_ns", .type = STK_TYPE_NS, .doc = "start of its first operation"},
    [SPAN_NS] = {.name = "span_ns",
                 .type = STK_TYPE_NS,
                 .doc = "from there to the end of its last one"},
    [BUSY_NS] = {.name = "busy_ns", .type = STK_TYPE_NS, .doc = "union of its operations"},
    [IDLE_NS] = {.name = "idle_ns", .type = STK_TYPE_NS, .doc = "span_ns - busy_ns"},
    [KERNELS] = {.name = "kernels",
                 .type = STK_TYPE_NUMBER,
                 .doc = "how many, without collectives"},
    [COPIES] = {.name = "copies", .type = STK_TYPE_NUMBER, .doc = "how many"},
    [OPERATIONS] = {.name = "operations", .type = STK_TYPE_NUMBER, .doc = "all of them"},
    [LINKED] = {.name = "linked",
                .type = STK_TYPE_NUMBER,
                .doc = "operations whose launch call is known"},
    [ANALYSED] = {.name = "analysed",
                  .type = STK_TYPE_BOOL,
                  .doc = "1 where it takes part in the breakdown"},
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
