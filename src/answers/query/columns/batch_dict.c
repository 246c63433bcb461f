// SPDX-License-Identifier: Apache-2.0
// Dictionaries: expressions that depend only on a name, a track, or kind and way, evaluated once
// for each of these. Columns are read directly; SQLite evaluates everything else, over a table with
// the distinct operands as rows.
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "answers/query/columns/batch.h"
#include "answers/query/sql_impl.h"

#define ENTRIES_MAX (1u << 24)
#define KINDS 16 // bits that a kind takes
#define WAYS 512 // of a copy, above them
#define BITS_CODES (KINDS * WAYS)

int stk_batch_class_of(const struct stk_sql_node *n)
{
    if (n->kind == STK_NODE_AGGREGATE) {
        return -1;
    }
    if (n->kind == STK_NODE_COLUMN) {
        if (n->field == STK_FIELD_LAUNCH_NAME) {
            return STK_CLASS_CALL;
        }
        switch (stk_query_fields[n->field].key) {
        case STK_KEY_NAME:
            return STK_CLASS_NAME;
        case STK_KEY_TRACK:
            return STK_CLASS_TRACK;
        case STK_KEY_BITS:
            return STK_CLASS_BITS;
        default:
            return -1;
        }
    }
    int class = STK_CLASS_CONSTANT;
    for (uint32_t i = 0; i < n->arg_count; i++) {
        int arg = stk_batch_class_of(n->args[i]);
        if (arg < 0 || (class != STK_CLASS_CONSTANT && arg != STK_CLASS_CONSTANT && arg != class)) {
            return -1;
        }
        class = arg != STK_CLASS_CONSTANT ? arg : class;
    }
    return class;
}

// Operands of one class as rows.
struct operands {
    const struct stk_batch_plan *plan;
    enum stk_batch_class class;
    uint32_t trace; // of the last requested row
};

static const uint32_t *base_of(const struct stk_batch_plan *p, enum stk_batch_class class)
{
    return class == STK_CLASS_TRACK ? p->track_base : p->name_base;
}

static size_t count_rows(const struct stk_batch_plan *p, enum stk_batch_class class)
{
    switch (class) {
    case STK_CLASS_CONSTANT:
        return 1;
    case STK_CLASS_BITS:
        return KINDS + WAYS;
    default:
        return base_of(p, class)[p->q->trace_count];
    }
}

static size_t count_codes(const struct stk_batch_plan *p, enum stk_batch_class class)
{
    return class == STK_CLASS_BITS ? BITS_CODES : count_rows(p, class);
}

// Only copies have a way.
static uint32_t code_of(enum stk_batch_class class, size_t row)
{
    if (class != STK_CLASS_BITS || row < KINDS) {
        return (uint32_t)row;
    }
    return (uint32_t)STK_KIND_MEMCPY | (uint32_t)(row - KINDS) << 4;
}

static void read_operand(void *arg, size_t row, enum stk_query_field f, struct stk_query_value *out)
{
    struct operands *o = arg;
    const struct stk_query *q = o->plan->q;
    struct stk_query_event v = {.x = q->traces};
    uint32_t code = code_of(o->class, row);
    if (o->class != STK_CLASS_BITS) {
        const uint32_t *base = base_of(o->plan, o->class);
        if (row < base[o->trace]) {
            o->trace = 0;
        }
        while (row >= base[o->trace + 1]) {
            o->trace++;
        }
        v.trace = o->trace;
        v.x = &q->traces[v.trace];
        code = (uint32_t)row - base[v.trace];
        v.track = o->class == STK_CLASS_TRACK ? code : 0;
    }
    if (!stk_query_field_is_text(f)) {
        stk_query_value_of(&v, f, out); // a track's
        return;
    }
    out->text = stk_query_text_of_key(&v, f, code);
    out->kind = out->text.p ? STK_VALUE_TEXT : STK_VALUE_NULL;
}

