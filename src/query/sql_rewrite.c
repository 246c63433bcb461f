// SPDX-License-Identifier: Apache-2.0
// SELECT count(*), sum(x) ... FROM <events> [WHERE ...] [GROUP BY ...] becomes the same over groups
// of events (sql_groups.h): count(*) is the sum of the groups' counts, sum(x) that of their sums,
// min(x) the least of their least. What stands around these calls stays as it is, and SQLite does
// the grouping, HAVING, ORDER BY and LIMIT.
//
// That is right where every other column is one that a group's keys decide (name, kind, step, what
// belongs to a track, and one quotient such as start_ns / 1000000), since then it has one value in
// the group; conditions on other columns
// must be of the form `column < constant`, which the groups' table tests event by event. Anything
// else is not rewritten: joins, subqueries, windows, unknown functions, quoted identifiers.
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>

#include "query/sql_groups.h"
#include "query/sql_impl.h"
#include "query/sql_lex.h"

#define TOKENS_MAX 400
#define ALIASES_MAX 32

struct rewrite {
    struct stk_sql_token tokens[TOKENS_MAX + 1]; // an empty one ends them
    size_t count;
    const struct stk_sql_table *table;
    struct stk_sql_token alias; // of the table
    // Clauses: first token after the keyword; `where` is SIZE_MAX where there is none.
    size_t list, from, from_end, where, where_end;
    const struct stk_sql_token *names[ALIASES_MAX]; // AS ...
    size_t name_count;
    struct stk_sql_groups_plan plan;
    bool aggregates, distinct, grouped;
    sqlite3_str *out;
};

static bool is(const struct rewrite *r, size_t i, const char *text)
{
    return i < r->count && stk_sql_token_is(&r->tokens[i], text);
}

static bool is_among(const struct stk_sql_token *t, const char *const *words)
{
    for (; *words; words++)
        if (stk_sql_token_is(t, *words))
            return true;
    return false;
}

static bool same(const struct stk_sql_token *a, const struct stk_sql_token *b)
{
    return a->n == b->n && strncasecmp(a->p, b->p, a->n) == 0;
}

static bool is_keyword(const struct stk_sql_token *t)
{
    static const char *const words[] = {
        "distinct", "all",     "as",     "and",     "or",      "not",    "in",    "is",
        "null",     "like",    "glob",   "regexp",  "between", "case",   "when",  "then",
        "else",     "end",     "cast",   "integer", "real",    "text",   "asc",   "desc",
        "nulls",    "first",   "last",   "limit",   "offset",  "having", "group", "order",
        "by",       "collate", "nocase", "binary",  "escape",  "true",   "false", "isnull",
        "notnull",  "where",   NULL};
    return t->kind == STK_SQL_WORD && is_among(t, words);
}

static bool is_scalar(const struct stk_sql_token *t)
{
    static const char *const words[] = {
        "round",  "abs",       "coalesce", "ifnull", "nullif", "lower",  "upper",
        "substr", "substring", "length",   "printf", "format", "instr",  "replace",
        "trim",   "ltrim",     "rtrim",    "iif",    "typeof", "regexp", NULL};
    return is_among(t, words);
}

// Parentheses close in the order in which they open.
static bool is_balanced(const struct rewrite *r)
{
    int depth = 0;
    for (size_t i = 0; i < r->count && depth >= 0; i++)
        depth += is(r, i, "(") - is(r, i, ")");
    return depth == 0;
}

// After the parenthesis that token i opens.
static size_t after_paren(const struct rewrite *r, size_t i)
{
    int depth = 0;
    for (; i < r->count; i++) {
        depth += is(r, i, "(") - is(r, i, ")");
        if (depth == 0)
            return i + 1;
    }
    return i;
}

// Field of a column token, possibly qualified; *used tokens. -1: not a column of the table.
static int column_at(const struct rewrite *r, size_t i, size_t *used)
{
    const struct stk_sql_token *t = &r->tokens[i];
    *used = 1;
    if (t->kind == STK_SQL_WORD && is(r, i + 1, ".")) {
        struct stk_sql_token table = {STK_SQL_WORD, r->table->name, strlen(r->table->name)};
        if (!same(t, r->alias.n ? &r->alias : &table))
            return -1;
        *used = 3;
        t += 2;
    }
    if (t->kind != STK_SQL_WORD)
        return -1;
    int column = stk_sql_column_find(r->table, t->p, t->n);
    return column < 0 ? -1 : r->table->columns[column].field;
}

