// SPDX-License-Identifier: Apache-2.0
// Makes from a SELECT a plan of batches, and a statement over its results:
//
//   select name, sum(dur_ns) / 1e6 from kernels where dur_ns > 9 group by name order by 2 desc
//   select name, (+"value 0") / 1e6 from "rows of kernels" as kernels where "rows id"=0
//   order by 2 desc
//
// Aggregates, and keys that aren't columns, become values of a group; columns are those of one of
// the group's rows. HAVING becomes WHERE. Without aggregates, ORDER BY ... LIMIT n becomes the same
// over the n rows that it selects.
//
// If only SQLite can evaluate a key, events are grouped by its operands, and SQLite groups those
// groups again:
//
//   select name || device, count(*) from kernels group by 1
//   select name || device, sum("value 2") from "rows of kernels" as kernels where "rows id"=0
//   group by 1
#include "answers/query/columns/sql_batch.h"

#include <stdlib.h>

#define GROUPS_AGAIN_MAX 1000000 // with more, single rows are as fast

struct writer {
    const struct stk_sql_select *s;
    struct stk_batch_plan *p;
    const struct stk_sql_node *keys[STK_BATCH_KEYS_MAX];
    const struct stk_sql_node *sums[STK_BATCH_SUMS_MAX]; // NULL: count of the one before
    bool again;                                          // SQLite groups the groups
    sqlite3_str *out;
    bool bare; // needs columns that don't depend on a key
    bool failed;
};

static const struct stk_sql_node *meant(const struct stk_sql_node *n)
{
    while (n->kind == STK_NODE_ALIAS) {
        n = n->args[0];
    }
    return n;
}

// Does it need a count? SQLite computes an average with one. For a sum it counts real numbers:
// without any, the sum is an integer.
static bool has_second(const struct writer *w, const struct stk_sql_node *n)
{
    if (w->again && stk_sql_token_is(&n->word, "avg")) {
        return true;
    }
    const struct stk_sql_node *arg = n->arg_count == 1 ? meant(n->args[0]) : NULL;
    return stk_sql_token_is(&n->word, "sum") && arg && !n->distinct && !n->filter &&
           (arg->kind == STK_NODE_CASE ||
            (arg->kind == STK_NODE_CALL && stk_sql_token_is(&arg->word, "iif")));
}

static bool find_sum(struct writer *w, const struct stk_sql_node *n, uint32_t *which)
{
    struct stk_batch_plan *p = w->p;
    for (*which = 0; *which < p->sum_count; ++*which) {
        if (w->sums[*which] && stk_sql_node_equal(w->sums[*which], n)) {
            return true;
        }
    }
    bool second = has_second(w, n);
    if (p->sum_count + second >= STK_BATCH_SUMS_MAX || (w->again && n->distinct)) {
        return false;
    }
    w->sums[p->sum_count++] = n;
    if (second) {
        w->sums[p->sum_count++] = NULL;
    }
    return true;
}

// All aggregates of an expression, once each.
static bool collect_sums(struct writer *w, const struct stk_sql_node *n)
{
    uint32_t which;
    n = meant(n);
    if (n->kind != STK_NODE_AGGREGATE) {
        for (uint32_t i = 0; i < n->arg_count; i++) {
            if (!collect_sums(w, n->args[i])) {
                return false;
            }
        }
        return true;
    }
    return find_sum(w, n, &which) && (n->star || stk_batch_collect(w->p, n->args[0])) &&
           (!n->filter || stk_batch_collect(w->p, n->filter));
}

