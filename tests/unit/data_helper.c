// SPDX-License-Identifier: Apache-2.0
// Large copies of a run are shared with a helper thread: both work at the same time, every part is
// copied once, the CPU time counts. Nobody helps if the run may have only one thread, if it has no
// permits left, with small copies, or with a copy of another thread that already has help.
#include <pthread.h>
#include <unistd.h>

#include "check.h"
#include "engine/memory/split.h"
#include "engine/run/run_open.h"

enum { COUNT = 64, LARGE = 32 << 20 };

struct work {
    pthread_t caller;
    int made[COUNT]; // how often; atomic
    int other;       // parts that another thread made; atomic
    int64_t most;    // units of a part
    bool waits;      // the caller's first part waits until there is one of another thread
    struct stk_pool *pool;
    bool asks_again;    // from inside of a part
    int whole, divided; // what was asked for there: made as one part by who asked, or not; atomic
};

static void part(void *arg, int64_t first, int64_t n)
{
    struct work *w = arg;
    bool is_caller = pthread_equal(pthread_self(), w->caller);
    for (int64_t i = first; i < first + n; i++) {
        __atomic_add_fetch(&w->made[i], 1, __ATOMIC_RELAXED);
    }
    if (is_caller) {
        w->most = n > w->most ? n : w->most;
    } else {
        __atomic_add_fetch(&w->other, 1, __ATOMIC_RELAXED);
    }
    if (w->asks_again) {
        struct work inner = {.caller = pthread_self()};
        stk_split_run(w->pool, LARGE, COUNT, part, &inner);
        // Parts are made on other threads, too, which may not count checks.
        bool is_whole = inner.other == 0 && inner.most == COUNT;
        __atomic_add_fetch(is_whole ? &w->whole : &w->divided, 1, __ATOMIC_RELAXED);
    }
    for (int tries = 0; is_caller && w->waits && tries < 20000; tries++) {
        if (__atomic_load_n(&w->other, __ATOMIC_RELAXED)) {
            break;
        }
        usleep(1000);
    }
}

static struct stk_run *run_of(int threads)
{
    struct stk_run_options options = {.threads = threads};
    struct stk_run *run;
    struct stoker_err err;
    CHECK_EQ(stk_run_open(&run, &options, &err), STOKER_OK);
    return run;
}

static void split(struct stk_run *run, size_t bytes, struct work *w)
{
    w->caller = pthread_self();
    w->pool = run->pool;
    stk_split_run(run->pool, bytes, COUNT, part, w);
    for (int i = 0; i < COUNT; i++) {
        CHECK_EQ(w->made[i], 1);
    }
}

static void two_threads_work_at_once(void)
{
    struct stk_run *run = run_of(2);
    for (int i = 0; i < 50; i++) {
        struct work w = {.waits = true};
        split(run, LARGE, &w);
        CHECK(w.other > 0);
        CHECK(w.most <= 1); // 0: the helper was first everywhere
    }
    for (int i = 0; i < 2000; i++) { // the helper may come too late
        struct work w = {0};
        split(run, LARGE, &w);
    }
    stk_run_drop(run);
}

static void nobody_helps(void)
{
    struct stk_run *run = run_of(1);
    struct work one = {0}, small = {0}, busy = {0}, inner = {.asks_again = true};
    split(run, LARGE, &one);
    CHECK_EQ(one.most, COUNT);
    stk_run_drop(run);
    run = run_of(2);
    split(run, 1 << 20, &small);
    CHECK_EQ(small.most, COUNT);
    bool is_lent = stk_permits_lend(&run->permits, 2);
    CHECK(is_lent);
    CHECK(!stk_permits_lend(&run->permits, 2));
    split(run, LARGE, &busy);
    CHECK_EQ(busy.most, COUNT);
    stk_permits_give_back(&run->permits);
    split(run, LARGE, &inner);
    CHECK(inner.whole > 0);
    CHECK_EQ(inner.divided, 0);
    CHECK_EQ(run->permits.taken, 0);
    stk_run_drop(run);
}

static void copies(void)
{
    struct stk_run *run = run_of(2);
    const size_t n = ((size_t)20 << 20) + 12345;
    struct stk_buf *from = stk_buf_get(run->pool, n), *to = stk_buf_get(run->pool, n + 1);
    CHECK(from && to);
    for (size_t i = 0; from && i < n; i++) {
        from->data[i] = (uint8_t)((i * 2654435761u) >> 13);
    }
    for (size_t size = n - 3; from && to && size <= n; size++) {
        memset(to->data, 0, n + 1);
        stk_split_copy(run->pool, to->data + n - size, from->data, size);
        CHECK(memcmp(to->data + n - size, from->data, size) == 0);
        CHECK_EQ(to->data[n], 0);
    }
    stk_buf_drop(from);
    stk_buf_drop(to);
    stk_run_drop(run);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(two_threads_work_at_once);
    CHECK_RUN(nobody_helps);
    CHECK_RUN(copies);
    return check_done("unit.data_helper");
}