static bool add_key(struct rewrite *r, int field)
{
    switch (stk_query_fields[field].key) {
    case STK_KEY_NONE:
        return false;
    case STK_KEY_NAME:
        r->plan.by_name = true;
        return true;
    case STK_KEY_BITS:
        r->plan.by_bits = true;
        return true;
    case STK_KEY_STEP:
        r->plan.by_step = true;
        return true;
    default: // groups never leave their track
        return true;
    }
}

// Which of the groups' columns sums up the field; -1: too many.
static int sums_of(struct rewrite *r, int field)
{
    for (int i = 0; i < r->plan.field_count; i++)
        if (r->plan.fields[i] == field)
            return i;
    if (r->plan.field_count == STK_GROUPS_COLUMNS)
        return -1;
    r->plan.fields[r->plan.field_count] = field;
    return r->plan.field_count++;
}

static bool find_clauses(struct rewrite *r)
{
    static const char *const refused[] = {"with",   "union",  "except",  "intersect",
                                          "window", "over",   "filter",  "join",
                                          "values", "exists", "indexed", NULL};
    size_t i = 1;
    if (!is(r, 0, "select"))
        return false;
    for (size_t k = 1; k < r->count; k++)
        if (r->tokens[k].kind == STK_SQL_OTHER || is(r, k, "select") || is(r, k, ";") ||
            is_among(&r->tokens[k], refused))
            return false;
    r->distinct = is(r, 1, "distinct");
    r->list = 1;
    while (i < r->count && !is(r, i, "from"))
        i = is(r, i, "(") ? after_paren(r, i) : i + 1;
    r->from = i++;
    for (size_t t = 0; t < stk_sql_table_count && i < r->count; t++)
        if (stk_sql_tables[t]->sort == STK_SQL_EVENTS && is(r, i, stk_sql_tables[t]->name))
            r->table = stk_sql_tables[t];
    if (!r->table)
        return false;
    i += 1 + is(r, i + 1, "as");
    if (i < r->count && r->tokens[i].kind == STK_SQL_WORD && !is_keyword(&r->tokens[i]))
        r->alias = r->tokens[i++];
    r->from_end = i;
    r->where = r->where_end = SIZE_MAX;
    if (is(r, i, "where")) {
        r->where = ++i;
        while (i < r->count && !is(r, i, "group") && !is(r, i, "having") && !is(r, i, "order") &&
               !is(r, i, "limit"))
            i = is(r, i, "(") ? after_paren(r, i) : i + 1;
        r->where_end = i;
    }
    r->grouped = is(r, i, "group");
    return i == r->count || is(r, i, "group") || is(r, i, "having") || is(r, i, "order") ||
           is(r, i, "limit");
}

// Whether token i ends an expression of the select list, so that a name may follow without AS.
static bool ends_expression(const struct rewrite *r, size_t i)
{
    const struct stk_sql_token *t = &r->tokens[i];
    return is(r, i, ")") || is(r, i, "end") || t->kind == STK_SQL_NUMERAL ||
           t->kind == STK_SQL_STRING || (t->kind == STK_SQL_WORD && !is_keyword(t));
}

// Names that the select list gives (AS x, or x alone). One that is a column's too is ambiguous:
// refused.
static bool find_names(struct rewrite *r)
{
    for (size_t i = r->list + 1; i < r->from;) {
        const struct stk_sql_token *name = &r->tokens[i];
        bool last = i + 1 == r->from || is(r, i + 1, ",");
        if (last && name->kind == STK_SQL_WORD && !is_keyword(name) &&
            (is(r, i - 1, "as") || ends_expression(r, i - 1))) {
            if (r->name_count == ALIASES_MAX ||
                stk_sql_column_find(r->table, name->p, name->n) >= 0)
                return false;
            r->names[r->name_count++] = name;
        }
        i = is(r, i, "(") ? after_paren(r, i) : i + 1;
    }
    return true;
}