static bool put_value(struct stk_batch_plan *p, struct stk_batch_dict *d, size_t code,
                      const struct stk_query_value *v)
{
    static const enum stk_batch_type types[] = {STK_BATCH_NULL, STK_BATCH_INT, STK_BATCH_REAL,
                                                STK_BATCH_TEXT};
    d->nulls[code] = v->kind == STK_VALUE_NULL;
    if (v->kind == STK_VALUE_NULL) {
        return true;
    }
    if (d->type != STK_BATCH_NULL && d->type != types[v->kind]) {
        return false;
    }
    d->type = types[v->kind];
    if (v->kind == STK_VALUE_INT) {
        d->values[code] = v->number;
    } else if (v->kind == STK_VALUE_REAL) {
        memcpy(&d->values[code], &v->real, sizeof v->real);
    } else {
        uint32_t id = stk_strpool_intern(&p->texts, v->text.p, v->text.n);
        d->values[code] = id;
        return id != STK_STRPOOL_FAILED;
    }
    return true;
}

static bool read_column(struct stk_batch_plan *p, struct stk_batch_dict *d, struct operands *o,
                        enum stk_query_field f)
{
    for (size_t row = 0; row < count_rows(p, d->class); row++) {
        struct stk_query_value v;
        read_operand(o, row, f, &v);
        if (!put_value(p, d, code_of(d->class, row), &v)) {
            return false;
        }
    }
    return !p->q->failed;
}

static void write_tokens(sqlite3_str *out, const struct stk_sql_select *s, uint32_t at,
                         uint32_t end)
{
    for (; at < end; at++) {
        sqlite3_str_appendf(out, " %.*s", (int)s->tokens[at].n, s->tokens[at].p);
    }
}

static void write_node(sqlite3_str *out, const struct stk_sql_select *s,
                       const struct stk_sql_node *n);

// Writes the tokens before each result name in `n`, and the name's meaning.
static void write_inside(sqlite3_str *out, const struct stk_sql_select *s,
                         const struct stk_sql_node *n, uint32_t *at)
{
    for (uint32_t i = 0; i < n->arg_count; i++) {
        const struct stk_sql_node *arg = n->args[i];
        if (arg->kind == STK_NODE_ALIAS) {
            write_tokens(out, s, *at, arg->first);
            write_node(out, s, arg);
            *at = arg->end;
        } else {
            write_inside(out, s, arg, at);
        }
    }
}

static void write_node(sqlite3_str *out, const struct stk_sql_select *s,
                       const struct stk_sql_node *n)
{
    sqlite3_str_appendall(out, " (");
    while (n->kind == STK_NODE_ALIAS) {
        n = n->args[0];
    }
    uint32_t at = n->first;
    write_inside(out, s, n, &at);
    write_tokens(out, s, at, n->end);
    sqlite3_str_appendall(out, ")");
}

static bool read_result(sqlite3_stmt *stmt, int i, struct stk_query_value *out)
{
    switch (sqlite3_column_type(stmt, i)) {
    case SQLITE_NULL:
        out->kind = STK_VALUE_NULL;
        return true;
    case SQLITE_INTEGER:
        *out = (struct stk_query_value){STK_VALUE_INT, {.number = sqlite3_column_int64(stmt, i)}};
        return true;
    case SQLITE_FLOAT:
        *out = (struct stk_query_value){STK_VALUE_REAL, {.real = sqlite3_column_double(stmt, i)}};
        return true;
    case SQLITE_TEXT:
        out->kind = STK_VALUE_TEXT;
        out->text.p = (const char *)sqlite3_column_text(stmt, i);
        out->text.n = (size_t)sqlite3_column_bytes(stmt, i);
        return out->text.p != NULL;
    default:
        return false;
    }
}

static bool evaluate(struct stk_batch_plan *p, const struct stk_sql_select *s,
                     struct stk_batch_dict *d, struct operands *o)
{
    struct stk_query_db *db = p->q->db;
    struct stk_sql_rows rows = {.count = count_rows(p, d->class), .field = read_operand, .arg = o};
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendall(text, "select");
    write_node(text, s, d->source);
    if (d->class != STK_CLASS_CONSTANT) {
        sqlite3_str_appendf(text, " from \"rows of %s\" as %.*s where \"rows id\"=%d",
                            p->table->name, (int)s->alias.n, s->alias.p, p->rows_id);
    }
    char *sql = sqlite3_str_finish(text);
    sqlite3_stmt *stmt = NULL;
    bool ok = sql && sqlite3_prepare_v2(db->sql, sql, -1, &stmt, NULL) == SQLITE_OK;
    size_t row = 0;
    db->rows[p->rows_id] = &rows;
    while (ok && sqlite3_step(stmt) == SQLITE_ROW) {
        struct stk_query_value v;
        ok = read_result(stmt, 0, &v) && put_value(p, d, code_of(d->class, row), &v);
        row++;
    }
    db->rows[p->rows_id] = NULL;
    sqlite3_finalize(stmt);
    sqlite3_free(sql);
    return ok && row == rows.count && !p->q->failed;
}

