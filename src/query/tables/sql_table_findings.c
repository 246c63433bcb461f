// SPDX-License-Identifier: Apache-2.0
// Findings of stoker why, most valuable first.
#include "query/tables/sql_table.h"

static uint64_t findings_count(const struct stk_query *q)
{
    return q->source.finding_count;
}

static void findings_cell(const struct stk_query *q, uint64_t row, int column,
                          struct stk_query_value *out)
{
    const struct stk_query_finding *f = &q->source.findings[row];
    const char *const texts[] = {f->id, f->title, f->severity, f->confidence};
    if (column < 4) {
        stk_value_text(out, texts[column]);
    } else if (column == 5) {
        stk_value_number(out, f->steps_affected);
    } else if (f->has_saving) {
        *out = (struct stk_query_value){.kind = STK_VALUE_REAL, .real = f->saving_share};
    }
}

static const struct stk_query_column columns[] = {
    {.name = "id", .type = STK_QUERY_TEXT, .doc = "as stoker explain knows it"},
    {.name = "title", .type = STK_QUERY_TEXT, .doc = "in a sentence"},
    {.name = "severity", .type = STK_QUERY_TEXT, .doc = "high, medium, low or info"},
    {.name = "confidence", .type = STK_QUERY_TEXT, .doc = "high, medium or low"},
    {.name = "saving_share",
     .type = STK_QUERY_SHARE,
     .doc = "of the step: expected, else the most that a fix can save"},
    {.name = "steps_affected", .type = STK_QUERY_NUMBER, .doc = "how many"},
};

const struct stk_sql_table stk_sql_table_findings = {
    .name = "findings",
    .doc = "what stoker why would change, most valuable first",
    .sort = STK_SQL_LIST,
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
    .count = findings_count,
    .cell = findings_cell,
};
