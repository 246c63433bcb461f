// SPDX-License-Identifier: Apache-2.0
// Parses a SELECT by recursive descent over SQLite's levels of operators: OR; AND; NOT; equality,
// IS, IN, LIKE, BETWEEN; order; bits; sums; products; ||; signs. COLLATE is left to SQLite if it
// affects more than its operand.
#include "answers/query/columns/sql_parse.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEPTH_MAX 100

struct parser {
    struct stk_sql_select *s;
    uint32_t at;
    int depth;
    bool aliases; // names of result columns are allowed
    bool in_aggregate;
    bool failed;
};

static struct stk_sql_node *parse_expression(struct parser *p);

static const struct stk_sql_token *token(const struct parser *p)
{
    return &p->s->tokens[p->at];
}

static bool is(const struct parser *p, const char *text)
{
    return stk_sql_token_is(token(p), text);
}

static bool is_among(const struct stk_sql_token *t, const char *const *words)
{
    for (; *words; words++) {
        if (stk_sql_token_is(t, *words)) {
            return true;
        }
    }
    return false;
}

static bool parse_take(struct parser *p, const char *text)
{
    bool taken = is(p, text);
    p->at += taken;
    return taken;
}

static void *parse_fail(struct parser *p)
{
    p->failed = true;
    return NULL;
}

static bool expect(struct parser *p, const char *text)
{
    if (!parse_take(p, text)) {
        p->failed = true;
    }
    return !p->failed;
}

static bool is_keyword(const struct stk_sql_token *t)
{
    static const char *const words[] = {
        "select", "from",  "where",  "group",   "by",      "having", "order",   "limit",
        "offset", "as",    "and",    "or",      "not",     "in",     "is",      "like",
        "glob",   "match", "regexp", "between", "case",    "when",   "then",    "else",
        "end",    "cast",  "asc",    "desc",    "collate", "escape", "isnull",  "notnull",
        "union",  "all",   "except", "exists",  "join",    "on",     "using",   "distinct",
        "null",   "true",  "false",  "filter",  "over",    "window", "indexed", "intersect",
        "cross",  "left",  "inner",  "natural", "values",  "with",   "nulls",   NULL};
    return t->kind == STK_SQL_WORD && is_among(t, words);
}

static struct stk_sql_node *new_node(struct parser *p, enum stk_sql_node_kind kind, uint32_t first)
{
    struct stk_sql_node *n = stk_arena_alloc(p->s->arena, sizeof *n);
    if (!n) {
        return parse_fail(p);
    }
    n->kind = kind;
    n->first = first;
    n->end = p->at;
    return n;
}

// One more operand; false: no memory, or no operand.
static bool add_arg(struct parser *p, struct stk_sql_node *n, struct stk_sql_node *arg)
{
    if (!n || !arg || p->failed) {
        return parse_fail(p) != NULL;
    }
    if ((n->arg_count & (n->arg_count + 1)) == 0) {
        struct stk_sql_node **args = stk_arena_array(p->s->arena, 2 * ((size_t)n->arg_count + 1),
                                                     sizeof(struct stk_sql_node *));
        if (!args) {
            return parse_fail(p) != NULL;
        }
        for (uint32_t i = 0; i < n->arg_count; i++) {
            args[i] = n->args[i];
        }
        n->args = args;
    }
    n->args[n->arg_count++] = arg;
    n->end = p->at;
    return true;
}

static struct stk_sql_node *new_binary(struct parser *p, enum stk_sql_node_kind kind,
                                       const struct stk_sql_token *word, struct stk_sql_node *a,
                                       struct stk_sql_node *b)
{
    struct stk_sql_node *n = a && b ? new_node(p, kind, a->first) : NULL;
    if (!n || !add_arg(p, n, a) || !add_arg(p, n, b)) {
        return parse_fail(p);
    }
    n->word = *word;
    return n;
}

static bool is_aggregate(const struct stk_sql_token *t, uint32_t args)
{
    static const char *const always[] = {"count", "sum", "avg", "total", NULL};
    static const char *const of_one[] = {"min", "max", NULL};
    return is_among(t, always) || (args == 1 && is_among(t, of_one));
}

