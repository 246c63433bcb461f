// SPDX-License-Identifier: Apache-2.0
// Evaluates nodes for one batch. Each loop has one operation, so that the compiler can vectorize it
// and doesn't fuse a product into a sum (SQLite rounds each). Null rows contain any number: their
// results are null again.
//
// Whole numbers: if the operands' bits show that nothing can overflow, the plain loop runs;
// otherwise each result is tested, and the first overflow ends the plan.
#include "base/assert.h"
#include "answers/query/columns/batch.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"

#define FOR_ROWS for (uint32_t k = 0; k < n; k++)

bool stk_batch_eval_init(struct stk_batch_eval *e, const struct stk_batch_plan *plan)
{
    *e = (struct stk_batch_eval){.plan = plan};
    e->vecs = stk_alloc_array((size_t)plan->node_count + 1, sizeof *e->vecs);
    for (uint32_t i = 0; e->vecs && i < plan->node_count; i++) {
        e->vecs[i].epoch = 0;
    }
    return e->vecs != NULL;
}

void stk_batch_eval_deinit(struct stk_batch_eval *e)
{
    stk_free(e->vecs);
    e->vecs = NULL;
}

static uint32_t event_at(const struct stk_batch *b, uint32_t k)
{
    return b->events ? b->events[k] : b->first + k;
}

static void read_durations(struct stk_batch_vec *v, const struct stk_batch *b)
{
    const struct stk_trace *t = b->at.x->t;
    uint32_t n = b->rows, longest = 0;
    if (b->events) {
        FOR_ROWS v->i[k] = t->dur_low[b->events[k]];
    } else {
        FOR_ROWS v->i[k] = t->dur_low[b->first + k];
    }
    FOR_ROWS longest = (uint32_t)v->i[k] > longest ? (uint32_t)v->i[k] : longest;
    if (longest == UINT32_MAX) {
        FOR_ROWS v->i[k] = stk_dur_ns(t, event_at(b, k));
    }
}

// Events of a track come by start, and so do its steps.
static void read_steps(struct stk_batch_vec *v, const struct stk_batch *b)
{
    const struct stk_trace *t = b->at.x->t;
    const struct stk_query_steps *steps = b->at.x->tracks[b->at.track].steps;
    uint32_t n = b->rows, step = STK_NONE;
    int64_t end_ns = INT64_MIN; // `step` is valid until then
    v->has_null = false;
    FOR_ROWS
    {
        int64_t start_ns = t->start_ns[event_at(b, k)];
        if (start_ns >= end_ns) {
            step = stk_query_step_at(steps, start_ns);
            end_ns = step != STK_NONE ? steps->v[step].end_ns : start_ns + 1;
        }
        v->null[k] = step == STK_NONE;
        v->i[k] = step == STK_NONE ? 0 : steps->v[step].number;
        v->has_null |= step == STK_NONE;
    }
}

static void read_field(struct stk_batch_vec *v, const struct stk_batch_node *node,
                       const struct stk_batch *b)
{
    struct stk_query_event at = b->at;
    const struct stk_trace *t = at.x->t;
    uint32_t n = b->rows;
    int64_t shift_ns = at.x->shift_ns;
    v->has_null = false;
    switch (node->field) {
    case STK_FIELD_START:
        FOR_ROWS v->i[k] = t->start_ns[event_at(b, k)] + shift_ns;
        return;
    case STK_FIELD_DUR:
        read_durations(v, b);
        return;
    case STK_FIELD_END:
        read_durations(v, b);
        FOR_ROWS v->i[k] += t->start_ns[event_at(b, k)] + shift_ns;
        return;
    case STK_FIELD_STEP:
        read_steps(v, b);
        return;
    default:
        FOR_ROWS
        {
            at.event = event_at(b, k);
            v->null[k] = !stk_query_number(&at, node->field, &v->i[k]);
            v->has_null |= v->null[k];
            v->i[k] = v->null[k] ? 0 : v->i[k];
        }
    }
}

static void eval_fill(struct stk_batch_vec *v, uint32_t n, int64_t value, bool null)
{
    v->uniform = true;
    v->has_null = null;
    FOR_ROWS v->i[k] = value;
    if (null) {
        memset(v->null, 1, n);
    }
}

