// SPDX-License-Identifier: Apache-2.0
// Compiles the form of an expression to nodes with types.
#include "answers/query/columns/batch.h"

#define AMONG_MAX 20

static const struct stk_sql_node *meant(const struct stk_sql_node *n)
{
    while (n->kind == STK_NODE_ALIAS) {
        n = n->args[0];
    }
    return n;
}

bool stk_batch_collect(struct stk_batch_plan *p, const struct stk_sql_node *n)
{
    n = meant(n);
    int class = stk_batch_class_of(n);
    if (class >= 0) {
        for (uint32_t i = 0; i < p->dict_count; i++) {
            if (stk_sql_node_equal(p->dicts[i].source, n)) {
                return true;
            }
        }
        if (p->dict_count == STK_SQL_ITEMS_MAX) {
            return false;
        }
        p->dicts[p->dict_count++] =
            (struct stk_batch_dict){.source = n, .class = (enum stk_batch_class) class};
        return true;
    }
    if (n->kind == STK_NODE_TEXTUAL) {
        return false;
    }
    if (n->kind == STK_NODE_COLUMN) {
        return !stk_query_field_is_text((enum stk_query_field)n->field);
    }
    for (uint32_t i = 0; i < n->arg_count; i++) {
        if (!stk_batch_collect(p, n->args[i])) {
            return false;
        }
    }
    return true;
}

static struct stk_batch_node *new_node(struct stk_batch_plan *p, enum stk_batch_op op,
                                       enum stk_batch_type type, uint32_t args)
{
    struct stk_batch_node *n = stk_arena_alloc(p->arena, sizeof *n);
    if (!n) {
        return NULL;
    }
    *n = (struct stk_batch_node){.op = op, .type = type, .index = p->node_count++};
    if (args) {
        n->args = stk_arena_array(p->arena, args, sizeof(struct stk_batch_node *));
    }
    return args && !n->args ? NULL : n;
}

static struct stk_batch_node *unary(struct stk_batch_plan *p, enum stk_batch_op op,
                                    enum stk_batch_type type, struct stk_batch_node *a)
{
    struct stk_batch_node *n = a ? new_node(p, op, type, 1) : NULL;
    if (n) {
        n->args[n->arg_count++] = a;
    }
    return n;
}

static struct stk_batch_node *binary(struct stk_batch_plan *p, enum stk_batch_op op,
                                     enum stk_batch_type type, struct stk_batch_node *a,
                                     struct stk_batch_node *b)
{
    struct stk_batch_node *n = a && b ? new_node(p, op, type, 2) : NULL;
    if (n) {
        n->args[n->arg_count++] = a;
        n->args[n->arg_count++] = b;
    }
    return n;
}

static bool is_number(const struct stk_batch_node *n)
{
    return n && n->type != STK_BATCH_TEXT;
}

static struct stk_batch_node *constant(struct stk_batch_plan *p, enum stk_batch_type type,
                                       int64_t bits)
{
    struct stk_batch_node *n = new_node(p, STK_BATCH_CONSTANT, type, 0);
    if (n) {
        n->constant = bits;
    }
    return n;
}

static struct stk_batch_node *to_real(struct stk_batch_plan *p, struct stk_batch_node *n)
{
    if (!n || n->type == STK_BATCH_REAL || n->type == STK_BATCH_NULL) {
        return n;
    }
    if (n->op == STK_BATCH_CONSTANT) {
        double real = (double)n->constant;
        int64_t bits;
        memcpy(&bits, &real, sizeof bits);
        return constant(p, STK_BATCH_REAL, bits);
    }
    return unary(p, STK_BATCH_TO_REAL, STK_BATCH_REAL, n);
}