static bool find_bases(struct stk_batch_plan *p)
{
    const struct stk_query *q = p->q;
    uint32_t *names = stk_arena_array(p->arena, (size_t)q->trace_count + 1, sizeof *names);
    uint32_t *tracks = stk_arena_array(p->arena, (size_t)q->trace_count + 1, sizeof *tracks);
    if (!names || !tracks) {
        return false;
    }
    for (uint32_t i = 0; i < q->trace_count; i++) {
        // One additional entry: no name.
        uint64_t end = (uint64_t)names[i] + q->traces[i].t->strings.count + 1;
        if (end > ENTRIES_MAX) {
            return false;
        }
        names[i + 1] = (uint32_t)end;
        tracks[i + 1] = tracks[i] + q->traces[i].t->track_count;
    }
    p->name_base = names;
    p->track_base = tracks;
    return true;
}

bool stk_batch_fill_dicts(struct stk_batch_plan *p, const struct stk_sql_select *s)
{
    if (p->q->trace_count == 0 || !find_bases(p) || stk_strpool_init(&p->texts, 0) != 0) {
        return false;
    }
    p->has_texts = true;
    for (uint32_t i = 0; i < p->dict_count; i++) {
        struct stk_batch_dict *d = &p->dicts[i];
        struct operands o = {.plan = p, .class = d->class};
        size_t codes = count_codes(p, d->class);
        d->values = stk_arena_array(p->arena, codes + 1, sizeof *d->values);
        d->nulls = stk_arena_array(p->arena, codes + 1, 1);
        if (!d->values || !d->nulls) {
            return false;
        }
        memset(d->nulls, 1, codes + 1);
        const struct stk_sql_node *n = d->source;
        while (n->kind == STK_NODE_ALIAS) {
            n = n->args[0];
        }
        if (n->kind == STK_NODE_COLUMN ? !read_column(p, d, &o, (enum stk_query_field)n->field)
                                       : !evaluate(p, s, d, &o)) {
            return false;
        }
    }
    return true;
}

struct ranked {
    struct stk_str text;
    uint32_t id;
};

static int by_bytes(const void *a, const void *b)
{
    struct stk_str x = ((const struct ranked *)a)->text, y = ((const struct ranked *)b)->text;
    int order = memcmp(x.p, y.p, x.n < y.n ? x.n : y.n);
    return order ? order : (x.n > y.n) - (x.n < y.n);
}

static void renumber(struct stk_batch_plan *p, const uint32_t *rank)
{
    for (uint32_t i = 0; i < p->dict_count; i++) {
        for (size_t c = 0;
             p->dicts[i].type == STK_BATCH_TEXT && c < count_codes(p, p->dicts[i].class); c++) {
            if (!p->dicts[i].nulls[c]) {
                p->dicts[i].values[c] = rank[p->dicts[i].values[c]];
            }
        }
    }
}

bool stk_batch_order_texts(struct stk_batch_plan *p)
{
    uint32_t count = p->texts.count;
    struct ranked *all = stk_alloc_array((size_t)count + 1, sizeof *all);
    uint32_t *rank = stk_alloc_array((size_t)count + 1, sizeof *rank);
    p->text_at = stk_arena_array(p->arena, (size_t)count + 1, sizeof *p->text_at);
    bool ok = all && rank && p->text_at;
    for (uint32_t i = 0; ok && i < count; i++) {
        all[i] = (struct ranked){stk_strpool_get(&p->texts, i), i};
    }
    if (ok) {
        stk_sort(all, count, sizeof *all, by_bytes);
        for (uint32_t i = 0; i < count; i++) {
            rank[all[i].id] = i;
            p->text_at[i] = all[i].id;
        }
        renumber(p, rank);
    }
    stk_free(all);
    stk_free(rank);
    return ok;
}

struct stk_str stk_batch_text(const struct stk_batch_plan *p, int64_t id)
{
    return stk_strpool_get(&p->texts, p->text_order ? p->text_at[id] : (uint32_t)id);
}
