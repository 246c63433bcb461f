// SPDX-License-Identifier: Apache-2.0
// The engine's own cost, in C, without files: nanoseconds per element of small pipelines, and how
// AUTOTUNE does starting from one worker. Each line runs several times; prints the least, since the
// machine may be busy.
//   ninja -C build/release stoker_bench_engine && build/release/bench/stoker_bench_engine
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "engine/run/iter_open.h"
#include "engine/run/pull.h"
#include "engine/run/run_open.h"

#define RUNS 5

static double now_s(void)
{
    return stk_clock_seconds(CLOCK_MONOTONIC);
}

static struct stk_dataset *make_of(const char *kind, struct stk_dataset *in, struct stk_attrs *a)
{
    struct stoker_err err;
    struct stk_dataset *ds = NULL;
    stk_err_init(&err);
    if (stk_dataset_make(&ds, kind, &in, in != NULL, a, NULL, &err) != STOKER_OK) {
        fprintf(stderr, "%s: %s\n", kind, err.message);
        _exit(1);
    }
    stk_attrs_drop(a);
    stk_dataset_drop(in);
    return ds;
}

static struct stk_dataset *make(const char *kind, struct stk_dataset *in, const char *name,
                                int64_t value)
{
    struct stk_attrs *a = stk_attrs_new();
    stk_attrs_set_int(a, name, value);
    return make_of(kind, in, a);
}

static int64_t spin_ns;

static enum stoker_status spin_run(struct stk_op_run *r, struct stoker_err *err)
{
    struct stk_shape scalar = {0};
    int64_t *to = stk_op_out(r, 0, STK_DT_I64, &scalar, err);
    for (int64_t i = 0; to && i < r->n; i++) {
        to[i] = *(int64_t *)stk_col_at(r->in[0], i) + 1;
        int64_t start_ns = (int64_t)stk_clock_of(CLOCK_THREAD_CPUTIME_ID);
        while ((int64_t)stk_clock_of(CLOCK_THREAD_CPUTIME_ID) - start_ns < spin_ns) {
        }
    }
    return to ? STOKER_OK : STOKER_ELIMIT;
}

static enum stoker_status add_run(struct stk_op_run *r, struct stoker_err *err)
{
    struct stk_shape scalar = {0};
    int64_t *to = stk_op_out(r, 0, STK_DT_I64, &scalar, err);
    const int64_t *in = (const int64_t *)r->in[0]->data;
    for (int64_t i = 0; to && i < r->n; i++) {
        to[i] = in[i] + 1;
    }
    return to ? STOKER_OK : STOKER_ELIMIT;
}

static const struct stk_op add_op = {.name = "add_one", .run = add_run},
                           spin_op = {.name = "spin", .run = spin_run};

static struct stk_dataset *map(struct stk_dataset *in, const struct stk_op *op, int64_t calls)
{
    struct stoker_err err;
    struct stk_fn *fn = NULL;
    struct stk_attrs *a = stk_attrs_new();
    int first, count, value = 0;
    if (stk_fn_open(&fn, in->specs->items, 1, "f", &err) != STOKER_OK ||
        stk_fn_add(fn, "identity", &value, 1, NULL, NULL, &first, &count, &err) != STOKER_OK ||
        stk_fn_finish(fn, &first, 1, &err) != STOKER_OK) {
        _exit(1);
    }
    fn->nodes[0].op = op; // the identity becomes the operation under test
    stk_attrs_set(a, &(struct stk_attr){.name = "fn", .kind = STK_ATTR_FN, .fn = fn});
    stk_attrs_set_int(a, "num_parallel_calls", calls);
    stk_fn_drop(fn);
    return make_of("map", in, a);
}

static struct stk_iter *open_it(struct stk_dataset *ds)
{
    struct stoker_err err;
    struct stk_run *run;
    struct stk_iter *it;
    if (stk_run_open(&run, NULL, &err) != STOKER_OK ||
        stk_iter_open(&it, ds, run, 0, 0, &err) != STOKER_OK) {
        _exit(1);
    }
    stk_run_drop(run);
    return it;
}