static bool is_scalar(const struct stk_sql_token *t)
{
    static const char *const words[] = {
        "round",     "abs",     "coalesce", "ifnull",    "nullif",    "lower",    "upper",
        "min",       "max",     "substr",   "length",    "printf",    "format",   "instr",
        "iif",       "replace", "trim",     "ltrim",     "rtrim",     "typeof",   "regexp",
        "substring", "sqrt",    "exp",      "ln",        "log",       "log2",     "log10",
        "pow",       "power",   "floor",    "ceil",      "trunc",     "sign",     "mod",
        "hex",       "unicode", "char",     "quote",     "like",      "glob",     "date",
        "time",      "ceiling", "datetime", "julianday", "unixepoch", "strftime", NULL};
    return is_among(t, words);
}

static struct stk_sql_node *parse_call(struct parser *p)
{
    uint32_t first = p->at;
    struct stk_sql_node *n = new_node(p, STK_NODE_CALL, first);
    if (!n) {
        return NULL;
    }
    n->word = *token(p);
    p->at += 2; // its name and the parenthesis
    bool nested = p->in_aggregate;
    // Whether it is an aggregate may depend on the number of operands: nesting is tested after.
    bool seen = p->s->aggregates;
    p->s->aggregates = false;
    n->distinct = parse_take(p, "distinct");
    n->star = parse_take(p, "*");
    if (!n->star && !is(p, ")")) {
        do {
            add_arg(p, n, parse_expression(p));
        } while (!p->failed && parse_take(p, ","));
    }
    if (!expect(p, ")")) {
        return NULL;
    }
    bool inner = p->s->aggregates, aggregate = is_aggregate(&n->word, n->arg_count);
    p->s->aggregates = seen || inner || aggregate;
    if (aggregate) {
        n->kind = STK_NODE_AGGREGATE;
        if (inner || nested || n->arg_count > 1 || (n->arg_count == 0 && !n->star) ||
            (n->star && !stk_sql_token_is(&n->word, "count"))) {
            return parse_fail(p);
        }
        if (parse_take(p, "filter")) {
            p->in_aggregate = true;
            if (expect(p, "(") && expect(p, "where")) {
                n->filter = parse_expression(p);
            }
            p->in_aggregate = nested;
            if (p->failed || !expect(p, ")")) {
                return NULL;
            }
        }
    } else if (!is_scalar(&n->word) || n->star || n->distinct) {
        return parse_fail(p);
    }
    if (is(p, "over") || is(p, "filter")) {
        return parse_fail(p);
    }
    n->end = p->at;
    return n;
}

static struct stk_sql_node *parse_case(struct parser *p)
{
    struct stk_sql_node *n = new_node(p, STK_NODE_CASE, p->at++);
    if (!n) {
        return NULL;
    }
    if (!is(p, "when")) {
        n->has_operand = add_arg(p, n, parse_expression(p));
    }
    if (!is(p, "when")) {
        return parse_fail(p);
    }
    while (!p->failed && parse_take(p, "when")) {
        add_arg(p, n, parse_expression(p));
        if (!p->failed && expect(p, "then")) {
            add_arg(p, n, parse_expression(p));
        }
    }
    if (!p->failed && parse_take(p, "else")) {
        n->has_else = add_arg(p, n, parse_expression(p));
    }
    if (p->failed || !expect(p, "end")) {
        return NULL;
    }
    n->end = p->at;
    return n;
}

static struct stk_sql_node *parse_cast(struct parser *p)
{
    struct stk_sql_node *n = new_node(p, STK_NODE_CAST, p->at);
    p->at += 2;
    if (!n || !add_arg(p, n, parse_expression(p)) || !expect(p, "as") ||
        token(p)->kind != STK_SQL_WORD) {
        return parse_fail(p);
    }
    n->word = *token(p);
    p->at++;
    if (!expect(p, ")")) {
        return NULL;
    }
    n->end = p->at;
    return n;
}

static bool same(const struct stk_sql_token *a, const struct stk_sql_token *b)
{
    return a->n == b->n && (a->n == 0 || strncasecmp(a->p, b->p, a->n) == 0);
}

static struct stk_sql_node *parse_name(struct parser *p)
{
    uint32_t first = p->at;
    const struct stk_sql_token *t = token(p);
    if (stk_sql_token_is(t + 1, ".")) {
        if (!same(t, &p->s->alias)) {
            return parse_fail(p);
        }
        p->at += 2;
        t += 2;
    }
    int column = t->kind == STK_SQL_WORD ? stk_sql_column_find(p->s->table, t->p, t->n) : -1;
    p->at++;
    if (column >= 0) {
        struct stk_sql_node *n = new_node(p, STK_NODE_COLUMN, first);
        if (n) {
            n->column = column;
            n->field = p->s->table->columns[column].field;
        }
        return n;
    }
    for (uint32_t i = 0; p->aliases && p->at == first + 1 && i < p->s->list_count; i++) {
        if (p->s->list[i].name && same(p->s->list[i].name, t)) {
            struct stk_sql_node *n = new_node(p, STK_NODE_ALIAS, first);
            return add_arg(p, n, p->s->list[i].node) ? n : NULL;
        }
    }
    return parse_fail(p);
}

