// SPDX-License-Identifier: Apache-2.0
// Parts of steps; they sum to the step.
#include "answers/query/tables/sql_table.h"

enum column { PART = STK_SQL_STEP_COLUMNS, DUR_NS, USED };

static uint64_t parts_count(const struct stk_query *q)
{
    return (uint64_t)q->source.run->step_count * STK_PART_COUNT;
}

static void parts_cell(const struct stk_query *q, uint64_t row, int column,
                       struct stk_query_value *out)
{
    const struct stk_step *s = &q->source.run->steps[row / STK_PART_COUNT];
    enum stk_part part = (enum stk_part)(row % STK_PART_COUNT);
    switch (column) {
    case PART:
        stk_value_text(out, stk_part_info(part)->key);
        break;
    case DUR_NS:
        stk_value_number(out, s->parts[part]);
        break;
    case USED:
        stk_value_number(out, s->excluded == NULL);
        break;
    default:
        stk_sql_step_cell(q, s, column, out);
    }
}

static const struct stk_query_column columns[] = {
    STK_SQL_STEP_ROWS("step", "number of the step"),
    [PART] = {.name = "part", .type = STK_TYPE_TEXT, .doc = "id of the part, as in the report"},
    [DUR_NS] = {.name = "dur_ns", .type = STK_TYPE_NS, .doc = "time of the step that goes there"},
    [USED] = {.name = "used",
              .type = STK_TYPE_BOOL,
              .doc = "1 where the step counts in the verdict"},
};

const struct stk_sql_table stk_sql_table_parts = {
    .name = "parts",
    .doc = "where each step's time goes: one row for each step and part, zeros too",
    .sort = STK_SQL_LIST,
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
    .count = parts_count,
    .cell = parts_cell,
};
