// SPDX-License-Identifier: Apache-2.0
// Tables of groups: "groups of kernels" holds one row for each set of events with equal keys on one
// track, with counts, sums and extremes of the columns asked for. Aggregates over events are
// rewritten to aggregates over these rows (sql_rewrite.c): SQLite then sees thousands of rows and
// not millions, and does the rest itself. Columns beside those of the table:
//   "groups plan"  what to make, as stk_sql_groups_plan writes it: must be given, by equality
//   "groups n"     events in the group
//   "groups bucket" the quotient of the bucket's column, where there is one
//   "groups n0", "s0", "lo0", "hi0", ... of the i-th column: values not null, sum, least, greatest
#ifndef STK_QUERY_SQL_GROUPS_H
#define STK_QUERY_SQL_GROUPS_H

#include "query/event_field.h"

#define STK_GROUPS_COLUMNS 8

struct stk_sql_groups_plan {
    bool by_name, by_bits, by_step; // keys beside the track
    int bucket;                     // one more key: this field ...
    int64_t divisor;                // ... divided by this, as SQL divides; 0: none
    int fields[STK_GROUPS_COLUMNS]; // enum stk_query_field: columns to sum up
    int field_count;
    int filters; // conditions that SQLite must hand over, or the groups would be wrong
};
#define STK_GROUPS_PLAN_SIZE 96
void stk_sql_groups_plan_write(const struct stk_sql_groups_plan *plan,
                               char out[STK_GROUPS_PLAN_SIZE]);
bool stk_sql_groups_plan_read(const char *text, struct stk_sql_groups_plan *plan);

#endif