// A value, if the SELECT doesn't depend on anything outside, which SQLite checks.
static struct stk_sql_node *parse_select(struct parser *p)
{
    uint32_t first = p->at;
    int depth = 0;
    do {
        depth += is(p, "(") - is(p, ")");
        p->at++;
    } while (depth > 0 && p->at < p->s->count);
    struct stk_sql_node *n = depth == 0 ? new_node(p, STK_NODE_SELECT, first) : parse_fail(p);
    if (n) {
        const struct stk_sql_token *last = &p->s->tokens[p->at - 1];
        const char *start = p->s->tokens[first].p;
        n->word = (struct stk_sql_token){STK_SQL_OTHER, start, (size_t)(last->p + last->n - start)};
    }
    return n;
}

static struct stk_sql_node *parse_primary(struct parser *p)
{
    static const char *const constants[] = {"null", "true", "false", NULL};
    const struct stk_sql_token *t = token(p);
    if (t->kind == STK_SQL_NUMERAL || t->kind == STK_SQL_STRING || is_among(t, constants)) {
        p->at++;
        struct stk_sql_node *n = new_node(p, STK_NODE_LITERAL, p->at - 1);
        if (n) {
            n->word = *t;
        }
        return n;
    }
    if (is(p, "(") && stk_sql_token_is(t + 1, "select")) {
        return parse_select(p);
    }
    if (parse_take(p, "(")) {
        uint32_t first = p->at - 1;
        struct stk_sql_node *n = parse_expression(p);
        if (p->failed || !expect(p, ")")) {
            return NULL; // a list of values has a comma here
        }
        n->first = first;
        n->end = p->at;
        return n;
    }
    if (is(p, "case")) {
        return parse_case(p);
    }
    if (t->kind != STK_SQL_WORD) {
        return parse_fail(p);
    }
    if (stk_sql_token_is(t + 1, "(")) {
        return is(p, "cast") ? parse_cast(p) : parse_call(p);
    }
    return is_keyword(t) ? parse_fail(p) : parse_name(p);
}

static struct stk_sql_node *parse_signed(struct parser *p)
{
    static const char *const signs[] = {"-", "+", "~", NULL};
    if (!is_among(token(p), signs)) {
        return parse_primary(p);
    }
    uint32_t first = p->at;
    const struct stk_sql_token *word = token(p);
    if (++p->depth > DEPTH_MAX) {
        return parse_fail(p);
    }
    p->at++;
    struct stk_sql_node *arg = parse_signed(p);
    p->depth--;
    struct stk_sql_node *n = arg ? new_node(p, STK_NODE_SIGN, first) : NULL;
    if (!n || !add_arg(p, n, arg)) {
        return parse_fail(p);
    }
    n->word = *word;
    return n;
}

static struct stk_sql_node *parse_joined(struct parser *p)
{
    struct stk_sql_node *n = parse_signed(p);
    while (!p->failed && is(p, "||")) {
        const struct stk_sql_token *word = token(p);
        p->at++;
        n = new_binary(p, STK_NODE_TEXTUAL, word, n, parse_signed(p));
    }
    return n;
}

// Operators of two operands that group to the left, from the tightest.
static struct stk_sql_node *parse_level(struct parser *p, int level)
{
    static const char *const levels[][5] = {{"*", "/", "%", NULL},
                                            {"+", "-", NULL},
                                            {"&", "|", "<<", ">>", NULL},
                                            {"<", "<=", ">", ">=", NULL}};
    if (level < 0) {
        return parse_joined(p);
    }
    struct stk_sql_node *n = parse_level(p, level - 1);
    while (!p->failed && is_among(token(p), levels[level])) {
        const struct stk_sql_token *word = token(p);
        p->at++;
        n = new_binary(p, STK_NODE_SIGN, word, n, parse_level(p, level - 1));
    }
    return n;
}

static struct stk_sql_node *parse_operand(struct parser *p)
{
    return parse_level(p, 3);
}