static void read_entries(struct stk_batch_vec *v, const struct stk_batch_plan *p,
                         const struct stk_batch_dict *d, const struct stk_batch *b)
{
    const struct stk_trace *t = b->at.x->t;
    uint32_t n = b->rows, codes[STK_BATCH_ROWS];
    if (d->class == STK_CLASS_CONSTANT || d->class == STK_CLASS_TRACK) {
        size_t at = d->class == STK_CLASS_TRACK ? p->track_base[b->at.trace] + b->at.track : 0;
        eval_fill(v, n, d->values[at], d->nulls[at]);
        return;
    }
    const int64_t *values = d->values;
    const uint8_t *nulls = d->nulls;
    if (d->class == STK_CLASS_BITS) {
        FOR_ROWS codes[k] = stk_query_bits(t, event_at(b, k));
    } else {
        values += p->name_base[b->at.trace];
        nulls += p->name_base[b->at.trace];
        if (d->class == STK_CLASS_CALL) {
            FOR_ROWS codes[k] = stk_query_call_code(t, event_at(b, k));
        } else {
            FOR_ROWS codes[k] = t->name[event_at(b, k)];
        }
    }
    uint8_t any = 0;
    FOR_ROWS
    {
        v->i[k] = values[codes[k]];
        any |= v->null[k] = nulls[codes[k]];
    }
    v->has_null = any;
}

// Nulls of both operands.
static void either_null(struct stk_batch_vec *v, uint32_t n, const struct stk_batch_vec *a,
                        const struct stk_batch_vec *b)
{
    v->has_null = a->has_null || b->has_null;
    if (a->has_null && b->has_null) {
        FOR_ROWS v->null[k] = a->null[k] | b->null[k];
    } else if (v->has_null) {
        memcpy(v->null, a->has_null ? a->null : b->null, n);
    }
}

static void need_nulls(struct stk_batch_vec *v, uint32_t n)
{
    if (!v->has_null) {
        memset(v->null, 0, n);
    }
    v->has_null = true;
}

static int bits_of(const struct stk_batch_vec *a, uint32_t n)
{
    uint64_t all = 0;
    FOR_ROWS all |= (uint64_t)(a->i[k] ^ (a->i[k] >> 63));
    return all ? 64 - __builtin_clzll(all) : 0;
}

static bool is_null(const struct stk_batch_vec *v, uint32_t k)
{
    return v->has_null && v->null[k];
}

static void add_checked(struct stk_batch_eval *e, enum stk_batch_op op, struct stk_batch_vec *v,
                        uint32_t n, const struct stk_batch_vec *a, const struct stk_batch_vec *b)
{
    FOR_ROWS
    {
        bool over = op == STK_BATCH_ADD        ? __builtin_add_overflow(a->i[k], b->i[k], &v->i[k])
                    : op == STK_BATCH_SUBTRACT ? __builtin_sub_overflow(a->i[k], b->i[k], &v->i[k])
                                               : __builtin_mul_overflow(a->i[k], b->i[k], &v->i[k]);
        e->overflow |= over && !is_null(v, k);
    }
}

// By a constant: the quotient of real numbers is off by one at most, below 2^52.
static void divide_fast(struct stk_batch_vec *v, uint32_t n, const struct stk_batch_vec *a,
                        int64_t d)
{
    double inverse = 1.0 / (double)d;
    FOR_ROWS
    {
        int64_t x = a->i[k], q = (int64_t)((double)x * inverse), rest = x - q * d;
        // Toward zero: the rest has the sign of x, and is less than d.
        q -= (rest < 0 && x >= 0) || rest <= -d;
        q += (rest > 0 && x < 0) || rest >= d;
        v->i[k] = q;
    }
}

static void divide(struct stk_batch_eval *e, struct stk_batch_vec *v, uint32_t n,
                   const struct stk_batch_vec *a, const struct stk_batch_vec *b, bool quotient)
{
    if (quotient && b->uniform && !b->has_null && b->i[0] > 0 && b->i[0] < INT64_C(1) << 40 &&
        bits_of(a, n) <= 51) {
        divide_fast(v, n, a, b->i[0]);
        return;
    }
    need_nulls(v, n);
    FOR_ROWS
    {
        int64_t x = a->i[k], d = b->i[k];
        v->null[k] |= d == 0;
        if (d == -1 && quotient) {
            e->overflow |= __builtin_sub_overflow(0, x, &v->i[k]) && !v->null[k];
        } else {
            v->i[k] = d == 0 || d == -1 ? 0 : quotient ? x / d : x % d;
        }
    }
}

