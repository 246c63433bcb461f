// SPDX-License-Identifier: Apache-2.0
// The tables of stoker query and their columns.
#include "answers/query/tables/sql_table.h"

#include <strings.h>

const struct stk_sql_table *const stk_sql_tables[] = {
#define X(name) &stk_sql_table_##name,
#include "answers/query/tables/sql_tables.def"
#undef X
};
const size_t stk_sql_table_count = sizeof stk_sql_tables / sizeof stk_sql_tables[0];

const char *stk_sql_column_name(const struct stk_sql_table *table, size_t column)
{
    const struct stk_query_column *c = &table->columns[column];
    return c->name ? c->name : stk_query_fields[c->field].column;
}

enum stk_type stk_sql_column_type(const struct stk_sql_table *table, size_t column)
{
    const struct stk_query_column *c = &table->columns[column];
    return table->sort == STK_SQL_EVENTS ? stk_query_fields[c->field].type : c->type;
}

const char *stk_sql_column_doc(const struct stk_sql_table *table, size_t column)
{
    const struct stk_query_column *c = &table->columns[column];
    return c->doc ? c->doc : stk_query_fields[c->field].doc;
}

int stk_sql_column_find(const struct stk_sql_table *table, const char *name, size_t n)
{
    for (size_t c = 0; c < table->column_count; c++) {
        if (strlen(stk_sql_column_name(table, c)) == n &&
            strncasecmp(stk_sql_column_name(table, c), name, n) == 0) {
            return (int)c;
        }
    }
    return -1;
}

void stk_sql_put_event(const struct stk_query *q, const struct stk_query_rank *rank, uint32_t event,
                       struct stk_query_value *out)
{
    for (uint32_t i = 0; i < q->trace_count && event != STK_NONE; i++) {
        if (q->traces[i].t == rank->trace) {
            stk_value_number(out, stk_query_id(i, event));
            return;
        }
    }
}

size_t stk_query_table_count(void)
{
    return stk_sql_table_count;
}

const char *stk_query_table_name(size_t index)
{
    return stk_sql_tables[index]->name;
}

const char *stk_query_table_doc(size_t index)
{
    return stk_sql_tables[index]->doc;
}

bool stk_query_table_column(size_t index, size_t column, struct stk_query_column *out)
{
    const struct stk_sql_table *table = stk_sql_tables[index];
    if (column >= table->column_count - table->alias_count) {
        return false;
    }
    *out = (struct stk_query_column){.name = stk_sql_column_name(table, column),
                                     .type = stk_sql_column_type(table, column),
                                     .doc = stk_sql_column_doc(table, column)};
    return true;
}