static struct stk_sql_node *parse_is(struct parser *p, struct stk_sql_node *left)
{
    const struct stk_sql_token *word = token(p);
    p->at++;
    bool negated = parse_take(p, "not");
    if (is(p, "distinct")) {
        return parse_fail(p);
    }
    struct stk_sql_node *n = new_binary(p, STK_NODE_IS, word, left, parse_operand(p));
    if (n) {
        n->negated = negated;
    }
    return n;
}

static struct stk_sql_node *parse_null_test(struct parser *p, struct stk_sql_node *left,
                                            bool negated)
{
    struct stk_sql_node *n = new_node(p, STK_NODE_IS, left->first);
    if (!n || !add_arg(p, n, left)) { // one operand: null is the other
        return parse_fail(p);
    }
    n->negated = negated;
    return n;
}

static struct stk_sql_node *parse_in(struct parser *p, struct stk_sql_node *left)
{
    struct stk_sql_node *n = new_node(p, STK_NODE_IN, left->first);
    if (!n || !add_arg(p, n, left) || !expect(p, "(")) {
        return parse_fail(p);
    }
    if (!is(p, ")")) {
        do {
            add_arg(p, n, parse_expression(p));
        } while (!p->failed && parse_take(p, ","));
    }
    if (p->failed || !expect(p, ")")) {
        return NULL;
    }
    n->end = p->at;
    return n;
}

static struct stk_sql_node *parse_between(struct parser *p, struct stk_sql_node *left)
{
    struct stk_sql_node *n = new_node(p, STK_NODE_BETWEEN, left->first);
    if (!n || !add_arg(p, n, left) || !add_arg(p, n, parse_operand(p)) || !expect(p, "and") ||
        !add_arg(p, n, parse_operand(p))) {
        return parse_fail(p);
    }
    return n;
}

static struct stk_sql_node *parse_pattern(struct parser *p, struct stk_sql_node *left)
{
    const struct stk_sql_token *word = token(p);
    p->at++;
    struct stk_sql_node *n = new_binary(p, STK_NODE_TEXTUAL, word, left, parse_operand(p));
    if (n && parse_take(p, "escape")) {
        add_arg(p, n, parse_operand(p));
    }
    return p->failed ? NULL : n;
}

static struct stk_sql_node *parse_comparison(struct parser *p)
{
    static const char *const signs[] = {"=", "==", "<>", "!=", NULL};
    static const char *const patterns[] = {"like", "glob", "regexp", NULL};
    struct stk_sql_node *n = parse_operand(p);
    while (!p->failed) {
        const struct stk_sql_token *word = token(p);
        bool negated = is(p, "not");
        if (negated && !stk_sql_token_is(word + 1, "null")) {
            p->at++;
            word++;
        }
        if (!negated && is_among(word, signs)) {
            p->at++;
            n = new_binary(p, STK_NODE_SIGN, word, n, parse_operand(p));
        } else if (!negated && is(p, "is")) {
            n = parse_is(p, n);
        } else if (!negated && (is(p, "isnull") || is(p, "notnull"))) {
            p->at++;
            n = parse_null_test(p, n, stk_sql_token_is(word, "notnull"));
        } else if (negated && is(p, "not")) { // NOT NULL
            p->at += 2;
            n = parse_null_test(p, n, true);
        } else if (parse_take(p, "in")) {
            n = parse_in(p, n);
            if (n) {
                n->negated = negated;
            }
        } else if (parse_take(p, "between")) {
            n = parse_between(p, n);
            if (n) {
                n->negated = negated;
            }
        } else if (is_among(token(p), patterns)) {
            n = parse_pattern(p, n);
            if (n) {
                n->negated = negated;
            }
        } else {
            return negated ? parse_fail(p) : n;
        }
    }
    return NULL;
}

static struct stk_sql_node *parse_not(struct parser *p)
{
    if (!is(p, "not")) {
        return parse_comparison(p);
    }
    uint32_t first = p->at;
    const struct stk_sql_token *word = token(p);
    if (++p->depth > DEPTH_MAX) {
        return parse_fail(p);
    }
    p->at++;
    struct stk_sql_node *arg = parse_not(p), *n = arg ? new_node(p, STK_NODE_SIGN, first) : NULL;
    p->depth--;
    if (!n || !add_arg(p, n, arg)) {
        return parse_fail(p);
    }
    n->word = *word;
    return n;
}

