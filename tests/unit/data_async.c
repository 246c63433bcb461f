// SPDX-License-Identifier: Apache-2.0
// Stages with threads: parallel maps, prefetch, canceling, caps.
#include <sys/wait.h>
#include <unistd.h>

#include "engine/run/account.h"
#include "data_make.h"

#define PMAP(in, op, calls) with_op("map", in, op, "num_parallel_calls", I(calls), NULL)
#define PREFETCH(in, size) make("prefetch", in, "buffer_size", I(size), NULL)
#define BATCH(in, size) make("batch", in, "batch_size", I(size), NULL)

static void results(void)
{
    EXPECT(PMAP(RANGE(6), OP_PLUS_ONE, 3), "1 2 3 4 5 6");
    EXPECT(PMAP(RANGE(0), OP_PLUS_ONE, -1), "");
    EXPECT(PMAP(RANGE(9), OP_FAIL_7, 2), "0 1 2 3 4 5 6 ! 8");
    EXPECT(PMAP(make("range", NULL, "start", I(7), "stop", I(9), NULL), OP_FAIL_7, 2), "! 8");
    EXPECT(BATCH(PMAP(RANGE(7), OP_PLUS_ONE, 2), 3), "[1 2 3] [4 5 6] [7]");
    EXPECT(BATCH(PMAP(RANGE(10), OP_FAIL_7, 2), 3), "[0 1 2] [3 4 5] ! [8 9]");
    EXPECT(PREFETCH(RANGE(5), 2), "0 1 2 3 4");
    EXPECT(PREFETCH(RANGE(5), 0), "0 1 2 3 4");
    EXPECT(PREFETCH(RANGE(5), -1), "0 1 2 3 4");
    EXPECT(
        PREFETCH(BATCH(PMAP(PREFETCH(PMAP(RANGE(7), OP_PLUS_ONE, 2), 3), OP_PLUS_ONE, -1), 2), 2),
        "[2 3] [4 5] [6 7] [8]");
    EXPECT(make("repeat", PREFETCH(PMAP(RANGE(3), OP_PLUS_ONE, 2), 1), "count", I(2), NULL),
           "1 2 3 1 2 3");
    EXPECT(PREFETCH(with_op("map", RANGE(9), OP_FAIL_7, NULL), 3), "0 1 2 3 4 5 6 ! 8");
}

#define SLOPPY(ds, calls)                                                                          \
    with_op("map", ds, OP_PLUS_ONE, "num_parallel_calls", I(calls), "deterministic", I(0), NULL)

// Sum and order of a long pipeline.
static void long_run(struct stk_dataset *ds, int64_t want, int64_t n, int64_t first, bool ordered)
{
    struct stk_iter *it = open_iter(ds);
    struct stk_block b = {0};
    struct stoker_err err;
    int64_t at = 0, sum = 0, disorder = 0;
    for (;;) {
        CHECK(stk_iter_next(it, want, &b, &err) == STOKER_OK);
        if (b.n == 0) {
            break;
        }
        for (int64_t i = 0; i < b.n; i++) {
            struct stk_shape shape = stk_col_shape(&b.cols[0], i);
            const int64_t *v = stk_col_at(&b.cols[0], i);
            for (int64_t k = 0; k < stk_shape_count(&shape); k++) {
                disorder += v[k] != first + at;
                sum += v[k];
                at++;
            }
        }
    }
    CHECK_EQ(at, n);
    CHECK_EQ(sum, n * (n - 1) / 2 + n * first);
    CHECK(disorder == 0 || !ordered);
    pthread_mutex_lock(&it->run->permits.lock);
    CHECK(it->run->permits.most <= it->run->permits.permits);
    pthread_mutex_unlock(&it->run->permits.lock);
    stk_block_free(&b);
    stk_iter_close(it);
}

