// SPDX-License-Identifier: Apache-2.0
// Pipelines for tests in a few words, and their elements as text: scalars as they are, arrays in
// [], components of one element in (), strings in '', datasets in {}, an error as !.
#ifndef STK_TESTS_DATA_MAKE_H
#define STK_TESTS_DATA_MAKE_H

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "check.h"
#include "base/clock.h"
#include "engine/graph/dataset.h"
#include "engine/run/iter_open.h"
#include "engine/run/pull.h"
#include "engine/run/run_open.h"

#define UNUSED __attribute__((unused))

// A dataset of the kind over up to three inputs (consumed; NULL: none). Arguments: name, value of
// int64_t, ..., NULL.
UNUSED static struct stk_dataset *make_with(const char *kind, struct stk_dataset *const *in, int n,
                                            struct stk_attrs *attrs)
{
    struct stoker_err err;
    struct stk_dataset *ds = NULL;
    stk_err_init(&err);
    if (stk_dataset_make(&ds, kind, in, n, attrs, NULL, &err) != STOKER_OK) {
        fprintf(stderr, "%s: %s\n", kind, err.message);
        CHECK(!"dataset is made");
    }
    stk_attrs_drop(attrs);
    for (int i = 0; i < n; i++) {
        stk_dataset_drop(in[i]);
    }
    return ds;
}

UNUSED static struct stk_dataset *make(const char *kind, struct stk_dataset *in, ...)
{
    struct stk_attrs *attrs = stk_attrs_new();
    va_list list;
    va_start(list, in);
    for (const char *name; (name = va_arg(list, const char *)) != NULL;) {
        CHECK(stk_attrs_set_int(attrs, name, va_arg(list, int64_t)));
    }
    va_end(list);
    return make_with(kind, &in, in != NULL, attrs);
}

#define I(x) ((int64_t)(x))
#define RANGE(n) make("range", NULL, "stop", I(n), NULL)

// What test functions compute; `arg` of the operation says which.
enum {
    OP_PLUS_ONE,
    OP_IS_EVEN,
    OP_FAIL_7,
    OP_SPIN,
    OP_MOD_3,
    OP_BELOW_5,
    OP_FAIL_MOD,
    OP_SLEEP,
    OP_PAIRS
};

static int64_t spin_ns;      // of OP_SPIN, for each element
static int64_t fail_mod = 7; // of OP_FAIL_MOD
static int64_t alone;        // of OP_PAIRS: how many elements came without another

static enum stoker_status test_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    (void)err;
    stk_spec_copy(&c->out[0], &c->in[0]);
    return STOKER_OK;
}

UNUSED static void spin(int64_t ns)
{
    int64_t start_ns = (int64_t)stk_clock_of(CLOCK_THREAD_CPUTIME_ID);
    do {
        for (volatile int i = 0; i < 200; i++) {
        }
    } while ((int64_t)stk_clock_of(CLOCK_THREAD_CPUTIME_ID) - start_ns < ns);
}

static enum stoker_status test_run(struct stk_op_run *r, struct stoker_err *err)
{
    bool is_test = r->op->arg == OP_IS_EVEN || r->op->arg == OP_BELOW_5;
    struct stk_shape shape = r->in[0]->shape;
    uint8_t *to = stk_op_out(r, 0, is_test ? STK_DT_BOOL : STK_DT_I64, &shape, err);
    if (!to) {
        return STOKER_ELIMIT;
    }
    int64_t each = stk_shape_count(&shape);
    __atomic_add_fetch(&alone, r->op->arg == OP_PAIRS && r->n == 1, __ATOMIC_RELAXED);
    for (int64_t i = 0; i < r->n; i++) {
        const int64_t *in = stk_col_at(r->in[0], i);
        for (int64_t k = 0; k < each; k++) {
            int64_t v = in[k], *out = (int64_t *)to + i * each + k;
            switch (r->op->arg) {
            case OP_PLUS_ONE:
                *out = v + 1;
                break;
            case OP_IS_EVEN:
                to[i * each + k] = v % 2 == 0;
                break;
            case OP_BELOW_5:
                to[i * each + k] = v < 5;
                break;
            case OP_MOD_3:
                *out = v % 3;
                break;
            case OP_SPIN:
                spin(spin_ns);
                *out = v;
                break;
            case OP_PAIRS:
            case OP_SLEEP:
                usleep(2000);
                *out = v;
                break;
            case OP_FAIL_7:
                *out = v;
                if (v == 7) {
                    return stk_op_fail(r, i, STOKER_EINVAL, "seven");
                }
                break;
            case OP_FAIL_MOD:
                *out = v;
                if (v % fail_mod == 0) {
                    return stk_op_fail(r, i, STOKER_EINVAL, "a multiple");
                }
                break;
            }
        }
    }
    return STOKER_OK;
}

