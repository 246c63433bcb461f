// SPDX-License-Identifier: Apache-2.0
// Rewriting a function: it is copied operation by operation, and at each of them the rules of
// rewrites.def may put something else in its place. What nothing uses any more is dropped at the
// end. Two walks: the first makes equal what is equal, so that the second sees what is used once.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "data/graph/rewrite.h"

enum { NESTED_MAX = 8 }; // functions within functions
#define NOTE_MAX 512
#define COMPARE_MAX ((size_t)64 << 10) // bytes of constants that are compared
#define TEXT_MAX ((size_t)1 << 20)

struct rule {
    stk_refn_rule *run;
    struct stk_rewrite_row row;
};

static const struct rule first_rules[] = {
#define FIRST(id, title, why) {stk_refn_##id, {title, why}},
#define SECOND(id, title, why)
#define STAGE(id, title, why)
#include "data/rewrites.def"
#undef FIRST
#undef SECOND
};
static const struct rule second_rules[] = {
#define FIRST(id, title, why)
#define SECOND(id, title, why) {stk_refn_##id, {title, why}},
#include "data/rewrites.def"
#undef FIRST
#undef SECOND
#undef STAGE
};

bool stk_rewrite_append(struct stk_rewrite_log *log, const char *text)
{
    size_t n = text ? strlen(text) : 0;
    if (n == 0 || log->size + n > TEXT_MAX) {
        return true;
    }
    char *longer = stk_realloc_array(log->text, log->size + n + 1, 1);
    if (!longer) {
        return false;
    }
    memcpy(longer + log->size, text, n + 1);
    log->text = longer;
    log->size += n;
    return true;
}

bool stk_rewrite_note(struct stk_rewrite_log *log, const struct stk_rewrite_row *row,
                      const char *what, const char *where)
{
    char line[NOTE_MAX];
    snprintf(line, sizeof line, "%s: %.120s%s%.160s%s: %s\n", row->name, what, where ? " (" : "",
             where ? where : "", where ? ")" : "", row->reason);
    return stk_rewrite_append(log, line);
}

void stk_rewrite_log_end(struct stk_rewrite_log *log)
{
    stk_free(log->text);
    *log = (struct stk_rewrite_log){0};
}

struct stk_attrs *stk_attrs_copy(const struct stk_attrs *a)
{
    struct stk_attrs *copy = stk_attrs_new();
    for (int i = 0; copy && i < stk_attrs_count(a); i++) {
        if (!stk_attrs_set(copy, stk_attrs_at(a, i))) {
            stk_attrs_drop(copy);
            return NULL;
        }
    }
    return copy;
}

static bool cols_equal(const struct stk_col *a, const struct stk_col *b)
{
    struct stk_shape x = stk_col_shape(a, 0), y = stk_col_shape(b, 0);
    size_t bytes = (size_t)stk_shape_count(&x) * stk_dtype_bytes(a->dtype);
    bool is_plain = a->dtype != STK_DT_STRING && a->dtype != STK_DT_DATASET;
    return is_plain && a->dtype == b->dtype && stk_shape_equal(&x, &y) && bytes <= COMPARE_MAX &&
           memcmp(stk_col_at(a, 0), stk_col_at(b, 0), bytes) == 0;
}

static bool attr_equal(const struct stk_attr *a, const struct stk_attr *b)
{
    if (a->kind != b->kind || a->count != b->count || strcmp(a->name, b->name) != 0) {
        return false;
    }
    size_t n = (size_t)a->count;
    switch (a->kind) {
    case STK_ATTR_INT:
        return a->i == b->i;
    case STK_ATTR_FLOAT:
        return memcmp(&a->f, &b->f, sizeof a->f) == 0;
    case STK_ATTR_TEXT:
        return memcmp(a->text, b->text, n) == 0;
    case STK_ATTR_INTS:
        return memcmp(a->ints, b->ints, n * sizeof a->ints[0]) == 0;
    case STK_ATTR_FLOATS:
        return memcmp(a->floats, b->floats, n * sizeof a->floats[0]) == 0;
    case STK_ATTR_COLS:
        return n == 1 && cols_equal(&a->cols[0], &b->cols[0]);
    case STK_ATTR_FN:
        return a->fn == b->fn;
    default:
        return false;
    }
}

bool stk_attrs_equal(const struct stk_attrs *a, const struct stk_attrs *b)
{
    int n = stk_attrs_count(a);
    bool is_equal = a == b || n == stk_attrs_count(b);
    for (int i = 0; a != b && is_equal && i < n; i++) {
        is_equal = attr_equal(stk_attrs_at(a, i), stk_attrs_at(b, i));
    }
    return is_equal;
}

static int *slot(const struct stk_vec *v, int value)
{
    return stk_vec_at(v, (size_t)value);
}

static bool push(struct stk_refn *r, int maker)
{
    int *uses = stk_vec_push(&r->uses), *def = stk_vec_push(&r->def);
    if (uses && def) {
        *def = maker;
    }
    return uses && def;
}