static void long_repeat(struct stk_dataset *ds, int64_t n)
{
    struct stk_iter *it = open_iter(ds);
    struct stk_block b = {0};
    struct stoker_err err;
    int64_t got = 0;
    do {
        CHECK(stk_iter_next(it, 7, &b, &err) == STOKER_OK);
        got += b.n;
    } while (b.n > 0);
    CHECK_EQ(got, n);
    stk_block_free(&b);
    stk_iter_close(it);
}

static void long_runs(void)
{
    long_run(BATCH(PMAP(RANGE(300000), OP_PLUS_ONE, 3), 100), 10, 300000, 1, true);
    long_run(BATCH(PMAP(RANGE(100001), OP_PLUS_ONE, -1), 7), 1000, 100001, 1, true);
    long_run(PMAP(PMAP(RANGE(50000), OP_PLUS_ONE, 2), OP_PLUS_ONE, 4), 333, 50000, 2, true);
    long_run(PREFETCH(BATCH(PMAP(RANGE(100000), OP_PLUS_ONE, 2), 32), 2), 1, 100000, 1, true);
    long_run(SLOPPY(RANGE(50000), 3), 100, 50000, 1, false);
    long_run(BATCH(SLOPPY(RANGE(100001), 3), 7), 1000, 100001, 1, false);
    long_run(BATCH(SLOPPY(RANGE(100001), -1), 100), 1, 100001, 1, false);
}

// A batch after a parallel map is the buffer that the workers wrote: once the pool has what it
// needs, nothing is created or allocated.
static void steady_state(struct stk_dataset *ds)
{
    struct stk_iter *it = open_iter(ds);
    struct stk_block b = {0};
    struct stoker_err err;
    uint64_t grown = 1;
    for (int window = 0; window < 15 && grown; window++) {
        uint64_t fresh = stk_pool_stats_of(it->run->pool).fresh, allocations = stk_alloc_count();
        for (int i = 0; i < 2000; i++) {
            CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_OK && b.n == 1);
        }
        grown = stk_pool_stats_of(it->run->pool).fresh - fresh + stk_alloc_count() - allocations;
    }
    CHECK_EQ(grown, 0);
    stk_block_free(&b);
    stk_iter_close(it);
}

static void cancelling(struct stk_dataset *ds, int after_us)
{
    struct stk_iter *it = open_iter(ds);
    struct stk_block b = {0};
    struct stoker_err err;
    for (int i = 0; i < after_us / 100; i++) {
        CHECK(stk_iter_next(it, 5, &b, &err) == STOKER_OK);
    }
    usleep((useconds_t)after_us);
    stk_run_cancel(it->run);
    CHECK(stk_iter_next(it, 5, &b, &err) == STOKER_EINTR);
    stk_block_free(&b);
    stk_iter_close(it);
}

// Stages that are closed early, by a thread that has the only permit, again and again.
static void closing_early(void)
{
    test_options.threads = 1;
    struct stk_dataset *ds =
        make("take", PMAP(make("repeat", RANGE(50), NULL), OP_PLUS_ONE, 3), "count", I(20), NULL);
    long_repeat(PREFETCH(make("repeat", ds, "count", I(200), NULL), 4), 4000);
    test_options.threads = 0;
}

// A worker of one run whose function pulls from another: it lends its own run's permit meanwhile,
// and none of the other's, which it has not.
static void permits_of_another(void)
{
    static const int is_never_off;
    struct stk_permits own = {0};
    stk_permits_open(&own, 1, &is_never_off);
    struct stk_iter *other = open_iter(PREFETCH(PMAP(RANGE(9), OP_PLUS_ONE, 2), 2));
    stk_permit_take(&own);
    struct stk_wait w = stk_wait_begin();
    CHECK_EQ(own.taken, 0);
    stk_wait_end(w, NULL);
    CHECK_EQ(own.taken, 1);
    struct stk_block b = {0};
    struct stoker_err err;
    int64_t n = 0;
    do {
        CHECK(stk_iter_next(other, 2, &b, &err) == STOKER_OK);
        n += b.n;
    } while (b.n > 0);
    CHECK_EQ(n, 9);
    CHECK_EQ(own.taken, 1);
    stk_block_free(&b);
    stk_iter_close(other);
    CHECK_EQ(own.taken, 1);
    CHECK(stk_permit_return() == &own && !stk_permit_return());
    CHECK_EQ(own.taken, 0);
    stk_permits_close(&own);
}