static bool is_name(const struct rewrite *r, const struct stk_sql_token *t)
{
    for (size_t i = 0; i < r->name_count; i++)
        if (same(r->names[i], t))
            return true;
    return false;
}

static void put(struct rewrite *r, const struct stk_sql_token *t)
{
    sqlite3_str_appendf(r->out, " %.*s", (int)t->n, t->p);
}

// count(column): values that are not null.
static bool put_count(struct rewrite *r, int field, size_t i, size_t used)
{
    if (!stk_query_field_is_text((enum stk_query_field)field)) {
        int k = sums_of(r, field);
        sqlite3_str_appendf(r->out, " coalesce(sum(\"groups n%d\"),0)", k);
        return k >= 0;
    }
    if (!add_key(r, field))
        return false;
    sqlite3_str_appendall(r->out, " coalesce(sum(iif(");
    for (size_t k = 0; k < used; k++)
        sqlite3_str_append(r->out, r->tokens[i + k].p, (int)r->tokens[i + k].n);
    sqlite3_str_appendall(r->out, " is null,0,\"groups n\")),0)");
    return true;
}

// An aggregate call at token i; *next is what follows it. False: not one that can be taken.
static bool put_aggregate(struct rewrite *r, size_t i, size_t *next)
{
    static const char *const simple[] = {"sum", "min", "max", "avg", "total", NULL};
    size_t end = after_paren(r, i + 1), used;
    *next = end;
    if (end < i + 4) // count()
        return false;
    r->aggregates = true;
    if (is(r, i, "count") && end == i + 4 &&
        (is(r, i + 2, "*") || r->tokens[i + 2].kind == STK_SQL_NUMERAL)) {
        sqlite3_str_appendall(r->out, " coalesce(sum(\"groups n\"),0)");
        return true;
    }
    bool distinct = is(r, i + 2, "distinct");
    size_t at = i + 2 + distinct;
    int field = column_at(r, at, &used);
    if (field < 0 || end != at + used + 1)
        return false;
    bool extreme = is(r, i, "min") || is(r, i, "max"), count = is(r, i, "count");
    if ((distinct && (count || extreme)) ||
        (extreme && stk_query_field_is_text((enum stk_query_field)field))) {
        for (size_t k = i; k < end; k++)
            put(r, &r->tokens[k]);
        return add_key(r, field);
    }
    if (distinct)
        return false;
    if (count)
        return put_count(r, field, at, used);
    if (!is_among(&r->tokens[i], simple) || stk_query_field_is_text((enum stk_query_field)field))
        return false;
    int k = sums_of(r, field);
    if (is(r, i, "sum"))
        sqlite3_str_appendf(r->out, " sum(\"groups s%d\")", k);
    else if (is(r, i, "min"))
        sqlite3_str_appendf(r->out, " min(\"groups lo%d\")", k);
    else if (is(r, i, "max"))
        sqlite3_str_appendf(r->out, " max(\"groups hi%d\")", k);
    else if (is(r, i, "avg"))
        sqlite3_str_appendf(r->out, " (cast(sum(\"groups s%d\") as real)/sum(\"groups n%d\"))", k,
                            k);
    else
        sqlite3_str_appendf(r->out, " coalesce(cast(sum(\"groups s%d\") as real),0.0)", k);
    return k >= 0;
}

static bool is_aggregate(const struct rewrite *r, size_t i)
{
    static const char *const words[] = {"count", "sum", "avg", "total", NULL};
    if (!is(r, i + 1, "("))
        return false;
    if (is_among(&r->tokens[i], words))
        return true;
    if (!is(r, i, "min") && !is(r, i, "max"))
        return false;
    size_t end = after_paren(r, i + 1); // with several arguments they are functions of a row
    for (size_t k = i + 2; k + 1 < end; k = is(r, k, "(") ? after_paren(r, k) : k + 1)
        if (is(r, k, ","))
            return false;
    return true;
}