static bool compile_sum(struct writer *w, uint32_t which)
{
    static const struct {
        const char *name;
        enum stk_batch_sum_kind kind;
    } kinds[] = {{"count", STK_SUM_COUNT}, {"sum", STK_SUM_SUM},   {"total", STK_SUM_TOTAL},
                 {"avg", STK_SUM_AVERAGE}, {"min", STK_SUM_LEAST}, {"max", STK_SUM_GREATEST}};
    const struct stk_sql_node *n = w->sums[which];
    struct stk_batch_sum *sum = &w->p->sums[which];
    if (!n) {
        return true;
    }
    *sum = (struct stk_batch_sum){.kind = STK_SUM_ROWS};
    if (n->star && !n->filter) {
        return true;
    }
    size_t i = 0;
    while (!stk_sql_token_is(&n->word, kinds[i].name)) {
        i++;
    }
    sum->kind = kinds[i].kind;
    bool extreme = sum->kind == STK_SUM_LEAST || sum->kind == STK_SUM_GREATEST;
    sum->distinct = n->distinct && !extreme;
    bool adds =
        sum->kind == STK_SUM_SUM || sum->kind == STK_SUM_TOTAL || sum->kind == STK_SUM_AVERAGE;
    w->p->may_mix = adds && !n->distinct && !n->filter;
    sum->node = n->star ? NULL : stk_batch_compile(w->p, n->args[0]);
    w->p->may_mix = false;
    if (n->filter && (n->star || sum->node)) {
        sum->node = stk_batch_compile_when(w->p, n->filter, sum->node);
    }
    if (!sum->node) {
        return false;
    }
    if (has_second(w, n)) { // find_sum made room for it
        sum[1] = (struct stk_batch_sum){.kind = STK_SUM_COUNT, .node = sum->node};
        if (sum->kind == STK_SUM_AVERAGE) {
            sum->kind = STK_SUM_TOTAL;
        } else if (sum->node->real) {
            sum[1].node = sum->node->real;
        }
        sum->may_be_whole = sum->kind == STK_SUM_SUM && sum->node->real;
    } else if (sum->node->real && sum->kind == STK_SUM_SUM) {
        return false;
    }
    bool text = sum->node->type == STK_BATCH_TEXT;
    w->p->text_order |= text && extreme;
    return !text || extreme || sum->kind == STK_SUM_COUNT;
}

static int find_key(const struct writer *w, const struct stk_sql_node *n)
{
    for (uint32_t i = 0; i < w->p->key_count; i++) {
        if (stk_sql_node_equal(w->keys[i], n)) {
            return (int)i;
        }
    }
    return -1;
}

// Whether every row of a group has the same value, because it depends on a key.
static bool is_decided(const struct writer *w, const struct stk_sql_node *column)
{
    enum stk_query_key key = stk_query_fields[column->field].key;
    for (uint32_t i = 0; i < w->p->key_count; i++) {
        const struct stk_sql_node *k = meant(w->keys[i]);
        if (k->kind != STK_NODE_COLUMN) {
            continue;
        }
        if (k->field == column->field || k->field == STK_FIELD_ID ||
            (k->field == STK_FIELD_NAME && key == STK_KEY_NAME) ||
            (k->field == STK_FIELD_TRACK && key == STK_KEY_TRACK)) {
            return true;
        }
    }
    return false;
}

// An expression that can be evaluated here: columns, and arithmetic on numbers.
static bool is_arithmetic(const struct stk_sql_node *n)
{
    if (n->kind == STK_NODE_COLUMN) {
        return !stk_query_field_is_text((enum stk_query_field)n->field);
    }
    bool ok = n->kind == STK_NODE_LITERAL ||
              (n->kind == STK_NODE_SIGN && memchr("+-*/", n->word.p[0], 4) && n->word.n == 1);
    for (uint32_t i = 0; ok && i < n->arg_count; i++) {
        ok = is_arithmetic(meant(n->args[i]));
    }
    return ok && (n->kind != STK_NODE_LITERAL || n->word.p[0] != '\'');
}

static bool add_leaves(struct writer *w, const struct stk_sql_node *n)
{
    n = meant(n);
    if (n->kind == STK_NODE_LITERAL) {
        return true;
    }
    if (n->kind == STK_NODE_COLUMN || is_arithmetic(n)) {
        if (find_key(w, n) >= 0) {
            return true;
        }
        if (w->p->key_count == STK_BATCH_KEYS_MAX) {
            return false;
        }
        w->keys[w->p->key_count++] = n;
        return true;
    }
    for (uint32_t i = 0; i < n->arg_count; i++) {
        if (n->kind == STK_NODE_AGGREGATE || !add_leaves(w, n->args[i])) {
            return false;
        }
    }
    return n->arg_count > 0;
}

