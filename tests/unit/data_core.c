// SPDX-License-Identifier: Apache-2.0
// The engine's core: columns, functions and iterators from end to end on small pipelines.
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "engine/run/iter_open.h"
#include "engine/run/pull.h"
#include "engine/run/run_open.h"

static struct stk_dataset *make(const char *kind, struct stk_dataset *in, struct stk_attrs *attrs)
{
    struct stoker_err err;
    struct stk_dataset *ds = NULL;
    stk_err_init(&err);
    CHECK(stk_dataset_make(&ds, kind, &in, in != NULL, attrs, NULL, &err) == STOKER_OK);
    stk_attrs_drop(attrs);
    stk_dataset_drop(in);
    return ds;
}

static struct stk_dataset *range_of(int64_t stop)
{
    struct stk_attrs *a = stk_attrs_new();
    CHECK(stk_attrs_set_int(a, "stop", stop));
    return make("range", NULL, a);
}

static struct stk_dataset *batch_of(struct stk_dataset *in, int64_t size, int drop)
{
    struct stk_attrs *a = stk_attrs_new();
    CHECK(stk_attrs_set_int(a, "batch_size", size) && stk_attrs_set_int(a, "drop_remainder", drop));
    return make("batch", in, a);
}

static struct stk_dataset *identity_of(struct stk_dataset *in)
{
    struct stoker_err err;
    struct stk_fn *fn;
    struct stk_attrs *a = stk_attrs_new();
    int first, count, value = 0;
    stk_err_init(&err);
    CHECK(stk_fn_open(&fn, in->specs->items, in->specs->count, "f", &err) == STOKER_OK);
    CHECK(stk_fn_add(fn, "identity", &value, 1, NULL, NULL, &first, &count, &err) == STOKER_OK);
    CHECK(stk_fn_finish(fn, &first, 1, &err) == STOKER_OK);
    CHECK(stk_attrs_set(a, &(struct stk_attr){.name = "fn", .kind = STK_ATTR_FN, .fn = fn}));
    stk_fn_drop(fn);
    return make("map", in, a);
}

static struct stk_iter *open_it(struct stk_dataset *ds)
{
    struct stoker_err err;
    struct stk_run *run;
    struct stk_iter *it;
    stk_err_init(&err);
    CHECK(stk_run_open(&run, NULL, &err) == STOKER_OK);
    CHECK(stk_iter_open(&it, ds, run, 0, 0, &err) == STOKER_OK);
    stk_run_drop(run);
    stk_dataset_drop(ds);
    return it;
}

static void batches_hold_everything(int64_t n, int64_t size, int drop, int64_t want)
{
    struct stk_dataset *ds = batch_of(identity_of(range_of(n)), size, drop);
    int64_t expected = stk_dataset_cardinality(ds), batches = 0, at = 0;
    struct stk_iter *it = open_it(ds);
    struct stk_block b = {0};
    struct stoker_err err;
    CHECK(expected == (drop ? n / size : (n + size - 1) / size));
    for (;;) {
        CHECK(stk_iter_next(it, want, &b, &err) == STOKER_OK);
        if (b.n == 0) {
            break;
        }
        batches += b.n;
        for (int64_t i = 0; i < b.n; i++) {
            struct stk_shape shape = stk_col_shape(&b.cols[0], i);
            const int64_t *v = stk_col_at(&b.cols[0], i);
            for (int64_t k = 0; k < shape.dim[0]; k++) {
                CHECK(v[k] == at++);
            }
        }
    }
    CHECK(batches == expected && at == (drop ? n / size * size : n));
    stk_block_free(&b);
    stk_iter_close(it);
}

static void skipping_equals_dropping(int64_t n, int64_t size, int64_t skip)
{
    struct stk_iter *it = open_it(batch_of(identity_of(range_of(n)), size, 0));
    struct stk_block b = {0};
    struct stoker_err err;
    int64_t done;
    CHECK(stk_iter_skip(it, skip, &done, &err) == STOKER_OK);
    CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_OK);
    if (skip * size < n) {
        CHECK(done == skip && *(int64_t *)stk_col_at(&b.cols[0], 0) == skip * size);
    } else {
        CHECK(b.n == 0);
    }
    stk_block_free(&b);
    stk_iter_close(it);
}