static void whole_arithmetic(struct stk_batch_eval *e, enum stk_batch_op op,
                             struct stk_batch_vec *v, uint32_t n, const struct stk_batch_vec *a,
                             const struct stk_batch_vec *b)
{
    if (op == STK_BATCH_DIVIDE || op == STK_BATCH_REMAINDER) {
        divide(e, v, n, a, b, op == STK_BATCH_DIVIDE);
        return;
    }
    int x = bits_of(a, n), y = bits_of(b, n);
    if (op == STK_BATCH_MULTIPLY ? x + y > 62 : x > 61 || y > 61) {
        add_checked(e, op, v, n, a, b);
    } else if (op == STK_BATCH_ADD) {
        FOR_ROWS v->i[k] = a->i[k] + b->i[k];
    } else if (op == STK_BATCH_SUBTRACT) {
        FOR_ROWS v->i[k] = a->i[k] - b->i[k];
    } else {
        FOR_ROWS v->i[k] = a->i[k] * b->i[k];
    }
}

static void real_arithmetic(enum stk_batch_op op, struct stk_batch_vec *v, uint32_t n,
                            const struct stk_batch_vec *a, const struct stk_batch_vec *b)
{
    uint8_t odd = 0;
    if (op == STK_BATCH_ADD) {
        FOR_ROWS v->r[k] = a->r[k] + b->r[k];
    } else if (op == STK_BATCH_SUBTRACT) {
        FOR_ROWS v->r[k] = a->r[k] - b->r[k];
    } else if (op == STK_BATCH_MULTIPLY) {
        FOR_ROWS v->r[k] = a->r[k] * b->r[k];
    } else {
        FOR_ROWS v->r[k] = a->r[k] / b->r[k];
    }
    if (op == STK_BATCH_DIVIDE) {
        FOR_ROWS odd |= (uint8_t)(b->r[k] == 0) | (uint8_t)(v->r[k] != v->r[k]);
    } else {
        FOR_ROWS odd |= (uint8_t)(v->r[k] != v->r[k]);
    }
    if (!odd) {
        return;
    }
    need_nulls(v, n); // values that aren't numbers are null
    FOR_ROWS
    {
        v->null[k] |= v->r[k] != v->r[k] || (op == STK_BATCH_DIVIDE && b->r[k] == 0);
        v->r[k] = v->null[k] ? 0 : v->r[k];
    }
}

static void arithmetic(struct stk_batch_eval *e, const struct stk_batch_node *node,
                       struct stk_batch_vec *v, uint32_t n, const struct stk_batch_vec *a,
                       const struct stk_batch_vec *b)
{
    either_null(v, n, a, b);
    if (node->type == STK_BATCH_REAL) {
        real_arithmetic(node->op, v, n, a, b);
    } else if (node->op == STK_BATCH_BIT_AND) {
        FOR_ROWS v->i[k] = a->i[k] & b->i[k];
    } else if (node->op == STK_BATCH_BIT_OR) {
        FOR_ROWS v->i[k] = a->i[k] | b->i[k];
    } else {
        whole_arithmetic(e, node->op, v, n, a, b);
    }
}

// -1, 0, 1; exact.
static int compare_mixed(int64_t i, double r)
{
    if (r >= 9223372036854775808.0) {
        return -1;
    }
    if (r < -9223372036854775808.0) {
        return 1;
    }
    int64_t whole = (int64_t)r;
    if (i != whole) {
        return i < whole ? -1 : 1;
    }
    double rest = r - (double)whole;
    return (rest < 0) - (rest > 0);
}

static bool holds(enum stk_batch_op op, int order)
{
    return op == STK_BATCH_LT   ? order < 0
           : op == STK_BATCH_LE ? order <= 0
           : op == STK_BATCH_NE ? order != 0
                                : order == 0;
}