// column / 1000: how many tokens it takes, 0 where it is not that, or not a factor by itself.
static size_t bucket_at(struct rewrite *r, size_t i, int field, size_t used)
{
    static const char *const before[] = {
        "select", "distinct", "all",  ",",    "(",    "by", "and",     "or",
        "where",  "having",   "then", "else", "when", "<",  ">",       "=",
        "==",     "<=",       ">=",   "<>",   "!=",   "+",  "between", NULL};
    const struct stk_sql_token *t = &r->tokens[i + used + 1];
    int64_t divisor = 0;
    if (!is(r, i + used, "/") || i + used + 1 >= r->count || t->kind != STK_SQL_NUMERAL ||
        t->n > 17 || !is_among(&r->tokens[i - 1], before) || is(r, i + used + 2, "||") ||
        is(r, i + used + 2, "collate") || stk_query_field_is_text((enum stk_query_field)field))
        return 0;
    for (size_t k = 0; k < t->n; k++) {
        if (t->p[k] < '0' || t->p[k] > '9')
            return 0;
        divisor = divisor * 10 + (t->p[k] - '0');
    }
    if (divisor == 0 ||
        (r->plan.divisor && (r->plan.divisor != divisor || r->plan.bucket != field)))
        return 0;
    r->plan.bucket = field;
    r->plan.divisor = divisor;
    return used + 2;
}

// Copies tokens [i, end), aggregates replaced. `where`: none may be there.
static bool put_clause(struct rewrite *r, size_t i, size_t end, bool where)
{
    while (i < end) {
        const struct stk_sql_token *t = &r->tokens[i];
        size_t used = 1;
        int field;
        if (t->kind != STK_SQL_WORD) {
            // `*` of a select list, not a product
            if (is(r, i, "*") && (i == r->list || is(r, i - 1, ",") || is(r, i - 1, ".") ||
                                  is(r, i - 1, "distinct") || is(r, i - 1, "all")))
                return false;
            put(r, t);
        } else if (is_aggregate(r, i)) {
            if (where || !put_aggregate(r, i, &i))
                return false;
            continue;
        } else if (is(r, i + 1, "(") && !is_keyword(t)) {
            if (!is_scalar(t) && !is(r, i, "min") && !is(r, i, "max"))
                return false;
            put(r, t);
        } else if (is_keyword(t) || (is_name(r, t) && !is(r, i + 1, "."))) {
            put(r, t);
        } else if ((field = column_at(r, i, &used)) >= 0) {
            size_t bucket =
                stk_query_fields[field].key == STK_KEY_NONE ? bucket_at(r, i, field, used) : 0;
            if (bucket) {
                sqlite3_str_appendall(r->out, " \"groups bucket\"");
                i += bucket;
                continue;
            }
            if (!add_key(r, field))
                return false;
            sqlite3_str_appendchar(r->out, 1, ' ');
            for (size_t k = 0; k < used; k++)
                sqlite3_str_append(r->out, r->tokens[i + k].p, (int)r->tokens[i + k].n);
        } else {
            return false;
        }
        i += used;
    }
    return true;
}

// Whether [i, end) is a constant number: numerals and arithmetic.
static bool is_constant(const struct rewrite *r, size_t i, size_t end)
{
    bool any = false;
    for (; i < end; i++) {
        any |= r->tokens[i].kind == STK_SQL_NUMERAL;
        if (r->tokens[i].kind != STK_SQL_NUMERAL && !is(r, i, "+") && !is(r, i, "-") &&
            !is(r, i, "*") && !is(r, i, "/") && !is(r, i, "(") && !is(r, i, ")"))
            return false;
    }
    return any;
}

// A condition on a column that keys do not decide: column < constant, constant < column, column
// between two constants. How many filters it makes; 0: not of that form.
static int simple_filters(const struct rewrite *r, size_t i, size_t end, size_t between)
{
    static const char *const signs[] = {"=", "==", "<", "<=", ">", ">=", NULL};
    size_t used;
    int field = column_at(r, i, &used);
    if (field >= 0) {
        size_t at = i + used;
        if (stk_query_field_is_text((enum stk_query_field)field))
            return 0;
        if (is(r, at, "between"))
            return between && is_constant(r, at + 1, between) && is_constant(r, between + 1, end)
                       ? 2
                       : 0;
        return is_among(&r->tokens[at], signs) && is_constant(r, at + 1, end) ? 1 : 0;
    }
    for (size_t at = i; at < end; at++)
        if (is_among(&r->tokens[at], signs)) {
            field = column_at(r, at + 1, &used);
            return field >= 0 && !stk_query_field_is_text((enum stk_query_field)field) &&
                           at + 1 + used == end && is_constant(r, i, at)
                       ? 1
                       : 0;
        }
    return 0;
}

