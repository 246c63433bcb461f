// SPDX-License-Identifier: Apache-2.0
// Findings of stoker why, most valuable first.
#include "answers/query/tables/sql_table.h"

#define COLUMNS(C)                                                                                 \
    C(id, TEXT, stk_value_text(out, f->id), "id for stoker explain")                               \
    C(title, TEXT, stk_value_text(out, f->title), "in a sentence")                                 \
    C(severity, TEXT, stk_value_text(out, f->severity), "high, medium, low or info")               \
    C(confidence, TEXT, stk_value_text(out, f->confidence), "high, medium or low")                 \
    C(saving_share, SHARE, put_saving(out, f),                                                     \
      "share of the step that a fix can save at most (stoker why replays it)")                     \
    C(steps_affected, NUMBER, stk_value_number(out, f->steps_affected), "how many")
enum column { COLUMNS(STK_SQL_ENUM) };

static void put_saving(struct stk_query_value *out, const struct stk_query_finding *f)
{
    if (f->has_saving) {
        *out = (struct stk_query_value){.kind = STK_VALUE_REAL, .real = f->saving_share};
    }
}

static uint64_t findings_count(const struct stk_query *q)
{
    return q->source.finding_count;
}

static void findings_cell(const struct stk_query *q, uint64_t row, int column,
                          struct stk_query_value *out)
{
    const struct stk_query_finding *f = &q->source.findings[row];
    switch (column) {
        COLUMNS(STK_SQL_CASE)
    }
}

static const struct stk_query_column columns[] = {COLUMNS(STK_SQL_COLUMN)};

const struct stk_sql_table stk_sql_table_findings = {
    .name = "findings",
    .doc = "the findings of stoker why, most valuable first",
    .sort = STK_SQL_LIST,
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
    .count = findings_count,
    .cell = findings_cell,
};
