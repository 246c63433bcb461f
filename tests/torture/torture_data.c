// SPDX-License-Identifier: Apache-2.0
// Every allocation of a running pipeline fails once: the n-th alone, then the n-th and all after
// it. No element is returned twice or invented; delivered, skipped and filtered elements never
// exceed the source's; and none is missing unless an error said so.
#include "data_make.h"

#define N 600
#define MAX_ALLOCATIONS 400 // that fail, of each pipeline
#define ERRORS_MAX 2000     // a pipeline that fails for good says so again and again

static struct stk_dataset *failing(struct stk_dataset *in, int calls)
{
    return with_op("map", in, OP_FAIL_MOD, "num_parallel_calls", I(calls), NULL);
}

static struct stk_dataset *even(struct stk_dataset *in)
{
    return with_op("filter", in, OP_IS_EVEN, NULL);
}

static struct stk_dataset *pipeline(int which)
{
    switch (which) {
    case 0:
        return even(failing(RANGE(N), 0));
    case 1:
        return make("batch", even(failing(RANGE(N), 2)), "batch_size", I(7), NULL);
    case 2:
        return make("prefetch", even(failing(RANGE(N), 3)), "buffer_size", I(4), NULL);
    case 3:
        return make("shuffle", even(failing(RANGE(N), 2)), "buffer_size", I(50), NULL);
    default:
        return make("prefetch",
                    make("batch",
                         even(failing(make("shuffle", RANGE(N), "buffer_size", I(N), NULL), 0)),
                         "batch_size", I(16), NULL),
                    "buffer_size", I(2), NULL);
    }
}

struct seen {
    bool values[N];
    int64_t delivered, wrong, errors, other_errors;
};

static void note(struct seen *s, const struct stk_block *b)
{
    for (int64_t i = 0; i < b->n; i++) {
        struct stk_shape shape = stk_col_shape(&b->cols[0], i);
        const int64_t *v = stk_col_at(&b->cols[0], i);
        for (int64_t k = 0; k < stk_shape_count(&shape); k++) {
            bool fits = v[k] >= 0 && v[k] < N && v[k] % 2 == 0 && v[k] % fail_mod != 0;
            s->wrong += !fits || s->values[v[k]];
            if (fits) {
                s->values[v[k]] = true;
            }
            s->delivered++;
        }
    }
}

// Elements that stages of the chain left out, as they count them.
static int64_t left_out(const struct stk_iter *it)
{
    int64_t n = 0;
    for (; it; it = it->in[0]) {
        n += (int64_t)it->stats.skipped;
        if (strcmp(it->ds->kind->name, "filter") == 0) {
            n += (int64_t)(it->in[0]->stats.elements - it->stats.elements);
        }
        if (it->n_in == 0) {
            break;
        }
    }
    return n;
}

// Runs to the end or an error that stays. False: it did not even open.
static bool run(struct stk_dataset *ds, struct seen *s, int64_t *out)
{
    struct stoker_err err;
    struct stk_run *r = NULL;
    struct stk_iter *it = NULL;
    struct stk_block b = {0};
    memset(s, 0, sizeof *s);
    bool is_open = stk_run_open(&r, &test_options, &err) == STOKER_OK &&
                   stk_iter_open(&it, ds, r, 0, 0, &err) == STOKER_OK;
    bool has_more = is_open;
    while (has_more && s->errors < ERRORS_MAX) {
        enum stoker_status status = stk_iter_next(it, 64, &b, &err);
        has_more = status != STOKER_OK || b.n > 0;
        if (status == STOKER_OK) {
            note(s, &b);
        } else {
            s->errors++;
            s->other_errors += status != STOKER_ENOMEM && status != STOKER_ELIMIT;
        }
    }
    *out = is_open ? left_out(it) : 0;
    stk_block_free(&b);
    stk_iter_close(it);
    stk_run_drop(r);
    return is_open;
}

static int64_t failed_runs;

static void check_sum(struct stk_dataset *ds, uint64_t n, int sticky, int which)
{
    static struct seen s;
    int64_t out;
    stk_alloc_fail_at(n, sticky);
    bool is_open = run(ds, &s, &out);
    stk_alloc_fail_at(0, 0);
    failed_runs += !is_open || s.errors > 0;
    bool good = s.wrong == 0 && s.other_errors == 0 && s.delivered + out <= N &&
                (!is_open || s.errors > 0 || s.delivered + out == N);
    if (!good) {
        fprintf(stderr,
                "pipeline %d, allocation %llu%s: %lld delivered, %lld left out, %lld wrong, %lld "
                "errors, %lld of them no want of memory\n",
                which, (unsigned long long)n, sticky ? " on" : "", (long long)s.delivered,
                (long long)out, (long long)s.wrong, (long long)s.errors, (long long)s.other_errors);
    }
    CHECK(good);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    static struct seen s;
    test_options.on_error = STK_ON_ERROR_SKIP;
    for (int which = 0; which < 5; which++) {
        struct stk_dataset *ds = pipeline(which);
        int64_t out;
        uint64_t before = stk_alloc_count();
        CHECK(run(ds, &s, &out));
        CHECK(s.errors == 0 && s.wrong == 0);
        CHECK_EQ(s.delivered + out, N);
        uint64_t needed = stk_alloc_count() - before + 10;
        uint64_t step = needed > MAX_ALLOCATIONS ? needed / MAX_ALLOCATIONS : 1;
        for (uint64_t n = 1; n <= needed; n += step) {
            CHECK_RUN(check_sum, ds, n, 0, which);
            CHECK_RUN(check_sum, ds, n, 1, which);
        }
        stk_dataset_drop(ds);
    }
    CHECK(failed_runs > 100);
    return check_done("torture.torture_data");
}
