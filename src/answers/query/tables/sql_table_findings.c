// SPDX-License-Identifier: Apache-2.0
// Findings of stoker why, most valuable first.
#include "answers/query/tables/sql_table.h"

enum column { ID, TITLE, SEVERITY, CONFIDENCE, SAVING_SHARE, STEPS_AFFECTED };

static uint64_t findings_count(const struct stk_query *q)
{
    return q->source.finding_count;
}

static void findings_cell(const struct stk_query *q, uint64_t row, int column,
                          struct stk_query_value *out)
{
    const struct stk_query_finding *f = &q->source.findings[row];
    switch (column) {
    case ID:
        stk_value_text(out, f->id);
        break;
    case TITLE:
        stk_value_text(out, f->title);
        break;
    case SEVERITY:
        stk_value_text(out, f->severity);
        break;
    case CONFIDENCE:
        stk_value_text(out, f->confidence);
        break;
    case SAVING_SHARE:
        if (f->has_saving) {
            *out = (struct stk_query_value){.kind = STK_VALUE_REAL, .real = f->saving_share};
        }
        break;
    case STEPS_AFFECTED:
        stk_value_number(out, f->steps_affected);
        break;
    }
}

static const struct stk_query_column columns[] = {
    [ID] = {.name = "id", .type = STK_TYPE_TEXT, .doc = "as stoker explain knows it"},
    [TITLE] = {.name = "title", .type = STK_TYPE_TEXT, .doc = "in a sentence"},
    [SEVERITY] = {.name = "severity", .type = STK_TYPE_TEXT, .doc = "high, medium, low or info"},
    [CONFIDENCE] = {.name = "confidence", .type = STK_TYPE_TEXT, .doc = "high, medium or low"},
    [SAVING_SHARE] = {.name = "saving_share",
                      .type = STK_TYPE_SHARE,
                      .doc = "of the step: the most that a fix can save (why replays it)"},
    [STEPS_AFFECTED] = {.name = "steps_affected", .type = STK_TYPE_NUMBER, .doc = "how many"},
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