static void put_tokens(struct writer *w, uint32_t at, uint32_t end)
{
    for (; at < end; at++) {
        sqlite3_str_appendf(w->out, " %.*s", (int)w->s->tokens[at].n, w->s->tokens[at].p);
    }
}

static void put_sum_of_sums(struct writer *w, const struct stk_sql_node *n, uint32_t value)
{
    if (stk_sql_token_is(&n->word, "count")) {
        sqlite3_str_appendf(w->out, " sum(\"value %d\")", (int)value);
    } else if (stk_sql_token_is(&n->word, "avg")) {
        sqlite3_str_appendf(w->out, " (total(\"value %d\")/sum(\"value %d\"))", (int)value,
                            (int)value + 1);
    } else {
        sqlite3_str_appendf(w->out, " %.*s(\"value %d\")", (int)n->word.n, n->word.p, (int)value);
    }
}

// Writes the node's replacement in the new statement. False: it stays as written.
static bool put_value(struct writer *w, const struct stk_sql_node *n)
{
    uint32_t which;
    int key = n->kind == STK_NODE_COLUMN ? -1 : find_key(w, n);
    if (n->kind == STK_NODE_AGGREGATE) {
        w->failed |= !find_sum(w, n, &which);
        if (w->again) {
            put_sum_of_sums(w, n, w->p->key_count + which);
        } else {
            sqlite3_str_appendf(w->out, " (+\"value %d\")", (int)(w->p->key_count + which));
        }
        return true;
    }
    // A literal alone would be a column number in ORDER BY; it stays unchanged.
    if (key >= 0 && n->kind != STK_NODE_LITERAL && n->kind != STK_NODE_ALIAS) {
        sqlite3_str_appendf(w->out, " (+\"value %d\")", key);
        return true;
    }
    if (n->kind == STK_NODE_COLUMN && !is_decided(w, n)) {
        w->bare = true;
    }
    return false;
}

static void put_node(struct writer *w, const struct stk_sql_node *n, uint32_t *at)
{
    // The word may be a result name, whose meaning is then written there.
    if (n->first < *at) {
        return;
    }
    put_tokens(w, *at, n->first);
    *at = n->first;
    if (put_value(w, n)) {
        *at = n->end;
        return;
    }
    for (uint32_t i = 0; n->kind != STK_NODE_ALIAS && i < n->arg_count; i++) {
        put_node(w, n->args[i], at);
    }
    put_tokens(w, *at, n->end);
    *at = n->end;
}

static void put_items(struct writer *w, const struct stk_sql_item *items, uint32_t count,
                      uint32_t first, uint32_t end)
{
    uint32_t at = first;
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].node->first >= at && items[i].node->end <= end) {
            put_node(w, items[i].node, &at);
        }
    }
    put_tokens(w, at, end);
}

static void put_from(struct writer *w)
{
    sqlite3_str_appendf(w->out, " from \"rows of %s\" as %.*s where \"rows id\"=%d",
                        w->s->table->name, (int)w->s->alias.n, w->s->alias.p, w->p->rows_id);
}

static void write_groups(struct writer *w)
{
    const struct stk_sql_select *s = w->s;
    bool distinct = s->distinct && (s->group_count || w->again);
    sqlite3_str_appendall(w->out, distinct ? "select distinct" : "select");
    put_items(w, s->list, s->list_count, s->list_first, s->list_end);
    put_from(w);
    if (w->again && s->group_count) {
        put_items(w, s->group, s->group_count, s->group_first, s->having_first);
    }
    if (s->having) {
        uint32_t at = s->having_first + 1;
        sqlite3_str_appendall(w->out, w->again ? " having (" : " and (");
        put_node(w, s->having, &at);
        sqlite3_str_appendall(w->out, ")");
    }
    put_items(w, s->order, s->order_count, s->order_first, s->limit_first);
    put_tokens(w, s->limit_first, s->count);
}