// End of the condition at i: the next AND that joins conditions. *between: the AND inside BETWEEN.
static size_t condition_end(const struct rewrite *r, size_t i, size_t *between)
{
    bool open = false; // after BETWEEN, before its AND
    *between = 0;
    while (i < r->where_end) {
        if (is(r, i, "and") && !open)
            return i;
        if (is(r, i, "and")) {
            *between = i;
            open = false;
        }
        open |= is(r, i, "between");
        i = is(r, i, "(") ? after_paren(r, i) : i + 1;
    }
    return i;
}

static bool has_or(const struct rewrite *r)
{
    for (size_t i = r->where; i < r->where_end; i = is(r, i, "(") ? after_paren(r, i) : i + 1)
        if (is(r, i, "or") || is(r, i, "case"))
            return true;
    return false;
}

static bool put_where(struct rewrite *r)
{
    if (r->where == SIZE_MAX)
        return true;
    if (has_or(r)) {
        sqlite3_str_appendall(r->out, " and (");
        bool ok = put_clause(r, r->where, r->where_end, true);
        sqlite3_str_appendall(r->out, ")");
        return ok;
    }
    int conditions = 0;
    for (size_t i = r->where, end, between; i < r->where_end; i = end + 1) {
        end = condition_end(r, i, &between);
        int filters = simple_filters(r, i, end, between);
        size_t used;
        int field = column_at(r, i, &used);
        for (size_t k = i; k < end && filters == 1 && field < 0; k++)
            field = column_at(r, k, &used);
        sqlite3_str_appendall(r->out, " and (");
        if (filters && field >= 0 && stk_query_fields[field].key == STK_KEY_NONE) {
            r->plan.filters += filters;
            for (size_t k = i; k < end; k++)
                put(r, &r->tokens[k]);
        } else if (!put_clause(r, i, end, true)) {
            return false;
        }
        sqlite3_str_appendall(r->out, ")");
        conditions += filters > 1 ? filters : 1;
    }
    return conditions < STK_SCAN_FILTERS_MAX;
}

static bool rewrite(struct rewrite *r, char **rest)
{
    if (!is_balanced(r) || !find_clauses(r) || !find_names(r))
        return false;
    sqlite3_str_appendall(r->out, "select");
    if (!put_clause(r, r->list, r->from, false))
        return false;
    // The plan is known only when everything has been seen: the rest goes to a text of its own.
    sqlite3_str *head = r->out;
    r->out = sqlite3_str_new(NULL);
    size_t after = r->where == SIZE_MAX ? r->from_end : r->where_end;
    bool ok = put_where(r) && put_clause(r, after, r->count, false);
    *rest = sqlite3_str_finish(r->out);
    r->out = head;
    if (!ok || (!r->aggregates && !r->grouped && !r->distinct))
        return false;
    char plan[STK_GROUPS_PLAN_SIZE];
    struct stk_sql_token name = {STK_SQL_WORD, r->table->name, strlen(r->table->name)};
    name = r->alias.n ? r->alias : name;
    stk_sql_groups_plan_write(&r->plan, plan);
    sqlite3_str_appendf(r->out, " from \"groups of %s\" as %.*s where \"groups plan\"='%s'%s",
                        r->table->name, (int)name.n, name.p, plan, *rest ? *rest : "");
    return true;
}

char *stk_sql_rewrite(const char *sql)
{
    struct rewrite r = {.count = 0};
    char *rest = NULL;
    r.count = stk_sql_lex(sql, r.tokens, TOKENS_MAX);
    if (r.count != SIZE_MAX && r.count && is(&r, r.count - 1, ";"))
        r.count--;
    if (r.count == SIZE_MAX)
        return NULL;
    r.out = sqlite3_str_new(NULL);
    bool ok = rewrite(&r, &rest);
    char *out = sqlite3_str_finish(r.out);
    sqlite3_free(rest);
    if (ok)
        return out;
    sqlite3_free(out);
    return NULL;
}