static struct stk_batch_node *entry(struct stk_batch_plan *p, const struct stk_sql_node *n)
{
    uint32_t i = 0;
    while (i < p->dict_count && !stk_sql_node_equal(p->dicts[i].source, n)) {
        i++;
    }
    if (i == p->dict_count) {
        return NULL;
    }
    const struct stk_batch_dict *d = &p->dicts[i];
    // A text's id may still change: it stays in the dictionary.
    if (d->class == STK_CLASS_CONSTANT && d->type != STK_BATCH_TEXT) {
        return constant(p, d->type, d->values[0]);
    }
    struct stk_batch_node *out = new_node(p, STK_BATCH_ENTRY, d->type, 0);
    if (out) {
        out->dict = d;
    }
    return out;
}

// A field that occurs twice is read once.
static struct stk_batch_node *field(struct stk_batch_plan *p, enum stk_query_field f)
{
    if (p->fields[f]) {
        return p->fields[f];
    }
    struct stk_batch_node *n = new_node(p, STK_BATCH_FIELD, STK_BATCH_INT, 0);
    if (n) {
        n->field = f;
    }
    p->wants_parents |= f == STK_FIELD_PARENT;
    p->fields[f] = n;
    return n;
}

// A real number with a whole value compares as a whole number.
static struct stk_batch_node *as_whole(struct stk_batch_plan *p, struct stk_batch_node *n)
{
    double real;
    if (n->op != STK_BATCH_CONSTANT || n->type != STK_BATCH_REAL) {
        return n;
    }
    memcpy(&real, &n->constant, sizeof real);
    if (real < -9e15 || real > 9e15 || (double)(int64_t)real != real) {
        return n;
    }
    return constant(p, STK_BATCH_INT, (int64_t)real);
}

static struct stk_batch_node *comparison(struct stk_batch_plan *p, enum stk_batch_op op,
                                         struct stk_batch_node *a, struct stk_batch_node *b)
{
    if (!a || !b) {
        return NULL;
    }
    bool text = a->type == STK_BATCH_TEXT || b->type == STK_BATCH_TEXT;
    bool null = a->type == STK_BATCH_NULL || b->type == STK_BATCH_NULL;
    if (text && a->type != b->type && !null) {
        return NULL; // depends on affinities: left to SQLite
    }
    if (text && (op == STK_BATCH_LT || op == STK_BATCH_LE)) {
        p->text_order = true;
    }
    if (a->type == STK_BATCH_INT && (b = as_whole(p, b)) == NULL) {
        return NULL;
    }
    if (b->type == STK_BATCH_INT && (a = as_whole(p, a)) == NULL) {
        return NULL;
    }
    return binary(p, op, STK_BATCH_INT, a, b);
}

static struct stk_batch_node *negation(struct stk_batch_plan *p, struct stk_batch_node *n,
                                       bool wanted)
{
    return wanted ? unary(p, STK_BATCH_NOT, STK_BATCH_INT, n) : n;
}

static struct stk_batch_node *arithmetic(struct stk_batch_plan *p, enum stk_batch_op op,
                                         struct stk_batch_node *a, struct stk_batch_node *b)
{
    if (!is_number(a) || !is_number(b)) {
        return NULL;
    }
    bool real = a->type == STK_BATCH_REAL || b->type == STK_BATCH_REAL;
    if (op == STK_BATCH_REMAINDER && real) {
        return NULL;
    }
    return real ? binary(p, op, STK_BATCH_REAL, to_real(p, a), to_real(p, b))
                : binary(p, op, STK_BATCH_INT, a, b);
}