static bool collect_all(struct writer *w)
{
    const struct stk_sql_select *s = w->s;
    bool ok = !s->where || stk_batch_collect(w->p, s->where);
    for (uint32_t i = 0; ok && i < w->p->key_count; i++) {
        ok = stk_batch_collect(w->p, w->keys[i]);
    }
    for (uint32_t i = 0; ok && i < s->list_count; i++) {
        ok = collect_sums(w, s->list[i].node);
    }
    for (uint32_t i = 0; ok && i < s->order_count; i++) {
        ok = collect_sums(w, s->order[i].node);
    }
    for (uint32_t i = 0; ok && w->p->top && i < s->order_count; i++) {
        ok = stk_batch_collect(w->p, s->order[i].node);
    }
    return ok && (!s->having || collect_sums(w, s->having));
}

static bool compile_all(struct writer *w)
{
    const struct stk_sql_select *s = w->s;
    struct stk_batch_plan *p = w->p;
    bool ok = !s->where || stk_batch_add_filters(p, s->where);
    for (uint32_t i = 0; ok && i < p->key_count; i++) {
        ok = (p->keys[i] = stk_batch_compile(p, w->keys[i])) != NULL;
    }
    for (uint32_t i = 0; ok && i < p->sum_count; i++) {
        ok = compile_sum(w, i);
    }
    for (uint32_t i = 0; ok && p->top && i < s->order_count; i++) {
        struct stk_batch_order *o = &p->order[p->order_count++];
        o->node = stk_batch_compile(p, s->order[i].node);
        o->descending = s->order[i].descending;
        o->nulls_last = s->order[i].nulls_first < 0 ? o->descending : !s->order[i].nulls_first;
        ok = o->node != NULL;
        p->text_order |= ok && o->node->type == STK_BATCH_TEXT;
    }
    return ok && (!p->text_order || stk_batch_order_texts(p));
}

// Chooses the row whose columns a group shows: like SQLite, that with the extreme if there is only
// one min() or max(), else the last.
static bool choose_row(struct writer *w)
{
    struct stk_batch_plan *p = w->p;
    uint32_t extremes = 0;
    p->row_of_sum = -1;
    for (uint32_t i = 0; i < p->sum_count; i++) {
        if (p->sums[i].kind == STK_SUM_LEAST || p->sums[i].kind == STK_SUM_GREATEST) {
            extremes++;
            p->row_of_sum = (int)i;
        }
    }
    if (!w->bare || extremes != 1) {
        p->row_of_sum = -1;
    }
    p->last_row = w->bare && extremes == 0;
    return !w->bare || extremes < 2;
}

static void group_field(void *arg, size_t row, enum stk_query_field f, struct stk_query_value *out)
{
    struct stk_sql_batch *b = arg;
    struct stk_batch_ref ref = b->groups.refs[b->groups.order[row]];
    struct stk_query_event v = {&b->plan.q->traces[ref.trace], ref.trace, ref.track, ref.event};
    out->kind = STK_VALUE_NULL;
    if (ref.event != STK_NONE) {
        stk_query_value_of(&v, f, out);
    }
}

static void group_value(void *arg, size_t row, int which, struct stk_query_value *out)
{
    struct stk_sql_batch *b = arg;
    uint32_t group = b->groups.order[row], keys = b->plan.key_count;
    if ((uint32_t)which < keys) {
        stk_batch_groups_key(&b->groups, group, (uint32_t)which, out);
    } else {
        stk_batch_groups_sum(&b->groups, group, (uint32_t)which - keys, out);
    }
}

static void top_field(void *arg, size_t row, enum stk_query_field f, struct stk_query_value *out)
{
    struct stk_sql_batch *b = arg;
    struct stk_batch_ref ref = b->top.refs[row];
    struct stk_query_event v = {&b->plan.q->traces[ref.trace], ref.trace, ref.track, ref.event};
    stk_query_value_of(&v, f, out);
}