static struct stk_sql_node *parse_expression(struct parser *p)
{
    if (p->failed || ++p->depth > DEPTH_MAX) {
        return parse_fail(p);
    }
    struct stk_sql_node *whole = NULL;
    const struct stk_sql_token *or_word = NULL;
    do {
        struct stk_sql_node *n = parse_not(p);
        while (!p->failed && is(p, "and")) {
            const struct stk_sql_token *word = token(p);
            p->at++;
            n = new_binary(p, STK_NODE_SIGN, word, n, parse_not(p));
        }
        whole = whole ? new_binary(p, STK_NODE_SIGN, or_word, whole, n) : n;
        or_word = token(p);
    } while (!p->failed && parse_take(p, "or"));
    p->depth--;
    return p->failed ? NULL : whole;
}

static void parse_list(struct parser *p)
{
    struct stk_sql_select *s = p->s;
    s->list_first = p->at;
    if (parse_take(p, "*")) {
        s->star = true;
    } else {
        do {
            if (s->list_count == STK_SQL_ITEMS_MAX || is(p, "*")) {
                p->failed = true;
                return;
            }
            struct stk_sql_item *item = &s->list[s->list_count];
            item->node = parse_expression(p);
            bool as = !p->failed && parse_take(p, "as");
            if (!p->failed && token(p)->kind == STK_SQL_WORD && !is_keyword(token(p))) {
                item->name = &s->tokens[p->at++];
            } else if (as) {
                p->failed = true;
            }
            s->list_count++;
        } while (!p->failed && parse_take(p, ","));
    }
    s->list_end = p->at;
}

// If a result name is also that of a column, its meaning depends on the place: refused, unless it
// names exactly that column.
static bool has_clear_names(const struct stk_sql_select *s)
{
    static const char *const hidden[] = {"rowid", "oid", "_rowid_", NULL};
    for (uint32_t i = 0; i < s->list_count; i++) {
        const struct stk_sql_token *name = s->list[i].name;
        int column = name ? stk_sql_column_find(s->table, name->p, name->n) : -1;
        bool itself = column >= 0 && s->list[i].node->kind == STK_NODE_COLUMN &&
                      s->list[i].node->column == column;
        if ((column >= 0 && !itself) || (name && is_among(name, hidden))) {
            return false;
        }
    }
    return true;
}

static void parse_order(struct parser *p, struct stk_sql_item *items, uint32_t *count, bool order)
{
    do {
        if (*count == STK_SQL_ITEMS_MAX) {
            p->failed = true;
            return;
        }
        struct stk_sql_item *item = &items[(*count)++];
        *item = (struct stk_sql_item){.nulls_first = -1};
        const struct stk_sql_token *t = token(p);
        item->node = parse_expression(p);
        if (p->failed) {
            return;
        }
        // A number alone is a result column's position.
        int64_t place = t->kind == STK_SQL_NUMERAL && item->node->kind == STK_NODE_LITERAL
                            ? strtoll(t->p, NULL, 10)
                            : 0;
        if (place < 0 || place > p->s->list_count ||
            (place == 0 && item->node->kind == STK_NODE_LITERAL)) {
            p->failed = true;
            return;
        }
        if (place) {
            item->node = p->s->list[place - 1].node;
        }
        if (order && parse_take(p, "desc")) {
            item->descending = true;
        } else if (order) {
            parse_take(p, "asc");
        }
        if (order && parse_take(p, "nulls")) {
            item->nulls_first = is(p, "first");
            p->failed |= !is(p, "first") && !is(p, "last");
            p->at++;
        }
    } while (!p->failed && parse_take(p, ","));
}

static int64_t parse_count(struct parser *p)
{
    const struct stk_sql_token *t = token(p);
    int64_t count = 0;
    for (size_t k = 0; k < t->n && t->n < 18; k++) {
        p->failed |= t->p[k] < '0' || t->p[k] > '9';
        count = count * 10 + (t->p[k] - '0');
    }
    p->failed |= t->kind != STK_SQL_NUMERAL || t->n >= 18;
    p->at++;
    return count;
}

static void parse_from(struct parser *p)
{
    struct stk_sql_select *s = p->s;
    for (size_t t = 0; t < stk_sql_table_count; t++) {
        if (stk_sql_tables[t]->sort == STK_SQL_EVENTS && is(p, stk_sql_tables[t]->name)) {
            s->table = stk_sql_tables[t];
        }
    }
    s->alias = *token(p);
    p->at++;
    bool as = parse_take(p, "as");
    if (token(p)->kind == STK_SQL_WORD && !is_keyword(token(p))) {
        s->alias = s->tokens[p->at++];
    } else if (as) {
        p->failed = true;
    }
}