static struct stk_batch_node *sign(struct stk_batch_plan *p, const struct stk_sql_node *n)
{
    static const struct {
        const char *sign;
        enum stk_batch_op op;
        bool swapped; // a > b is b < a
    } signs[] = {{"+", STK_BATCH_ADD, false},       {"-", STK_BATCH_SUBTRACT, false},
                 {"*", STK_BATCH_MULTIPLY, false},  {"/", STK_BATCH_DIVIDE, false},
                 {"%", STK_BATCH_REMAINDER, false}, {"&", STK_BATCH_BIT_AND, false},
                 {"|", STK_BATCH_BIT_OR, false},    {"=", STK_BATCH_EQ, false},
                 {"==", STK_BATCH_EQ, false},       {"<>", STK_BATCH_NE, false},
                 {"!=", STK_BATCH_NE, false},       {"<", STK_BATCH_LT, false},
                 {"<=", STK_BATCH_LE, false},       {">", STK_BATCH_LT, true},
                 {">=", STK_BATCH_LE, true},        {"and", STK_BATCH_AND, false},
                 {"or", STK_BATCH_OR, false}};
    struct stk_batch_node *a = stk_batch_compile(p, n->args[0]), *b;
    if (n->arg_count == 1) {
        if (!is_number(a)) {
            return NULL;
        }
        if (stk_sql_token_is(&n->word, "+")) {
            return a;
        }
        if (stk_sql_token_is(&n->word, "-")) {
            return unary(p, STK_BATCH_NEGATE, a->type, a);
        }
        if (stk_sql_token_is(&n->word, "not")) {
            return negation(p, a, true);
        }
        return a->type == STK_BATCH_REAL ? NULL : unary(p, STK_BATCH_INVERT, STK_BATCH_INT, a);
    }
    b = stk_batch_compile(p, n->args[1]);
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        enum stk_batch_op op = signs[i].op;
        if (!stk_sql_token_is(&n->word, signs[i].sign)) {
            continue;
        }
        if (op >= STK_BATCH_EQ && op <= STK_BATCH_LE) {
            return comparison(p, op, signs[i].swapped ? b : a, signs[i].swapped ? a : b);
        }
        if (op < STK_BATCH_BIT_AND) {
            return arithmetic(p, op, a, b);
        }
        if (!is_number(a) || !is_number(b) ||
            (op <= STK_BATCH_BIT_OR && (a->type == STK_BATCH_REAL || b->type == STK_BATCH_REAL))) {
            return NULL;
        }
        return binary(p, op, STK_BATCH_INT, a, b);
    }
    return NULL; // shifts
}

static struct stk_batch_node *is_same(struct stk_batch_plan *p, const struct stk_sql_node *n)
{
    static const char *const truths[] = {"true", "false"};
    const struct stk_sql_node *right = n->arg_count > 1 ? meant(n->args[1]) : NULL;
    for (size_t i = 0; right && i < 2; i++) { // IS TRUE is a separate test
        if (right->kind == STK_NODE_LITERAL && stk_sql_token_is(&right->word, truths[i])) {
            return NULL;
        }
    }
    struct stk_batch_node *a = stk_batch_compile(p, n->args[0]);
    struct stk_batch_node *b = right ? stk_batch_compile(p, right) : constant(p, STK_BATCH_NULL, 0);
    return negation(p, comparison(p, STK_BATCH_IS, a, b), n->negated);
}

static struct stk_batch_node *between(struct stk_batch_plan *p, const struct stk_sql_node *n)
{
    struct stk_batch_node *v = stk_batch_compile(p, n->args[0]);
    struct stk_batch_node *low = comparison(p, STK_BATCH_LE, stk_batch_compile(p, n->args[1]), v);
    struct stk_batch_node *high = comparison(p, STK_BATCH_LE, v, stk_batch_compile(p, n->args[2]));
    return negation(p, binary(p, STK_BATCH_AND, STK_BATCH_INT, low, high), n->negated);
}

static struct stk_batch_node *among(struct stk_batch_plan *p, const struct stk_sql_node *n)
{
    if (n->arg_count > AMONG_MAX) {
        return NULL; // SQLite looks them up
    }
    struct stk_batch_node *v = stk_batch_compile(p, n->args[0]);
    struct stk_batch_node *any = constant(p, STK_BATCH_INT, 0);
    for (uint32_t i = 1; i < n->arg_count && any; i++) {
        struct stk_batch_node *one =
            comparison(p, STK_BATCH_EQ, v, stk_batch_compile(p, n->args[i]));
        any = i == 1 ? one : binary(p, STK_BATCH_OR, STK_BATCH_INT, any, one);
    }
    return v ? negation(p, any, n->negated) : NULL;
}