// A consumer that takes some and pauses: whoever sleeps and however it wakes up, more is made ahead
// in every pause.
static void pausing(int64_t burst, int pause_us)
{
    struct stk_iter *it = open_iter(PREFETCH(RANGE(1000000), 10));
    struct stk_block b = {0};
    struct stoker_err err;
    int64_t at = 0, disorder = 0;
    int late = 0;
    for (int round = 0; round < 40; round++) {
        for (int64_t end = at + burst; at < end; at++) {
            CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_OK && b.n == 1);
            disorder += *(const int64_t *)stk_col_at(&b.cols[0], 0) != at;
        }
        usleep((useconds_t)pause_us);
        int64_t made = 0;
        for (int i = 0; i < 5000 && made <= at; i++) {
            made = (int64_t)__atomic_load_n(&it->in[0]->stats.elements, __ATOMIC_RELAXED);
            if (made <= at) {
                usleep(1000);
            }
        }
        late += made <= at;
    }
    CHECK_EQ(disorder, 0);
    CHECK_EQ(late, 0);
    stk_block_free(&b);
    stk_iter_close(it);
}

// Elements that take longer than a piece should, of an operation that is faster on two.
static void keeping_together(void)
{
    alone = 0;
    long_run(BATCH(PMAP(RANGE(40), OP_PAIRS, 2), 10), 3, 40, 0, true);
    long_run(PMAP(RANGE(40), OP_PAIRS, -1), 40, 40, 0, true);
    CHECK_EQ(alone, 0);
}

static void forking(void)
{
    struct stk_iter *it = open_iter(PREFETCH(PMAP(RANGE(1000), OP_PLUS_ONE, 2), 2));
    struct stk_block b = {0};
    struct stoker_err err;
    CHECK(stk_iter_next(it, 5, &b, &err) == STOKER_OK);
    pid_t child = fork();
    if (child == 0) {
        bool says_so =
            stk_iter_next(it, 5, &b, &err) == STOKER_EUSAGE && strstr(err.message, "fork") != NULL;
        stk_iter_close(it);
        _exit(says_so ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
    CHECK(stk_iter_next(it, 5, &b, &err) == STOKER_OK);
    stk_block_free(&b);
    stk_iter_close(it);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(results);
    CHECK_RUN(long_runs);
    CHECK_RUN(steady_state, BATCH(PMAP(RANGE(4000000), OP_PLUS_ONE, 2), 64));
    CHECK_RUN(steady_state, BATCH(SLOPPY(RANGE(4000000), 2), 64));
    CHECK_RUN(steady_state,
              BATCH(make("shuffle", RANGE(4000000), "buffer_size", I(1000), NULL), 64));
    CHECK_RUN(steady_state,
              PREFETCH(BATCH(with_op("map", RANGE(4000000), OP_PLUS_ONE, NULL), 64), 2));
    for (int i = 0; i < 20; i++) {
        CHECK_RUN(cancelling,
                  PREFETCH(BATCH(PMAP(PMAP(make("repeat", RANGE(1000), NULL), OP_PLUS_ONE, 2),
                                      OP_PLUS_ONE, 3),
                                 4),
                           2),
                  i * 300);
    }
    CHECK_RUN(closing_early);
    CHECK_RUN(permits_of_another);
    CHECK_RUN(pausing, 8, 2000);
    CHECK_RUN(pausing, 1, 300);
    CHECK_RUN(pausing, 25, 4000);
    CHECK_RUN(pausing, 8, 25000);
    CHECK_RUN(keeping_together);
    CHECK_RUN(forking);
    return check_done("unit.data_async");
}
