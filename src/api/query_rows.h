// SPDX-License-Identifier: Apache-2.0
// Turns rows of a query or a search into a table document.
#pragma once

#include "api/api.h"
#include "answers/query/query.h"

struct stk_query_rows {
    struct stoker_tables *tables;
    struct stk_column *columns;
    enum stk_type types[STK_QUERY_COLUMNS_MAX];
    size_t column_count;
    struct stk_vec values; // struct stk_query_value; texts are interned in tables->texts
    uint64_t limit, rows;  // rows in total
};

void stk_query_rows_init(struct stk_query_rows *r, struct stoker_tables *tables, uint64_t limit);
void stk_query_rows_deinit(struct stk_query_rows *r);
struct stk_query_sink stk_query_rows_sink(struct stk_query_rows *r);
// Puts the rows into a table of the document.
STK_MUST_CHECK enum stoker_status stk_query_rows_finish(struct stk_query_rows *r, const char *id,
                                                        const char *title, struct stoker_err *err);