// Nodes [first, count) in steps are results: one type, or null.
static bool unify(struct stk_batch_node *out, uint32_t first, uint32_t step)
{
    out->type = STK_BATCH_NULL;
    for (uint32_t i = first; i < out->arg_count; i += step) {
        if (out->type != STK_BATCH_NULL && out->args[i]->type != STK_BATCH_NULL &&
            out->args[i]->type != out->type) {
            return false;
        }
        if (out->args[i]->type != STK_BATCH_NULL) {
            out->type = out->args[i]->type;
        }
    }
    return true;
}

// `then` or `otherwise`; one of them may be null.
static struct stk_batch_node *choice(struct stk_batch_plan *p, struct stk_batch_node *when,
                                     struct stk_batch_node *then, struct stk_batch_node *otherwise)
{
    enum stk_batch_type type = then->type == STK_BATCH_NULL ? otherwise->type : then->type;
    struct stk_batch_node *n = new_node(p, STK_BATCH_CASE, type, 3);
    if (!n) {
        return NULL;
    }
    n->args[n->arg_count++] = when;
    n->args[n->arg_count++] = then;
    n->args[n->arg_count++] = otherwise;
    return n;
}

// 1 if the branch taken is a real number, else null: a sum of both depends on it.
static struct stk_batch_node *real_branches(struct stk_batch_plan *p,
                                            const struct stk_batch_node *cases)
{
    struct stk_batch_node *out = new_node(p, STK_BATCH_CASE, STK_BATCH_INT, cases->arg_count);
    for (uint32_t i = 0; out && i < cases->arg_count; i++) {
        struct stk_batch_node *arg = cases->args[i];
        bool result = i % 2 == 1 || i + 1 == cases->arg_count;
        if (result && arg->type == STK_BATCH_REAL) {
            struct stk_batch_node *null = constant(p, STK_BATCH_NULL, 0);
            struct stk_batch_node *known =
                negation(p, null ? binary(p, STK_BATCH_IS, STK_BATCH_INT, arg, null) : NULL, true);
            struct stk_batch_node *one = constant(p, STK_BATCH_INT, 1);
            arg = known && one ? choice(p, known, one, null) : NULL;
        } else if (result) {
            arg = constant(p, STK_BATCH_NULL, 0);
        }
        if (!arg) {
            return NULL;
        }
        out->args[out->arg_count++] = arg;
    }
    return out;
}

// Whole branches become real if others are.
static bool mix(struct stk_batch_plan *p, struct stk_batch_node *out)
{
    bool whole = false, real = false;
    for (uint32_t i = 0; i < out->arg_count; i++) {
        bool result = i % 2 == 1 || i + 1 == out->arg_count;
        whole |= result && out->args[i]->type == STK_BATCH_INT;
        real |= result && out->args[i]->type == STK_BATCH_REAL;
        if (result && out->args[i]->type == STK_BATCH_TEXT) {
            return true;
        }
    }
    if (!whole || !real) {
        return true;
    }
    out->real = real_branches(p, out);
    for (uint32_t i = 0; i < out->arg_count; i++) {
        if ((i % 2 == 1 || i + 1 == out->arg_count) && !(out->args[i] = to_real(p, out->args[i]))) {
            return false;
        }
    }
    return out->real != NULL;
}

