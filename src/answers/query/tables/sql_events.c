// SPDX-License-Identifier: Apache-2.0
// Tables of events in SQL: rows are events of the store, read in place. Conditions on numbers, and
// on kind, device and name, are tested here rather than by SQLite; ids are found directly.
#include "base/alloc.h"
#include "answers/query/tables/sql_module.h"

struct cursor {
    sqlite3_vtab_cursor base;
    struct stk_query_scan scan;
    struct stk_sql_names names;
    bool ended;
};

// The share of rows that one condition leaves: only the order matters.
static double share_of(enum stk_query_field field, char op)
{
    if (op != '=') {
        return op == 'L' || op == 'G' ? 0.1 : 0.3;
    }
    switch (field) {
    case STK_FIELD_NAME:
    case STK_FIELD_TRACK:
        return 0.01;
    case STK_FIELD_KIND:
    case STK_FIELD_RANK:
    case STK_FIELD_DEVICE:
        return 0.2;
    default:
        return 0.05;
    }
}

static int event_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    struct stk_sql_vtab *v = (struct stk_sql_vtab *)base;
    char plan[2 * STK_SCAN_FILTERS_MAX + 1];
    int n = 0;
    bool unique = false, chain = false;
    double rows = (double)v->q->event_count + 1, scanned = rows;
    for (int i = 0; i < info->nConstraint && n < STK_SCAN_FILTERS_MAX; i++) {
        if (!stk_sql_filter_takes(v->table, info, i, plan + 2 * n)) {
            continue;
        }
        enum stk_query_field field = (enum stk_query_field)(plan[2 * n] - 'A');
        char op = plan[2 * n + 1];
        unique |= field == STK_FIELD_ID && op == '=';
        chain |= field == STK_FIELD_LAUNCH && op == '=';
        rows *= share_of(field, op);
        if (stk_query_fields[field].key == STK_KEY_TRACK || field == STK_FIELD_START) {
            scanned *= share_of(field, op);
        }
        info->aConstraintUsage[i].argvIndex = ++n;
        info->aConstraintUsage[i].omit = 1;
    }
    plan[2 * n] = 0;
    info->idxStr = sqlite3_mprintf("%s", plan);
    info->needToFreeIdxStr = 1;
    info->estimatedRows = unique ? 1 : chain ? 2 : rows < 2 ? 2 : (sqlite3_int64)rows;
    info->estimatedCost = unique ? 5 : chain ? 10 : 20 + scanned * 0.2 + rows;
    info->idxFlags = unique ? SQLITE_INDEX_SCAN_UNIQUE : 0;
    if (!chain && info->nOrderBy == 1 && !info->aOrderBy[0].desc &&
        (info->aOrderBy[0].iColumn < 0 ||
         v->table->columns[info->aOrderBy[0].iColumn].field == STK_FIELD_ID)) {
        info->orderByConsumed = 1;
    }
    return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

static int event_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    (void)base;
    return stk_sql_open(sizeof(struct cursor), out);
}

static int event_close(sqlite3_vtab_cursor *base)
{
    struct cursor *c = (struct cursor *)base;
    stk_sql_names_free(&c->names, ((struct stk_sql_vtab *)base->pVtab)->q);
    stk_free(c);
    return SQLITE_OK;
}

static int event_next(sqlite3_vtab_cursor *base)
{
    struct cursor *c = (struct cursor *)base;
    c->ended = !stk_query_scan_next(&c->scan);
    return stk_sql_state(&c->scan);
}

static int event_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int argc,
                        sqlite3_value **argv)
{
    (void)number;
    struct cursor *c = (struct cursor *)base;
    struct stk_sql_vtab *v = (struct stk_sql_vtab *)base->pVtab;
    stk_query_scan_init(&c->scan, v->q);
    if (v->table->kinds) {
        c->scan.kinds = v->table->kinds;
    }
    c->scan.on_streams = v->table->on_streams;
    c->scan.launched = v->table->launched;
    c->scan.stop = stk_sql_should_stop;
    c->scan.stop_arg = v->q;
    int code = stk_sql_filter_apply(&c->scan, &c->names, plan, argc, argv);
    if (code != SQLITE_OK) {
        return code;
    }
    stk_query_scan_begin(&c->scan);
    return event_next(base);
}

static int event_eof(sqlite3_vtab_cursor *base)
{
    return ((struct cursor *)base)->ended;
}

static int event_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    struct cursor *c = (struct cursor *)base;
    struct stk_sql_vtab *v = (struct stk_sql_vtab *)base->pVtab;
    struct stk_query_value value;
    stk_query_value_of(&c->scan.at, (enum stk_query_field)v->table->columns[column].field, &value);
    stk_sql_result(context, &value);
    return stk_sql_state(&c->scan);
}

static int event_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    struct cursor *c = (struct cursor *)base;
    *out = stk_query_id(c->scan.at.trace, c->scan.at.event);
    return SQLITE_OK;
}

const sqlite3_module stk_sql_event_module = {
    .xConnect = stk_sql_connect,
    .xBestIndex = event_best_index,
    .xDisconnect = stk_sql_disconnect,
    .xOpen = event_open,
    .xClose = event_close,
    .xFilter = event_filter,
    .xNext = event_next,
    .xEof = event_eof,
    .xColumn = event_column,
    .xRowid = event_rowid,
};