static const struct stk_op test_ops[] = {
    {.name = "plus_one", .infer = test_infer, .run = test_run, .arg = OP_PLUS_ONE},
    {.name = "is_even", .infer = test_infer, .run = test_run, .arg = OP_IS_EVEN},
    {.name = "fail_7", .infer = test_infer, .run = test_run, .arg = OP_FAIL_7},
    {.name = "spin", .infer = test_infer, .run = test_run, .arg = OP_SPIN},
    {.name = "mod_3", .infer = test_infer, .run = test_run, .arg = OP_MOD_3},
    {.name = "below_5", .infer = test_infer, .run = test_run, .arg = OP_BELOW_5},
    {.name = "fail_mod", .infer = test_infer, .run = test_run, .arg = OP_FAIL_MOD},
    {.name = "sleep", .infer = test_infer, .run = test_run, .arg = OP_SLEEP},
    {.name = "pairs", .at_once = 2, .infer = test_infer, .run = test_run, .arg = OP_PAIRS}};

// A function of one of the operations above over elements of one component: an identity of which
// the node is exchanged.
UNUSED static struct stk_fn *test_fn(const struct stk_specs *in, int op)
{
    struct stoker_err err;
    struct stk_fn *fn = NULL;
    int first, count, value = 0;
    stk_err_init(&err);
    CHECK(stk_fn_open(&fn, in->items, in->count, "f", &err) == STOKER_OK);
    CHECK(stk_fn_add(fn, "identity", &value, 1, NULL, NULL, &first, &count, &err) == STOKER_OK);
    CHECK(stk_fn_finish(fn, &first, 1, &err) == STOKER_OK);
    fn->nodes[0].op = &test_ops[op];
    if (op == OP_IS_EVEN || op == OP_BELOW_5) {
        fn->specs[first].dtype = STK_DT_BOOL;
    }
    return fn;
}

// Arguments after the function: name, int64_t, ..., NULL.
UNUSED static struct stk_dataset *with_fn(const char *kind, struct stk_dataset *in,
                                          struct stk_fn *fn, ...)
{
    struct stk_attrs *attrs = stk_attrs_new();
    va_list list;
    CHECK(stk_attrs_set(attrs, &(struct stk_attr){.name = "fn", .kind = STK_ATTR_FN, .fn = fn}));
    va_start(list, fn);
    for (const char *name; (name = va_arg(list, const char *)) != NULL;) {
        CHECK(stk_attrs_set_int(attrs, name, va_arg(list, int64_t)));
    }
    va_end(list);
    stk_fn_drop(fn);
    return make_with(kind, &in, 1, attrs);
}
// The same with one of the operations above.
UNUSED static struct stk_dataset *with_op(const char *kind, struct stk_dataset *in, int op, ...)
{
    struct stk_attrs *attrs = stk_attrs_new();
    struct stk_fn *fn = test_fn(in->specs, op);
    va_list list;
    CHECK(stk_attrs_set(attrs, &(struct stk_attr){.name = "fn", .kind = STK_ATTR_FN, .fn = fn}));
    va_start(list, op);
    for (const char *name; (name = va_arg(list, const char *)) != NULL;) {
        CHECK(stk_attrs_set_int(attrs, name, va_arg(list, int64_t)));
    }
    va_end(list);
    stk_fn_drop(fn);
    return make_with(kind, &in, 1, attrs);
}

static struct stk_run_options test_options;

UNUSED static struct stk_iter *open_iter(struct stk_dataset *ds)
{
    struct stoker_err err;
    struct stk_run *run = NULL;
    struct stk_iter *it = NULL;
    stk_err_init(&err);
    CHECK(stk_run_open(&run, &test_options, &err) == STOKER_OK);
    if (stk_iter_open(&it, ds, run, 0, 0, &err) != STOKER_OK) {
        fprintf(stderr, "%s: %s\n", ds->kind->name, err.message);
        CHECK(!"iterator opens");
    }
    stk_run_drop(run);
    stk_dataset_drop(ds);
    return it;
}

struct text {
    char at[1 << 16];
    size_t n;
};

static void say(struct text *t, const char *fmt, ...) STK_PRINTF(2, 3);
static void say(struct text *t, const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    size_t capacity = sizeof t->at - t->n;
    int n = vsnprintf(t->at + t->n, capacity, fmt, list);
    t->n += n < 0 ? 0 : (size_t)n < capacity ? (size_t)n : capacity - 1;
    va_end(list);
}

static void say_all(struct text *t, struct stk_iter *it, int64_t want);

static void say_value(struct text *t, const struct stk_col *c, const void *p, int64_t i)
{
    switch (c->dtype) {
    case STK_DT_BOOL:
    case STK_DT_U8:
        say(t, "%d", ((const uint8_t *)p)[i]);
        break;
    case STK_DT_I32:
        say(t, "%d", ((const int32_t *)p)[i]);
        break;
    case STK_DT_F32:
        say(t, "%g", (double)((const float *)p)[i]);
        break;
    case STK_DT_F64:
        say(t, "%g", ((const double *)p)[i]);
        break;
    case STK_DT_STRING: {
        struct stk_bytes s = ((const struct stk_bytes *)p)[i];
        say(t, "'%.*s'", (int)s.size, (const char *)s.data);
        break;
    }
    case STK_DT_DATASET: {
        struct stk_iter *it = open_iter(stk_dataset_hold(((struct stk_dataset *const *)p)[i]));
        say(t, "{");
        if (it) {
            say_all(t, it, 3);
        }
        say(t, "}");
        break;
    }
    default:
        say(t, "%lld", (long long)((const int64_t *)p)[i]);
    }
}

