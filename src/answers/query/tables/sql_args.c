// SPDX-License-Identifier: Apache-2.0
// Arguments of events in SQL. They aren't in the store: each event's record is read again from its
// file, so the query must name or join the event.
#include "base/alloc.h"
#include "base/vec.h"
#include "answers/query/tables/sql_module.h"

#define ARGS_MAX 100000 // of one event

enum { EVENT, KEY, VALUE };

struct pair {
    const char *key, *value; // in the arena
};
struct cursor {
    sqlite3_vtab_cursor base;
    struct stk_arena arena;
    struct stk_vec pairs;
    int64_t event;
    size_t row;
    bool failed;
};

static int args_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    bool asked = false;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        if (c->iColumn != EVENT || c->op != SQLITE_INDEX_CONSTRAINT_EQ) {
            continue;
        }
        asked = true;
        if (!c->usable) {
            continue;
        }
        info->aConstraintUsage[i].argvIndex = 1;
        info->estimatedRows = 10;
        info->estimatedCost = 100000;
        return SQLITE_OK;
    }
    if (asked) {
        return SQLITE_CONSTRAINT; // another order of the join makes it usable
    }
    base->zErrMsg = sqlite3_mprintf("args needs an event: where event = ..., or a join on it");
    return SQLITE_ERROR;
}

static int args_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    (void)base;
    struct cursor *c = stk_alloc_zero(1, sizeof *c);
    if (!c) {
        return SQLITE_NOMEM;
    }
    stk_arena_init(&c->arena, 0);
    stk_vec_init(&c->pairs, sizeof(struct pair), ARGS_MAX);
    *out = &c->base;
    return SQLITE_OK;
}

static int args_close(sqlite3_vtab_cursor *base)
{
    struct cursor *c = (struct cursor *)base;
    stk_arena_deinit(&c->arena);
    stk_vec_deinit(&c->pairs);
    stk_free(c);
    return SQLITE_OK;
}

static void args_take(void *arg, struct stk_str key, struct stk_str value)
{
    struct cursor *c = arg;
    if (c->pairs.count == ARGS_MAX) {
        return;
    }
    struct pair *pair = stk_vec_push(&c->pairs);
    if (!pair) {
        c->failed = true;
        return;
    }
    pair->key = stk_arena_strndup(&c->arena, key.n ? key.p : "", key.n);
    pair->value = stk_arena_strndup(&c->arena, value.n ? value.p : "", value.n);
    c->failed |= !pair->key || !pair->value;
}

static int args_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int argc,
                       sqlite3_value **argv)
{
    (void)number;
    (void)plan;
    struct cursor *c = (struct cursor *)base;
    struct stk_query *q = ((struct stk_sql_vtab *)base->pVtab)->q;
    stk_arena_deinit(&c->arena);
    stk_arena_init(&c->arena, 0);
    c->pairs.count = c->row = 0;
    c->failed = false;
    if (argc < 1 || sqlite3_value_numeric_type(argv[0]) != SQLITE_INTEGER || !q->source.args) {
        return SQLITE_OK;
    }
    c->event = sqlite3_value_int64(argv[0]);
    const struct stk_query_trace *x = stk_query_trace_of(q, c->event);
    uint32_t event = (uint32_t)c->event;
    if (!x || event >= x->t->count || !x->tracks[stk_track_of(x->t, event)].taken) {
        return SQLITE_OK;
    }
    if (stk_sql_should_stop(q)) {
        return SQLITE_INTERRUPT;
    }
    if (q->source.args(q->source.arg, x->rank, event, args_take, c, &q->db->err) != STOKER_OK) {
        return SQLITE_ERROR; // q->db->err says why
    }
    return c->failed ? SQLITE_NOMEM : SQLITE_OK;
}

static int args_next(sqlite3_vtab_cursor *base)
{
    ((struct cursor *)base)->row++;
    return SQLITE_OK;
}

static int args_eof(sqlite3_vtab_cursor *base)
{
    struct cursor *c = (struct cursor *)base;
    return c->row >= c->pairs.count;
}

static int args_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    struct cursor *c = (struct cursor *)base;
    const struct pair *pair = stk_vec_at(&c->pairs, c->row);
    int64_t number;
    if (column == EVENT) {
        sqlite3_result_int64(context, c->event);
    } else if (column == VALUE && stk_str_to_i64(stk_str_from(pair->value), &number)) {
        sqlite3_result_int64(context, number);
    } else {
        sqlite3_result_text(context, column == KEY ? pair->key : pair->value, -1, SQLITE_TRANSIENT);
    }
    return SQLITE_OK;
}

static int args_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = (sqlite3_int64)((struct cursor *)base)->row;
    return SQLITE_OK;
}

const sqlite3_module stk_sql_args_module = {
    .xConnect = stk_sql_connect,
    .xBestIndex = args_best_index,
    .xDisconnect = stk_sql_disconnect,
    .xOpen = args_open,
    .xClose = args_close,
    .xFilter = args_filter,
    .xNext = args_next,
    .xEof = args_eof,
    .xColumn = args_column,
    .xRowid = args_rowid,
};