static void compare_values(const struct stk_batch_node *node, struct stk_batch_vec *v, uint32_t n,
                           const struct stk_batch_vec *a, const struct stk_batch_vec *b)
{
    bool real_a = node->args[0]->type == STK_BATCH_REAL;
    bool real_b = node->args[1]->type == STK_BATCH_REAL;
    if (real_a != real_b) {
        FOR_ROWS
        {
            int order = real_b ? compare_mixed(a->i[k], b->r[k]) : -compare_mixed(b->i[k], a->r[k]);
            v->i[k] = holds(node->op, order);
        }
    } else if (real_a) {
        FOR_ROWS v->i[k] = holds(node->op, (a->r[k] > b->r[k]) - (a->r[k] < b->r[k]));
    } else if (node->op == STK_BATCH_LT) {
        FOR_ROWS v->i[k] = a->i[k] < b->i[k];
    } else if (node->op == STK_BATCH_LE) {
        FOR_ROWS v->i[k] = a->i[k] <= b->i[k];
    } else if (node->op == STK_BATCH_NE) {
        FOR_ROWS v->i[k] = a->i[k] != b->i[k];
    } else {
        FOR_ROWS v->i[k] = a->i[k] == b->i[k];
    }
}

static void eval_compare(const struct stk_batch_node *node, struct stk_batch_vec *v, uint32_t n,
                         const struct stk_batch_vec *a, const struct stk_batch_vec *b)
{
    compare_values(node, v, n, a, b);
    if (node->op != STK_BATCH_IS) {
        either_null(v, n, a, b);
        return;
    }
    v->has_null = false;
    if (a->has_null || b->has_null) {
        FOR_ROWS v->i[k] =
            is_null(a, k) || is_null(b, k) ? is_null(a, k) == is_null(b, k) : v->i[k];
    }
}

static bool is_true(const struct stk_batch_node *node, const struct stk_batch_vec *v, uint32_t k)
{
    return node->type == STK_BATCH_REAL ? v->r[k] != 0 : v->i[k] != 0;
}

// AND is false if one is false, null if one is null and none false; OR likewise with true.
static void connect(const struct stk_batch_node *node, struct stk_batch_vec *v, uint32_t n,
                    const struct stk_batch_vec *a, const struct stk_batch_vec *b)
{
    bool decides = node->op == STK_BATCH_OR;
    v->has_null = a->has_null || b->has_null;
    FOR_ROWS
    {
        bool null_a = is_null(a, k), null_b = is_null(b, k);
        bool x = is_true(node->args[0], a, k), y = is_true(node->args[1], b, k);
        bool decided = (!null_a && x == decides) || (!null_b && y == decides);
        v->i[k] = decided ? decides : !decides;
        v->null[k] = !decided && (null_a || null_b);
    }
}

static void eval_choose(struct stk_batch_eval *e, const struct stk_batch_node *node,
                        struct stk_batch_vec *v, const struct stk_batch *b)
{
    uint32_t n = b->rows, whens = (node->arg_count - 1) / 2;
    const struct stk_batch_vec *otherwise = stk_batch_eval(e, node->args[node->arg_count - 1], b);
    memcpy(v->i, otherwise->i, n * sizeof v->i[0]);
    memset(v->null, 0, n);
    if (otherwise->has_null) {
        memcpy(v->null, otherwise->null, n);
    }
    v->has_null = otherwise->has_null;
    for (uint32_t w = whens; w-- > 0;) { // the first that holds is written last
        const struct stk_batch_node *condition = node->args[2 * w];
        const struct stk_batch_vec *when = stk_batch_eval(e, condition, b);
        const struct stk_batch_vec *then = stk_batch_eval(e, node->args[2 * w + 1], b);
        v->has_null |= then->has_null;
        FOR_ROWS
        {
            bool holds_here = !is_null(when, k) && is_true(condition, when, k);
            v->i[k] = holds_here ? then->i[k] : v->i[k];
            v->null[k] = holds_here ? is_null(then, k) : v->null[k];
        }
    }
}

static void coalesce(struct stk_batch_eval *e, const struct stk_batch_node *node,
                     struct stk_batch_vec *v, const struct stk_batch *b)
{
    uint32_t n = b->rows;
    memset(v->null, 1, n);
    memset(v->i, 0, n * sizeof v->i[0]);
    v->has_null = true;
    for (uint32_t a = 0; a < node->arg_count; a++) {
        const struct stk_batch_vec *arg = stk_batch_eval(e, node->args[a], b);
        FOR_ROWS
        {
            bool taken = v->null[k] && !is_null(arg, k);
            v->i[k] = taken ? arg->i[k] : v->i[k];
            v->null[k] = v->null[k] && !taken;
        }
    }
}