static int64_t say_array(struct text *t, const struct stk_col *c, const void *p,
                         const struct stk_shape *shape, int dim, int64_t at)
{
    if (dim == shape->rank) {
        say_value(t, c, p, at);
        return at + 1;
    }
    say(t, "[");
    for (int64_t k = 0; k < shape->dim[dim]; k++) {
        say(t, k ? " " : "");
        at = say_array(t, c, p, shape, dim + 1, at);
    }
    say(t, "]");
    return at;
}

UNUSED static void say_element(struct text *t, const struct stk_block *b, int64_t i)
{
    say(t, b->count != 1 ? "(" : "");
    for (int k = 0; k < b->count; k++) {
        struct stk_shape shape = stk_col_shape(&b->cols[k], i);
        say(t, k ? "," : "");
        say_array(t, &b->cols[k], stk_col_at(&b->cols[k], i), &shape, 0, 0);
    }
    say(t, b->count != 1 ? ")" : "");
}

// All elements, asked for `want` at a time. Closes the iterator.
static void say_all(struct text *t, struct stk_iter *it, int64_t want)
{
    struct stk_block b = {0};
    struct stoker_err err;
    bool is_first = true;
    for (int errors = 0; errors < 1000;) {
        stk_err_init(&err);
        enum stoker_status s = stk_iter_next(it, want, &b, &err);
        if (s == STOKER_OK && b.n == 0) {
            break;
        }
        CHECK(b.n <= want && b.n >= 0);
        errors += s != STOKER_OK;
        if (s != STOKER_OK) {
            say(t, is_first ? "!" : " !");
            is_first = false;
            continue;
        }
        for (int64_t i = 0; i < b.n; i++) {
            say(t, is_first ? "" : " ");
            say_element(t, &b, i);
            is_first = false;
        }
    }
    stk_block_free(&b);
    stk_iter_close(it);
}

// The elements of a dataset (held) as text, after passing over `skip` of them.
UNUSED static const char *elements_after(struct stk_dataset *ds, int64_t want, int64_t skip)
{
    static struct text texts[8];
    static int next;
    struct text *t = &texts[next++ % 8];
    t->n = 0;
    t->at[0] = 0;
    struct stk_iter *it = open_iter(stk_dataset_hold(ds));
    for (int64_t passed = 0; it && passed < skip;) {
        int64_t done = 0;
        struct stoker_err err;
        enum stoker_status s = stk_iter_skip(it, skip - passed, &done, &err);
        passed += done + (s != STOKER_OK);
        if (s == STOKER_OK && done == 0) {
            break;
        }
    }
    if (it) {
        say_all(t, it, want);
    }
    return t->at;
}

// Whatever the size of the blocks, the elements are the wanted ones; skipping n is taking the
// elements behind the n-th; the cardinality, if known, is their number.
UNUSED static void expect_at(int line, struct stk_dataset *ds, const char *want)
{
    static const int64_t wants[] = {1, 2, 3, 7, 1000};
    int failed = (int)check_failures;
    for (size_t i = 0; i < sizeof wants / sizeof wants[0]; i++) {
        CHECK_STR(elements_after(ds, wants[i], 0), want);
    }
    int64_t n = *want ? 1 : 0;
    int depth = 0;
    for (const char *p = want; *p; p++) {
        depth += *p == '[' || *p == '(' || *p == '{' ? 1 : 0;
        depth -= *p == ']' || *p == ')' || *p == '}' ? 1 : 0;
        n += *p == ' ' && depth == 0;
    }
    for (int64_t skip = 1; skip <= n + 1 && skip < 8; skip++) {
        const char *rest = want;
        int d = 0;
        for (int64_t k = 0; *rest && k < skip; rest++) {
            d += *rest == '[' || *rest == '(' || *rest == '{' ? 1 : 0;
            d -= *rest == ']' || *rest == ')' || *rest == '}' ? 1 : 0;
            k += *rest == ' ' && d == 0;
        }
        if (!strchr(want, '!')) {
            CHECK_STR(elements_after(ds, 3, skip), rest);
        }
    }
    int64_t cardinality = stk_dataset_cardinality(ds);
    if (cardinality >= 0 && !strchr(want, '!')) {
        CHECK_EQ(cardinality, n);
    }
    CHECK(cardinality != STK_INFINITE);
    if (failed != (int)check_failures) {
        fprintf(stderr, "  ... expected at line %d\n", line);
    }
    stk_dataset_drop(ds);
}
#define EXPECT(ds, want) expect_at(__LINE__, ds, want)

UNUSED static struct stk_dataset *pair_of(const char *kind, struct stk_dataset *a,
                                          struct stk_dataset *b)
{
    struct stk_dataset *in[2] = {a, b};
    return make_with(kind, in, 2, stk_attrs_new());
}

#endif