// Chooses the form of the answer. False: none fits.
static bool choose_form(struct writer *w, uint64_t rows)
{
    const struct stk_sql_select *s = w->s;
    struct stk_batch_plan *p = w->p;
    const struct stk_sql_item *keys = s->group_count ? s->group : s->list;
    p->grouped = s->group_count > 0 || (s->distinct && !s->aggregates);
    p->sorted = s->group_count > 0 && !w->again;
    p->top = !p->grouped && !s->aggregates && !s->having && s->order_count > 0;
    uint32_t count = s->group_count ? s->group_count : p->grouped ? s->list_count : 0;
    if (count > STK_BATCH_KEYS_MAX || (s->star && !p->top) || (w->again && !count)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!w->again) {
            w->keys[p->key_count++] = keys[i].node;
        } else if (!add_leaves(w, keys[i].node)) {
            return false;
        }
    }
    if (!p->top) {
        return p->grouped || s->aggregates;
    }
    uint64_t wanted = s->limit >= 0 ? (uint64_t)s->limit + (uint64_t)s->offset
                      : rows        ? rows + 1
                                    : 0;
    p->top_count = wanted;
    return s->order_count <= STK_BATCH_KEYS_MAX && wanted <= STK_BATCH_TOP_MAX &&
           (wanted || s->limit == 0);
}

static bool answer(struct stk_sql_batch *b, const struct stk_sql_select *s, uint64_t rows,
                   bool again)
{
    struct writer w = {.s = s, .p = &b->plan, .again = again};
    struct stk_batch_plan *p = &b->plan;
    if (!choose_form(&w, rows) || !collect_all(&w) || !stk_batch_fill_dicts(p, s) ||
        !compile_all(&w)) {
        return false;
    }
    w.out = sqlite3_str_new(NULL);
    if (p->top) {
        sqlite3_str_appendall(w.out, "select");
        put_tokens(&w, s->list_first, s->list_end);
        put_from(&w);
        put_tokens(&w, s->order_first, s->count);
    } else {
        write_groups(&w);
    }
    b->sql = sqlite3_str_finish(w.out);
    // For distinct rows every column is a key.
    if (!b->sql || w.failed || (w.bare && p->grouped && (!s->group_count || again)) ||
        !choose_row(&w) || !stk_batch_run(p, &b->groups, &b->top)) {
        return false;
    }
    b->rows.arg = b;
    b->rows.count = p->top ? b->top.count : b->groups.count;
    b->rows.field = p->top ? top_field : group_field;
    b->rows.value = p->top ? NULL : group_value;
    b->counted = p->top && s->limit < 0;
    b->matching = b->top.seen;
    return true;
}

static void clear(struct stk_sql_batch *b)
{
    if (b->plan.has_texts) {
        stk_strpool_deinit(&b->plan.texts);
    }
    stk_batch_groups_deinit(&b->groups);
    stk_batch_top_deinit(&b->top);
    sqlite3_free(b->sql);
    b->sql = NULL;
}

bool stk_sql_batch_begin(struct stk_sql_batch *b, struct stk_query *q, const char *sql,
                         uint64_t rows, int rows_id)
{
    memset(b, 0, sizeof *b);
    stk_arena_init(&b->arena, 0);
    const struct stk_sql_select *s = stk_sql_parse(&b->arena, sql);
    if (!s) {
        return false;
    }
    for (int again = 0; again < 2 && !b->plan.interrupted; again++) {
        clear(b);
        b->plan = (struct stk_batch_plan){.q = q,
                                          .table = s->table,
                                          .rows_id = rows_id,
                                          .arena = &b->arena,
                                          .start_min_ns = INT64_MIN,
                                          .start_max_ns = INT64_MAX,
                                          .groups_max = again ? GROUPS_AGAIN_MAX : UINT32_MAX,
                                          .row_of_sum = -1};
        bool ok = answer(b, s, rows, again);
        q->failed = false; // if memory ran out, SQLite tries again
        if (ok) {
            return true;
        }
    }
    return false;
}

void stk_sql_batch_end(struct stk_sql_batch *b)
{
    clear(b);
    stk_arena_deinit(&b->arena);
}