static struct stk_batch_node *cases(struct stk_batch_plan *p, const struct stk_sql_node *n,
                                    bool may_mix)
{
    struct stk_batch_node *operand = n->has_operand ? stk_batch_compile(p, n->args[0]) : NULL;
    struct stk_batch_node *out = new_node(p, STK_BATCH_CASE, STK_BATCH_NULL, n->arg_count + 1);
    if (!out || (n->has_operand && !operand)) {
        return NULL;
    }
    uint32_t first = n->has_operand, last = n->arg_count - n->has_else;
    for (uint32_t i = first; i < n->arg_count; i++) {
        struct stk_batch_node *arg = stk_batch_compile(p, n->args[i]);
        bool condition = i < last && (i - first) % 2 == 0;
        if (condition && operand) {
            arg = comparison(p, STK_BATCH_EQ, operand, arg);
        }
        if (!arg || (condition && !is_number(arg))) {
            return NULL;
        }
        out->args[out->arg_count++] = arg;
    }
    if (!n->has_else && !(out->args[out->arg_count++] = constant(p, STK_BATCH_NULL, 0))) {
        return NULL;
    }
    if (may_mix && !mix(p, out)) {
        return NULL;
    }
    enum stk_batch_type otherwise = out->args[out->arg_count - 1]->type;
    if (!unify(out, 1, 2) ||
        (otherwise != STK_BATCH_NULL && out->type != STK_BATCH_NULL && otherwise != out->type)) {
        return NULL;
    }
    out->type = out->type == STK_BATCH_NULL ? otherwise : out->type;
    return out;
}

static struct stk_batch_node *call_of(struct stk_batch_plan *p, const struct stk_sql_node *n,
                                      enum stk_batch_op op)
{
    struct stk_batch_node *out = new_node(p, op, STK_BATCH_NULL, n->arg_count);
    for (uint32_t i = 0; out && i < n->arg_count; i++) {
        if (!(out->args[out->arg_count++] = stk_batch_compile(p, n->args[i]))) {
            return NULL;
        }
    }
    return out && unify(out, 0, 1) ? out : NULL;
}

static struct stk_batch_node *call(struct stk_batch_plan *p, const struct stk_sql_node *n,
                                   bool may_mix)
{
    struct stk_batch_node *a, *b;
    if (stk_sql_token_is(&n->word, "abs") && n->arg_count == 1) {
        a = stk_batch_compile(p, n->args[0]);
        return is_number(a) ? unary(p, STK_BATCH_ABS, a->type, a) : NULL;
    }
    if ((stk_sql_token_is(&n->word, "coalesce") || stk_sql_token_is(&n->word, "ifnull")) &&
        n->arg_count > 1) {
        return call_of(p, n, STK_BATCH_COALESCE);
    }
    if ((stk_sql_token_is(&n->word, "min") || stk_sql_token_is(&n->word, "max")) &&
        n->arg_count > 1) {
        a = call_of(p, n, stk_sql_token_is(&n->word, "min") ? STK_BATCH_LEAST : STK_BATCH_GREATEST);
        p->text_order |= a && a->type == STK_BATCH_TEXT;
        return a;
    }
    if (stk_sql_token_is(&n->word, "iif") && n->arg_count == 3) {
        struct stk_sql_node as = *n;
        as.has_operand = false;
        as.has_else = true;
        return cases(p, &as, may_mix);
    }
    if (stk_sql_token_is(&n->word, "nullif") && n->arg_count == 2) {
        a = stk_batch_compile(p, n->args[0]);
        b = comparison(p, STK_BATCH_EQ, a, stk_batch_compile(p, n->args[1]));
        struct stk_batch_node *null = b ? constant(p, STK_BATCH_NULL, 0) : NULL;
        return null ? choice(p, b, null, a) : NULL;
    }
    return NULL;
}

static struct stk_batch_node *cast(struct stk_batch_plan *p, const struct stk_sql_node *n)
{
    struct stk_batch_node *a = stk_batch_compile(p, n->args[0]);
    if (!is_number(a)) {
        return NULL;
    }
    if (stk_sql_token_is(&n->word, "real") || stk_sql_token_is(&n->word, "double") ||
        stk_sql_token_is(&n->word, "float")) {
        return to_real(p, a);
    }
    if (!stk_sql_token_is(&n->word, "integer") && !stk_sql_token_is(&n->word, "int")) {
        return NULL;
    }
    return a->type == STK_BATCH_REAL ? unary(p, STK_BATCH_TO_INT, STK_BATCH_INT, a) : a;
}

