// SPDX-License-Identifier: Apache-2.0
// Parts of steps; they sum to the step.
#include "answers/query/tables/sql_table.h"

#define COLUMNS(C)                                                                                 \
    C(rank, NUMBER, stk_value_number(out, s->rank), "rank")                                        \
    C(device, TEXT, stk_value_text(out, stk_sql_step_device(q, s)),                                \
      "rank/number of the device; null for CPU steps")                                             \
    C(step, NUMBER, stk_value_number(out, s->number), "number of the step")                        \
    C(part, TEXT, stk_value_text(out, stk_part_info(part)->key),                                   \
      "id of the part, as in the report")                                                          \
    C(dur_ns, NS, stk_value_number(out, s->parts[part]), "time of the step in this part")          \
    C(used, BOOL, stk_value_number(out, s->excluded == NULL), "1 if the step counts in the verdict")
enum column { COLUMNS(STK_SQL_ENUM) };

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
        COLUMNS(STK_SQL_CASE)
    }
}

static const struct stk_query_column columns[] = {COLUMNS(STK_SQL_COLUMN)};

const struct stk_sql_table stk_sql_table_parts = {
    .name = "parts",
    .doc = "where each step's time goes: one row per step and part, including zeros",
    .sort = STK_SQL_LIST,
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
    .count = parts_count,
    .cell = parts_cell,
};
