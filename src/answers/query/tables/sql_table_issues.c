// SPDX-License-Identifier: Apache-2.0
// Issues met while reading.
#include "answers/query/tables/sql_table.h"

enum column { PROFILE, ISSUE, SEVERITY, COUNT, EVENTS_LOST, MEANING };

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
    case PROFILE:
        stk_value_number(out, profile);
        break;
    case ISSUE:
        stk_value_text(out, info->key);
        break;
    case SEVERITY:
        stk_value_text(out, stk_severity_key(info->severity));
        break;
    case COUNT:
        stk_value_number(out, (int64_t)issue->count);
        break;
    case EVENTS_LOST:
        stk_value_number(out, (int64_t)issue->events_lost);
        break;
    case MEANING:
        stk_value_text(out, info->meaning);
        break;
    }
}

static const struct stk_query_column columns[] = {
    [PROFILE] = {.name = "profile", .type = STK_TYPE_NUMBER, .doc = "index of the profile"},
    [ISSUE] = {.name = "issue", .type = STK_TYPE_TEXT, .doc = "id, as in the report"},
    [SEVERITY] = {.name = "severity", .type = STK_TYPE_TEXT, .doc = "info, data_loss or error"},
    [COUNT] = {.name = "count", .type = STK_TYPE_NUMBER, .doc = "how often"},
    [EVENTS_LOST] = {.name = "events_lost",
                     .type = STK_TYPE_NUMBER,
                     .doc = "of these, whole events that are not in the tables"},
    [MEANING] = {.name = "meaning", .type = STK_TYPE_TEXT, .doc = "in a sentence"},
};

const struct stk_sql_table stk_sql_table_issues = {
    .name = "issues",
    .doc = "what was wrong or notable while the profiles were read",
    .sort = STK_SQL_LIST,
    .columns = columns,
    .column_count = sizeof columns / sizeof columns[0],
    .count = issues_count,
    .cell = issues_cell,
};