static void bad_arguments_are_refused(void)
{
    struct stoker_err err;
    struct stk_dataset *ds, *in = range_of(3);
    struct stk_attrs *a = stk_attrs_new();
    stk_err_init(&err);
    CHECK(stk_dataset_make(&ds, "batch", &in, 1, a, NULL, &err) == STOKER_EINVAL);
    CHECK(strstr(err.message, "batch_size") != NULL);
    CHECK(stk_attrs_set_int(a, "batch_size", 0));
    CHECK(stk_dataset_make(&ds, "batch", &in, 1, a, NULL, &err) == STOKER_EINVAL);
    CHECK(stk_dataset_make(&ds, "nonsense", &in, 1, a, NULL, &err) == STOKER_EUSAGE);
    stk_attrs_drop(a);
    stk_dataset_drop(in);
}

static void pool_takes_buffers_back(void)
{
    struct stk_iter *it = open_it(batch_of(identity_of(range_of(100000)), 100, 0));
    struct stk_block b = {0};
    struct stoker_err err;
    uint64_t fresh = 0;
    for (int i = 0; i < 900; i++) {
        CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_OK);
        if (i == 20) {
            fresh = stk_pool_stats_of(it->run->pool).fresh;
        }
    }
    CHECK(stk_pool_stats_of(it->run->pool).fresh == fresh);
    stk_block_free(&b);
    stk_iter_close(it);
}

struct looks {
    int n, until;
};

// The waiting of a pool: after so many looks it is this thread's turn.
static bool look(void *arg, int *idle)
{
    struct looks *l = arg;
    (void)idle;
    if (++l->n == l->until) {
        stk_pool_set_ahead(false);
    }
    return l->n <= l->until;
}

// Who reads ahead leaves a part of the budget alone, until it is its turn.
static void ahead_leaves_memory(void)
{
    size_t cap = 1 << 20, part = stk_pool_ahead_bytes(cap), more = cap - part;
    struct stk_pool *pool = stk_pool_open(cap);
    struct looks looks = {.until = 3};
    CHECK(part < cap && part >= cap / 2);
    CHECK(stk_pool_claim(pool, part));
    stk_pool_set_ahead(true);
    struct stk_buf *b = stk_buf_get(pool, more / 2);
    CHECK(!b && stk_pool_refused());
    CHECK(!stk_pool_claim_waiting(pool, more / 2));
    CHECK(stk_pool_claim(pool, more / 2)); // who does not wait is not held back
    stk_pool_unclaim(pool, more / 2);
    stk_pool_set_wait(pool, look, &looks);
    b = stk_buf_get(pool, more / 2);
    CHECK(b && looks.n == 3 && !stk_pool_is_ahead());
    CHECK(!stk_buf_get(pool, cap)); // asked in vain, one time more than until
    CHECK_EQ(looks.n, 4);
    stk_buf_drop(b);
    stk_pool_unclaim(pool, part);
    stk_pool_drop(pool);
}

static bool takes(const struct stk_dataset_kind *kind, const char *arg)
{
    const struct stk_arg_row *row = kind->args;
    while (row && row->name && strcmp(row->name, arg) != 0) {
        row++;
    }
    return row && row->name;
}

// What others ask a kind's role for must hold of it.
static void kinds_say_what_they_are(void)
{
    for (int i = 0; i < stk_dataset_kind_count; i++) {
        const struct stk_dataset_kind *kind = stk_dataset_kinds[i];
        bool is_source = kind->role == STK_DS_SOURCE || kind->role == STK_DS_FILES ||
                         kind->role == STK_DS_PROGRAM;
        bool runs = kind->role == STK_DS_FUNCTION || kind->role == STK_DS_NESTED;
        CHECK(kind->role > STK_DS_NONE && kind->role < STK_DS_COUNT);
        CHECK((kind->role == STK_DS_SEVERAL) == (kind->n_in_min > 0 && kind->n_in_max != 0));
        CHECK(!is_source || kind->cardinality != stk_dataset_as_many);
        CHECK(takes(kind, "filenames") == (kind->role == STK_DS_FILES));
        CHECK(takes(kind, "fn") == runs);
        CHECK(!kind->keeps_blocks || stk_dataset_role_hands_on(kind->role));
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(kinds_say_what_they_are);
    CHECK_RUN(batches_hold_everything, 0, 3, 0, 1);
    CHECK_RUN(batches_hold_everything, 10, 3, 0, 1);
    CHECK_RUN(batches_hold_everything, 10, 3, 1, 4);
    CHECK_RUN(batches_hold_everything, 10, 20, 0, 2);
    CHECK_RUN(batches_hold_everything, 10000, 7, 0, 100);
    for (int64_t skip = 0; skip < 6; skip++) {
        CHECK_RUN(skipping_equals_dropping, 13, 3, skip);
    }
    CHECK_RUN(bad_arguments_are_refused);
    CHECK_RUN(pool_takes_buffers_back);
    CHECK_RUN(ahead_leaves_memory);
    return check_done("unit.data_core");
}