static void measure(const char *name, struct stk_dataset *ds, int64_t want, int64_t each)
{
    double best = 1e9;
    uint64_t allocations = 0;
    for (int k = 0; k < RUNS; k++) {
        struct stk_iter *it = open_it(ds);
        struct stk_block b = {0};
        struct stoker_err err;
        int64_t n = 0;
        double start = 0;
        for (int64_t i = 0; stk_iter_next(it, want, &b, &err) == STOKER_OK && b.n > 0; i++) {
            if (start > 0) {
                n += b.n;
            } else if (i == 50) {
                start = now_s();
                allocations = stk_alloc_count();
            }
        }
        double took = (now_s() - start) / (double)(n ? n * each : 1) * 1e9;
        allocations = stk_alloc_count() - allocations;
        best = took < best ? took : best;
        stk_block_free(&b);
        stk_iter_close(it);
    }
    printf("%-46s %9.2f ns/element   %6llu allocations\n", name, best,
           (unsigned long long)allocations);
    stk_dataset_drop(ds);
}

// Rate in each tenth of a second from the start, relative to the best fixed number of threads.
static double rate(int64_t calls, double seconds, double after)
{
    struct stk_dataset *ds = make(
        "batch", map(make("range", NULL, "stop", INT64_MAX / 2), &spin_op, calls), "batch_size", 8);
    struct stk_iter *it = open_it(ds);
    struct stk_block b = {0};
    struct stoker_err err;
    double start = now_s(), from = 0, now;
    int64_t n = 0;
    while ((now = now_s()) < start + seconds && stk_iter_next(it, 1, &b, &err) == STOKER_OK) {
        if (now > start + after) {
            from = from > 0 ? from : now;
            n += 8;
        }
    }
    double got = (double)n / (now_s() - from);
    if (calls < 0) {
        const struct stk_stage_stats *s = &it->in[0]->stats;
        printf("%-46s %9.0f elements/s predicted, %.0f achieved, %u workers, binding %u\n",
               "AUTOTUNE: last look", (double)s->predicted_per_ks / 1e3,
               (double)s->achieved_per_ks / 1e3, s->threads, s->binding);
    }
    stk_block_free(&b);
    stk_iter_close(it);
    stk_dataset_drop(ds);
    return got;
}

int main(void)
{
    const int64_t n = 20000000;
    measure("range", make("range", NULL, "stop", n), 4096, 1);
    measure("range batch(100)", make("batch", make("range", NULL, "stop", n), "batch_size", 100),
            10, 100);
    measure("range map batch(100)",
            make("batch", map(make("range", NULL, "stop", n), &add_op, 0), "batch_size", 100), 10,
            100);
    measure("range map batch(100), one batch at a time",
            make("batch", map(make("range", NULL, "stop", n), &add_op, 0), "batch_size", 100), 1,
            100);
    measure("range map(2 threads) batch(100)",
            make("batch", map(make("range", NULL, "stop", n), &add_op, 2), "batch_size", 100), 10,
            100);
    measure("range map(2 threads)", map(make("range", NULL, "stop", n), &add_op, 2), 1000, 1);
    measure("range map(AUTOTUNE) batch(100) prefetch(2)",
            make("prefetch",
                 make("batch", map(make("range", NULL, "stop", n), &add_op, -1), "batch_size", 100),
                 "buffer_size", 2),
            1, 100);
    measure("range filter-less take skip",
            make("take", make("skip", make("range", NULL, "stop", n), "count", 5), "count", n),
            1000, 1);
    measure("range shuffle(10000)",
            make("shuffle", make("range", NULL, "stop", n), "buffer_size", 10000), 1000, 1);
    measure("range shuffle(1000000)",
            make("shuffle", make("range", NULL, "stop", n), "buffer_size", 1000000), 1000, 1);
    measure("range shuffle(all), a permutation",
            make("shuffle", make("range", NULL, "stop", n), "buffer_size", n), 1000, 1);
    measure("range repeat shuffle(1000) batch(100)",
            make("batch",
                 make("shuffle", make("repeat", make("range", NULL, "stop", n), "count", 1),
                      "buffer_size", 1000),
                 "batch_size", 100),
            10, 100);
    measure("range enumerate", make("enumerate", make("range", NULL, "stop", n), "start", 0), 1000,
            1);
    spin_ns = 200000;
    double best = 0;
    for (int64_t calls = 1; calls <= 4; calls *= 2) {
        double got = rate(calls, 1, 0.1);
        printf("map of 0.2 ms, %lld workers %32.0f elements/s\n", (long long)calls, got);
        best = got > best ? got : best;
    }
    double tuned = rate(-1, 2.5, 0.5);
    printf("%-46s %9.0f elements/s from 0.5 s on, %.1f %% of the best\n",
           "AUTOTUNE from one worker", tuned, 100 * tuned / best);
    return 0;
}