struct stk_batch_node *stk_batch_compile(struct stk_batch_plan *p, const struct stk_sql_node *n)
{
    n = meant(n);
    int class = stk_batch_class_of(n);
    bool may_mix = p->may_mix;
    p->may_mix = false;
    if (class >= 0) {
        return entry(p, n);
    }
    switch (n->kind) {
    case STK_NODE_COLUMN:
        return field(p, (enum stk_query_field)n->field);
    case STK_NODE_SIGN:
        return sign(p, n);
    case STK_NODE_IS:
        return is_same(p, n);
    case STK_NODE_BETWEEN:
        return between(p, n);
    case STK_NODE_IN:
        return among(p, n);
    case STK_NODE_CASE:
        return cases(p, n, may_mix);
    case STK_NODE_CALL:
        return call(p, n, may_mix);
    case STK_NODE_CAST:
        return cast(p, n);
    default:
        return NULL;
    }
}

struct stk_batch_node *stk_batch_compile_when(struct stk_batch_plan *p,
                                              const struct stk_sql_node *condition,
                                              struct stk_batch_node *value)
{
    struct stk_batch_node *when = stk_batch_compile(p, condition);
    struct stk_batch_node *then = value ? value : constant(p, STK_BATCH_INT, 1);
    struct stk_batch_node *otherwise = constant(p, STK_BATCH_NULL, 0);
    if (!is_number(when) || !then || !otherwise) {
        return NULL;
    }
    return choice(p, when, then, otherwise);
}

static void bound(struct stk_batch_plan *p, enum stk_batch_op op, int64_t value, bool swapped)
{
    int64_t low = value, high = value;
    if (op == STK_BATCH_LT && !swapped) {
        high = value == INT64_MIN ? value : value - 1;
    }
    if (op == STK_BATCH_LT && swapped) {
        low = value == INT64_MAX ? value : value + 1;
    }
    if ((op == STK_BATCH_EQ || swapped) && low > p->start_min_ns) {
        p->start_min_ns = low;
    }
    if ((op == STK_BATCH_EQ || !swapped) && high < p->start_max_ns) {
        p->start_max_ns = high;
    }
}

// Uses start_ns < constant, in any form, also as a range of events.
static void find_range(struct stk_batch_plan *p, const struct stk_batch_node *n)
{
    if (n->op == STK_BATCH_AND) { // BETWEEN
        find_range(p, n->args[0]);
        find_range(p, n->args[1]);
        return;
    }
    if (n->op != STK_BATCH_EQ && n->op != STK_BATCH_LT && n->op != STK_BATCH_LE) {
        return;
    }
    const struct stk_batch_node *a = n->args[0], *b = n->args[1];
    bool swapped = a->op == STK_BATCH_CONSTANT;
    const struct stk_batch_node *column = swapped ? b : a, *value = swapped ? a : b;
    if (column->op == STK_BATCH_FIELD && column->field == STK_FIELD_START &&
        value->op == STK_BATCH_CONSTANT && value->type == STK_BATCH_INT) {
        bound(p, n->op, value->constant, swapped);
    }
}

bool stk_batch_add_filters(struct stk_batch_plan *p, const struct stk_sql_node *where)
{
    where = meant(where);
    int class = stk_batch_class_of(where);
    if (class < 0 && where->kind == STK_NODE_SIGN && stk_sql_token_is(&where->word, "and")) {
        return stk_batch_add_filters(p, where->args[0]) && stk_batch_add_filters(p, where->args[1]);
    }
    struct stk_batch_node *n = stk_batch_compile(p, where);
    if (!is_number(n) || p->filter_count == STK_SQL_ITEMS_MAX) {
        return false;
    }
    find_range(p, n);
    if (class == STK_CLASS_TRACK || class == STK_CLASS_CONSTANT) {
        p->track_filters[p->track_filter_count++] = n;
    } else {
        p->filters[p->filter_count++] = n;
    }
    return true;
}