// The clauses before FROM need the table: they are parsed after it.
static uint32_t find_from(const struct parser *p)
{
    int depth = 0;
    for (uint32_t i = p->at; i < p->s->count; i++) {
        const struct stk_sql_token *t = &p->s->tokens[i];
        depth += stk_sql_token_is(t, "(") - stk_sql_token_is(t, ")");
        if (depth == 0 && stk_sql_token_is(t, "from")) {
            return i;
        }
    }
    return 0;
}

static void parse_tail(struct parser *p)
{
    struct stk_sql_select *s = p->s;
    p->aliases = true;
    if (parse_take(p, "where")) {
        bool aggregates = s->aggregates;
        s->aggregates = false;
        s->where = parse_expression(p);
        p->failed |= s->aggregates;
        s->aggregates = aggregates;
    }
    s->group_first = p->at;
    if (!p->failed && parse_take(p, "group") && expect(p, "by")) {
        parse_order(p, s->group, &s->group_count, false);
    }
    s->having_first = p->at;
    if (!p->failed && parse_take(p, "having")) {
        s->having = parse_expression(p);
    }
    s->having_end = s->order_first = p->at;
    if (!p->failed && parse_take(p, "order") && expect(p, "by")) {
        parse_order(p, s->order, &s->order_count, true);
    }
    s->limit_first = p->at;
    s->limit = -1;
    if (!p->failed && parse_take(p, "limit")) {
        s->limit = parse_count(p);
        if (!p->failed && parse_take(p, "offset")) {
            s->offset = parse_count(p);
        }
    }
}

static bool parse(struct parser *p)
{
    struct stk_sql_select *s = p->s;
    if (!parse_take(p, "select")) {
        return false;
    }
    s->distinct = parse_take(p, "distinct");
    if (!s->distinct) {
        parse_take(p, "all");
    }
    uint32_t list = p->at, from = find_from(p);
    if (!from) {
        return false;
    }
    p->at = from + 1;
    parse_from(p);
    uint32_t tail = p->at;
    if (p->failed || !s->table) {
        return false;
    }
    p->at = list;
    parse_list(p);
    if (p->failed || p->at != from || !has_clear_names(s)) {
        return false;
    }
    p->at = tail;
    parse_tail(p);
    return !p->failed && p->at == s->count;
}

struct stk_sql_select *stk_sql_parse(struct stk_arena *arena, const char *sql)
{
    struct stk_sql_select *s = stk_arena_alloc(arena, sizeof *s);
    struct stk_sql_token *tokens = stk_arena_array(arena, STK_SQL_TOKENS_MAX + 3, sizeof *tokens);
    if (!s || !tokens) {
        return NULL;
    }
    size_t count = stk_sql_lex(sql, tokens, STK_SQL_TOKENS_MAX);
    if (count == SIZE_MAX) {
        return NULL;
    }
    while (count && stk_sql_token_is(&tokens[count - 1], ";")) {
        count--;
    }
    for (size_t i = count; i < STK_SQL_TOKENS_MAX + 3; i++) {
        tokens[i] = (struct stk_sql_token){STK_SQL_OTHER, "", 0};
    }
    s->arena = arena;
    s->tokens = tokens;
    s->count = (uint32_t)count;
    struct parser p = {.s = s};
    return parse(&p) ? s : NULL;
}

bool stk_sql_node_equal(const struct stk_sql_node *a, const struct stk_sql_node *b)
{
    while (a->kind == STK_NODE_ALIAS) {
        a = a->args[0];
    }
    while (b->kind == STK_NODE_ALIAS) {
        b = b->args[0];
    }
    if (a->kind != b->kind || a->arg_count != b->arg_count || a->negated != b->negated ||
        a->star != b->star || a->distinct != b->distinct || a->has_operand != b->has_operand ||
        a->has_else != b->has_else || !a->filter != !b->filter) {
        return false;
    }
    if (a->kind == STK_NODE_COLUMN) {
        return a->field == b->field;
    }
    if (a->kind == STK_NODE_LITERAL || a->kind == STK_NODE_SELECT) {
        return a->word.n == b->word.n && memcmp(a->word.p, b->word.p, a->word.n) == 0;
    }
    if (!same(&a->word, &b->word) || (a->filter && !stk_sql_node_equal(a->filter, b->filter))) {
        return false;
    }
    for (uint32_t i = 0; i < a->arg_count; i++) {
        if (!stk_sql_node_equal(a->args[i], b->args[i])) {
            return false;
        }
    }
    return true;
}
