// SPDX-License-Identifier: Apache-2.0
// Issues found while reading.
#include "answers/query/tables/sql_table.h"

#define COLUMNS(C)                                                                                 \
    C(profile, NUMBER, stk_value_number(out, profile), "index of the profile")                     \
    C(issue, TEXT, stk_value_text(out, info->key), "id, as in the report")                         \
    C(severity, TEXT, stk_value_text(out, stk_severity_key(info->severity)),                       \
      "info, data_loss or error")                                                                  \
    C(count, NUMBER, stk_value_number(out, (int64_t)issue->count), "how often")                    \
    C(events_lost, NUMBER, stk_value_number(out, (int64_t)issue->events_lost),                     \
      "of these, events missing from the tables")                                                  \
    C(meaning, TEXT, stk_value_text(out, info->meaning), "in a sentence")
enum column { COLUMNS(STK_SQL_ENUM) };

// The issue of a row, counting those that occurred. *profile: index of its trace.
static const struct stk_issue *issue_of(const struct stk_query *q, uint64_t row, uint32_t *profile,
                                        enum stk_issue_id *id)
{
    for (*profile = 0; *profile < q->trace_count; ++*profile) {
        for (int i = 0; i < STK_ISSUE_COUNT; i++) {
            const struct stk_issue *issue = &q->traces[*profile].t->issues[i];
            *id = (enum stk_issue_id)i;
            if (issue->count && row-- == 0) {
                return issue;
            }
        }
    }
    return NULL;
}

static uint64_t issues_count(const struct stk_query *q)
{
    uint64_t n = 0;
    for (uint32_t p = 0; p < q->trace_count; p++) {
        for (int i = 0; i < STK_ISSUE_COUNT; i++) {
            n += q->traces[p].t->issues[i].count > 0;
        }
    }
    return n;
}

static void issues_cell(const struct stk_query *q, uint64_t row, int column,
                        struct stk_query_value *out)
{
    enum stk_issue_id id;
    uint32_t profile;
    const struct stk_issue *issue = issue_of(q, row, &profile, &id);
    if (!issue) {
        return;
    }
    const struct stk_issue_info *info = stk_issue_info(id);
    switch (column) {
        COLUMNS(STK_SQL_CASE)
    }
}

static const struct stk_query_column columns[] = {COLUMNS(STK_SQL_COLUMN)};

const struct stk_sql_table stk_sql_table_issues = {
    .name = "issues",
    .doc = "problems and notes from reading the profiles",
    .sort = STK_SQL_LIST,
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
    .count = issues_count,
    .cell = issues_cell,
};
