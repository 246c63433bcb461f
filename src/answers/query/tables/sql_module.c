// SPDX-License-Identifier: Apache-2.0
// Shared by the virtual tables: declaring columns, passing values to SQLite.
#include "answers/query/tables/sql_module.h"

#include "base/alloc.h"

const char *stk_sql_declaration(const struct stk_sql_table *table, struct stk_arena *arena,
                                const char *extra)
{
    const char *text = "CREATE TABLE x(";
    for (size_t c = 0; c < table->column_count && text; c++) {
        text = stk_arena_printf(arena, "%s%s\"%s\" %s%s", text, c ? "," : "",
                                stk_sql_column_name(table, c),
                                stk_type_info(stk_sql_column_type(table, c))->declared,
                                c >= table->column_count - table->alias_count ? " HIDDEN" : "");
    }
    return text ? stk_arena_printf(arena, "%s%s)", text, extra ? extra : "") : NULL;
}

void stk_sql_result(sqlite3_context *context, const struct stk_query_value *value)
{
    switch (value->kind) {
    case STK_VALUE_INT:
        sqlite3_result_int64(context, value->number);
        break;
    case STK_VALUE_REAL:
        sqlite3_result_double(context, value->real);
        break;
    case STK_VALUE_TEXT:
        sqlite3_result_text(context, value->text.p, (int)value->text.n, SQLITE_STATIC);
        break;
    default:
        sqlite3_result_null(context);
    }
}

int stk_sql_declare(sqlite3 *sql, void *module, const char *extra, sqlite3_vtab **out)
{
    struct stk_sql_module *m = module;
    struct stk_sql_vtab *v = stk_alloc_zero(1, sizeof *v);
    const char *text = v ? stk_sql_declaration(m->table, &m->q->arena, extra) : NULL;
    m->q->db->declaring = true;
    int code = text ? sqlite3_declare_vtab(sql, text) : SQLITE_NOMEM;
    m->q->db->declaring = false;
    if (code != SQLITE_OK) {
        stk_free(v);
        return code;
    }
    v->q = m->q;
    v->table = m->table;
    *out = &v->base;
    return SQLITE_OK;
}

int stk_sql_connect(sqlite3 *sql, void *module, int argc, const char *const *argv,
                    sqlite3_vtab **out, char **error)
{
    (void)argc;
    (void)argv;
    (void)error;
    return stk_sql_declare(sql, module, NULL, out);
}

int stk_sql_disconnect(sqlite3_vtab *v)
{
    stk_free(v);
    return SQLITE_OK;
}

int stk_sql_open(size_t size, sqlite3_vtab_cursor **out)
{
    *out = stk_alloc_zero(1, size);
    return *out ? SQLITE_OK : SQLITE_NOMEM;
}

int stk_sql_close(sqlite3_vtab_cursor *cursor)
{
    stk_free(cursor);
    return SQLITE_OK;
}

int stk_sql_state(struct stk_query_scan *s)
{
    if (s->stopped) {
        return SQLITE_INTERRUPT;
    }
    if (!s->q->failed) {
        return SQLITE_OK;
    }
    s->q->failed = false;
    return SQLITE_NOMEM;
}
