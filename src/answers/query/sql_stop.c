// SPDX-License-Identifier: Apache-2.0
// Ends a query early: on its timeout, or when its caller asks to.
#include "base/clock.h"
#include "answers/query/sql_impl.h"

bool stk_sql_should_stop(void *arg)
{
    struct stk_query *q = arg;
    struct stk_query_db *db = q->db;
    if (q->source.interrupted && q->source.interrupted(q->source.arg)) {
        db->interrupted = true;
    }
    if (db->deadline_ns && (int64_t)stk_clock_ns() > db->deadline_ns) {
        db->timed_out = true;
    }
    return db->interrupted || db->timed_out;
}