enum stk_status stk_refn_add(struct stk_refn *r, const char *op, const int *in, int n_in,
                             struct stk_attrs *attrs, int *first, struct stk_err *err)
{
    int count;
    enum stk_status s = stk_fn_add(r->to, op, in, n_in, attrs, r->node->where, first, &count, err);
    if (s != STK_OK) {
        return s;
    }
    struct stk_fn_node *made = &r->to->nodes[r->to->n_nodes - 1];
    made->salt = r->node->salt;
    made->stage = r->node->stage;
    for (int i = 0; i < n_in; i++) {
        *slot(&r->uses, in[i]) += 1;
    }
    for (int i = 0; i < count; i++) {
        if (!push(r, r->to->n_nodes - 1)) {
            return stk_err_nomem(err);
        }
    }
    return STK_OK;
}

const struct stk_fn_node *stk_refn_maker(const struct stk_refn *r, int value)
{
    const struct stk_fn_node *node = stk_refn_producer(r, value);
    return node && node->n_out == 1 && *slot(&r->uses, value) == 1 ? node : NULL;
}

const struct stk_fn_node *stk_refn_producer(const struct stk_refn *r, int value)
{
    int def = *slot(&r->def, value);
    return def < 0 ? NULL : &r->to->nodes[def];
}

int stk_refn_uses(const struct stk_refn *r, int value)
{
    return *slot(&r->uses, value);
}

const struct stk_spec *stk_refn_spec(const struct stk_refn *r, int value)
{
    return &r->to->specs[value];
}

const struct stk_col *stk_refn_constant(const struct stk_refn *r, int value)
{
    return r->to->constants[value];
}

bool stk_refn_is(const struct stk_fn_node *node, const char *op)
{
    return node && strcmp(node->op->name, op) == 0;
}

static enum stk_status rewrite_nested(struct stk_fn **out, struct stk_fn *fn,
                                      enum stk_on_error policy, struct stk_rewrite_log *log,
                                      int depth, struct stk_err *err);

// The node's attributes with the functions in them rewritten; held.
static enum stk_status attrs_of(struct stk_refn *r, struct stk_attrs **out, int depth,
                                struct stk_err *err)
{
    struct stk_attrs *attrs = r->node->attrs, *own = NULL;
    enum stk_status s = STK_OK;
    for (int i = 0; s == STK_OK && i < stk_attrs_count(attrs); i++) {
        struct stk_attr t = *stk_attrs_at(attrs, i);
        struct stk_fn *fn = NULL;
        if (t.kind != STK_ATTR_FN || depth == NESTED_MAX) {
            continue;
        }
        s = rewrite_nested(&fn, t.fn, r->policy, r->log, depth + 1, err);
        if (s == STK_OK && fn != t.fn) {
            own = own ? own : stk_attrs_copy(attrs);
            t.fn = fn;
            r->has_changed = true;
            s = own && stk_attrs_set(own, &t) ? STK_OK : stk_err_nomem(err);
        }
        stk_fn_drop(fn);
    }
    *out = own ? own : stk_attrs_hold(attrs);
    return s;
}

static enum stk_status try_rules(struct stk_refn *r, const struct rule *rules, int n_rules,
                                 int *result, struct stk_err *err)
{
    for (int k = 0; k < n_rules; k++) {
        enum stk_status s = rules[k].run(r, result, err);
        if (s != STK_OK) {
            return s;
        }
        if (*result >= 0) {
            r->has_changed = true;
            return stk_rewrite_note(r->log, &rules[k].row, r->node->op->name, r->node->where)
                       ? STK_OK
                       : stk_err_nomem(err);
        }
    }
    return STK_OK;
}

static enum stk_status copy_node(struct stk_refn *r, const struct rule *rules, int n_rules,
                                 int depth, struct stk_err *err)
{
    const struct stk_fn_node *node = r->node;
    int result = -1;
    for (int i = 0; i < node->n_in; i++) {
        r->in[i] = r->value[node->in[i]];
    }
    enum stk_status s = STK_OK;
    if (node->n_out == 1 && !node->op->is_stateful) {
        s = try_rules(r, rules, n_rules, &result, err);
    }
    if (s == STK_OK && result < 0) {
        struct stk_attrs *attrs = NULL;
        s = attrs_of(r, &attrs, depth, err);
        s = s == STK_OK ? stk_refn_add(r, node->op->name, r->in, node->n_in, attrs, &result, err)
                        : s;
        stk_attrs_drop(attrs);
    }
    // The uses that the operation had were counted beforehand; what stands for it has its own.
    for (int i = 0; s == STK_OK && i < node->n_in; i++) {
        *slot(&r->uses, r->in[i]) -= 1;
    }
    for (int i = 0; s == STK_OK && i < node->n_out; i++) {
        r->value[node->first_out + i] = result + i;
        *slot(&r->uses, result + i) += r->uses_from[node->first_out + i];
    }
    return s;
}

static void count_uses(const struct stk_fn *fn, int *uses)
{
    for (int k = 0; k < fn->n_nodes; k++) {
        for (int i = 0; i < fn->nodes[k].n_in; i++) {
            uses[fn->nodes[k].in[i]]++;
        }
    }
    for (int i = 0; i < fn->n_out; i++) {
        uses[fn->out[i]]++;
    }
}