static void extreme(struct stk_batch_eval *e, const struct stk_batch_node *node,
                    struct stk_batch_vec *v, const struct stk_batch *b)
{
    uint32_t n = b->rows;
    bool real = node->type == STK_BATCH_REAL, least = node->op == STK_BATCH_LEAST;
    const struct stk_batch_vec *first = stk_batch_eval(e, node->args[0], b);
    memcpy(v->i, first->i, n * sizeof v->i[0]);
    v->has_null = first->has_null;
    if (v->has_null) {
        memcpy(v->null, first->null, n);
    }
    for (uint32_t a = 1; a < node->arg_count; a++) {
        const struct stk_batch_vec *arg = stk_batch_eval(e, node->args[a], b);
        FOR_ROWS
        {
            bool less = real ? arg->r[k] < v->r[k] : arg->i[k] < v->i[k];
            bool more = real ? arg->r[k] > v->r[k] : arg->i[k] > v->i[k];
            v->i[k] = (least ? less : more) ? arg->i[k] : v->i[k];
        }
        if (arg->has_null) {
            need_nulls(v, n);
            FOR_ROWS v->null[k] |= arg->null[k];
        }
    }
}

static int64_t truncated(double r)
{
    return r <= -9223372036854775808.0  ? INT64_MIN
           : r >= 9223372036854775807.0 ? INT64_MAX
                                        : (int64_t)r;
}

static void one_operand(struct stk_batch_eval *e, const struct stk_batch_node *node,
                        struct stk_batch_vec *v, uint32_t n, const struct stk_batch_vec *a)
{
    bool real = node->args[0]->type == STK_BATCH_REAL;
    either_null(v, n, a, a);
    switch (node->op) {
    case STK_BATCH_TO_REAL:
        FOR_ROWS v->r[k] = (double)a->i[k];
        break;
    case STK_BATCH_TO_INT:
        FOR_ROWS v->i[k] = truncated(a->r[k]);
        break;
    case STK_BATCH_INVERT:
        FOR_ROWS v->i[k] = ~a->i[k];
        break;
    case STK_BATCH_NOT:
        FOR_ROWS v->i[k] = !is_true(node->args[0], a, k);
        break;
    default: // NEGATE, ABS
        if (real) {
            FOR_ROWS v->r[k] = node->op == STK_BATCH_ABS && a->r[k] >= 0 ? a->r[k] : 0.0 - a->r[k];
            break;
        }
        FOR_ROWS
        {
            if (node->op == STK_BATCH_ABS && a->i[k] >= 0) {
                v->i[k] = a->i[k];
            } else {
                e->overflow |= __builtin_sub_overflow(0, a->i[k], &v->i[k]) && !is_null(v, k);
            }
        }
    }
}

const struct stk_batch_vec *stk_batch_eval(struct stk_batch_eval *e,
                                           const struct stk_batch_node *node,
                                           const struct stk_batch *b)
{
    STK_ASSERT(b->rows > 0);
    struct stk_batch_vec *v = &e->vecs[node->index];
    uint32_t n = b->rows;
    if (v->epoch == e->epoch) {
        return v;
    }
    v->epoch = e->epoch;
    v->uniform = false;
    switch (node->op) {
    case STK_BATCH_FIELD:
        read_field(v, node, b);
        return v;
    case STK_BATCH_CONSTANT:
        eval_fill(v, n, node->constant, node->type == STK_BATCH_NULL);
        return v;
    case STK_BATCH_ENTRY:
        read_entries(v, e->plan, node->dict, b);
        return v;
    case STK_BATCH_CASE:
        eval_choose(e, node, v, b);
        return v;
    case STK_BATCH_COALESCE:
        coalesce(e, node, v, b);
        return v;
    case STK_BATCH_LEAST:
    case STK_BATCH_GREATEST:
        extreme(e, node, v, b);
        return v;
    default:
        break;
    }
    const struct stk_batch_vec *first = stk_batch_eval(e, node->args[0], b);
    if (node->arg_count == 1) {
        one_operand(e, node, v, n, first);
        v->uniform = first->uniform;
        return v;
    }
    const struct stk_batch_vec *second = stk_batch_eval(e, node->args[1], b);
    if (node->op == STK_BATCH_AND || node->op == STK_BATCH_OR) {
        connect(node, v, n, first, second);
    } else if (node->op >= STK_BATCH_EQ && node->op <= STK_BATCH_IS) {
        eval_compare(node, v, n, first, second);
    } else {
        arithmetic(e, node, v, n, first, second);
    }
    v->uniform = first->uniform && second->uniform;
    return v;
}