static enum stk_status begin(struct stk_refn *r, struct stk_err *err)
{
    const struct stk_fn *from = r->from;
    stk_vec_init(&r->uses, sizeof(int), (size_t)1 << 24);
    stk_vec_init(&r->def, sizeof(int), (size_t)1 << 24);
    r->value = stk_alloc_array((size_t)from->n_values + 1, sizeof r->value[0]);
    r->uses_from = stk_alloc_zero((size_t)from->n_values + 1, sizeof r->uses_from[0]);
    if (!r->value || !r->uses_from) {
        return stk_err_nomem(err);
    }
    count_uses(from, r->uses_from);
    enum stk_status s = stk_fn_open(&r->to, from->specs, from->n_in, from->name, err);
    for (int i = 0; s == STK_OK && i < from->n_in; i++) {
        r->value[i] = i;
        s = push(r, -1) ? STK_OK : stk_err_nomem(err);
        if (s == STK_OK) {
            *slot(&r->uses, i) = r->uses_from[i];
        }
    }
    return s;
}

static enum stk_status finish(struct stk_refn *r, struct stk_err *err)
{
    int out[STK_COMPONENTS_MAX];
    for (int i = 0; i < r->from->n_out; i++) {
        out[i] = r->value[r->from->out[i]];
    }
    return stk_fn_finish(r->to, out, r->from->n_out, err);
}

// One walk with the rules. *out is held; `fn` again if nothing was done.
static enum stk_status walk(struct stk_fn **out, struct stk_fn *fn, const struct rule *rules,
                            int n_rules, enum stk_on_error policy, struct stk_rewrite_log *log,
                            int depth, struct stk_err *err)
{
    struct stk_refn *r = stk_alloc_zero(1, sizeof *r);
    if (!r) {
        return stk_err_nomem(err);
    }
    r->from = fn;
    r->log = log;
    r->policy = policy;
    enum stk_status s = begin(r, err);
    for (int k = 0; s == STK_OK && k < fn->n_nodes; k++) {
        r->node = &fn->nodes[k];
        s = copy_node(r, rules, n_rules, depth, err);
    }
    s = s == STK_OK && r->has_changed ? finish(r, err) : s;
    *out = stk_fn_hold(s == STK_OK && r->has_changed ? r->to : fn);
    stk_fn_drop(r->to);
    stk_free(r->value);
    stk_free(r->uses_from);
    stk_vec_deinit(&r->uses);
    stk_vec_deinit(&r->def);
    stk_free(r);
    return s;
}

static enum stk_status rewrite_nested(struct stk_fn **out, struct stk_fn *fn,
                                      enum stk_on_error policy, struct stk_rewrite_log *log,
                                      int depth, struct stk_err *err)
{
    struct stk_fn *equal = NULL, *better = NULL;
    *out = NULL;
    if (!fn->is_finished) {
        *out = stk_fn_hold(fn);
        return STK_OK;
    }
    enum stk_status s =
        walk(&equal, fn, first_rules, (int)(sizeof first_rules / sizeof first_rules[0]), policy,
             log, depth, err);
    if (s == STK_OK) {
        // Functions within were rewritten in the first walk.
        s = walk(&better, equal, second_rules, (int)(sizeof second_rules / sizeof second_rules[0]),
                 policy, log, NESTED_MAX, err);
    }
    s = s == STK_OK ? stk_rewrite_templates(out, better, policy, log, err) : s;
    stk_fn_drop(better);
    stk_fn_drop(equal);
    return s;
}

enum stk_status stk_fn_inline(struct stk_fn *to, const struct stk_fn *from, const int *in, int *out,
                              int stage, struct stk_err *err)
{
    int *value = stk_alloc_array((size_t)from->n_values + 1, sizeof value[0]);
    int input[STK_OP_INPUTS_MAX];
    if (!value) {
        return stk_err_nomem(err);
    }
    for (int i = 0; i < from->n_in; i++) {
        value[i] = in ? in[i] : i;
    }
    enum stk_status s = STK_OK;
    for (int k = 0; s == STK_OK && k < from->n_nodes; k++) {
        const struct stk_fn_node *node = &from->nodes[k];
        int first, count;
        for (int i = 0; i < node->n_in; i++) {
            input[i] = value[node->in[i]];
        }
        s = stk_fn_add(to, node->op->name, input, node->n_in, node->attrs, node->where, &first,
                       &count, err);
        if (s != STK_OK) {
            break;
        }
        to->nodes[to->n_nodes - 1].salt = node->salt;
        to->nodes[to->n_nodes - 1].stage = node->stage + stage;
        for (int i = 0; i < node->n_out; i++) {
            value[node->first_out + i] = first + i;
        }
    }
    for (int i = 0; s == STK_OK && i < from->n_out; i++) {
        out[i] = value[from->out[i]];
    }
    stk_free(value);
    return s;
}

enum stk_status stk_rewrite_fn(struct stk_fn **out, struct stk_fn *fn, enum stk_on_error policy,
                               struct stk_rewrite_log *log, struct stk_err *err)
{
    return rewrite_nested(out, fn, policy, log, 0, err);
}
