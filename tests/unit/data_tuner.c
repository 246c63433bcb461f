// SPDX-License-Identifier: Apache-2.0
// AUTOTUNE: workers and capacity grow and shrink, the options are obeyed, and prefetching never
// exceeds the memory budget.
#include <unistd.h>

#include "base/clock.h"
#include "engine/run/ring.h"
#include "engine/run/tuner.h"
#include "data_make.h"
#include "data_spin.h"

static int threads_of(struct stk_iter *it)
{
    return (int)__atomic_load_n(&it->stats.threads, __ATOMIC_RELAXED);
}

static int binding_of(struct stk_iter *it)
{
    return (int)__atomic_load_n(&it->stats.binding, __ATOMIC_RELAXED);
}

// From one worker on: grows while the consumer waits, shrinks when it does not take as much.
static void tuning(void)
{
    spin_ns = 300000;
    test_options = (struct stk_run_options){.threads = 2, .initial_parallelism = 1};
    struct stk_iter *it = open_iter(with_op("map", make("repeat", RANGE(1000), NULL), OP_SPIN,
                                            "num_parallel_calls", I(-1), NULL));
    struct stk_block b = {0};
    struct stoker_err err;
    for (int i = 0; i < 6000 && threads_of(it) != 2; i++) {
        CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_OK);
    }
    CHECK_EQ(threads_of(it), 2);
    for (int i = 0; i < 500 && threads_of(it) != 1; i++) {
        CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_OK);
        usleep(6000);
    }
    CHECK_EQ(threads_of(it), 1);
    CHECK_EQ(binding_of(it), STK_BINDING_CONSUMER);
    stk_run_cancel(it->run);
    pthread_mutex_lock(&it->run->permits.lock);
    CHECK(it->run->permits.most <= 2);
    pthread_mutex_unlock(&it->run->permits.lock);
    stk_block_free(&b);
    stk_iter_close(it);
}

// Functions that sleep: with AUTOTUNE more of them run than there are processors.
static void sleeping(void)
{
    test_options = (struct stk_run_options){0};
    struct stk_iter *it = open_iter(with_op("map", make("repeat", RANGE(1000), NULL), OP_SLEEP,
                                            "num_parallel_calls", I(-1), NULL));
    struct stk_block b = {0};
    struct stoker_err err;
    int processors = it->run->options.threads;
    for (int i = 0; i < 1500 && threads_of(it) <= processors; i++) {
        CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_OK);
    }
    CHECK(threads_of(it) > processors);
    stk_block_free(&b);
    stk_iter_close(it);
}

// What a stage begins with, and that it stays there when told to.
static void beginning(void)
{
    struct stk_block b = {0};
    struct stoker_err err;
    static const struct {
        struct stk_run_options options;
        int first, later;
    } rows[] = {{{.threads = 3, .is_untuned = true}, 3, 3},
                {{.threads = 3, .initial_parallelism = 1, .is_untuned = true}, 1, 1},
                {{.threads = 3, .initial_parallelism = 9, .is_untuned = true}, 3, 3},
                {{.threads = 3, .min_parallelism = 2}, 3, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        test_options = rows[i].options;
        spin_ns = 20000;
        struct stk_iter *it = open_iter(with_op("map", make("repeat", RANGE(1000), NULL), OP_SPIN,
                                                "num_parallel_calls", I(-1), NULL));
        CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_OK);
        CHECK_EQ(threads_of(it), rows[i].first);
        for (int k = 0; k < 300 && (k < 100 || threads_of(it) != rows[i].later); k++) {
            CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_OK); // far less than one worker can make
            usleep(k < 100 ? 500 : 3000);
        }
        CHECK_EQ(threads_of(it), rows[i].later);
        stk_iter_close(it);
    }
    stk_block_free(&b);
}

// Readers of interleave: as many as the consumer needs, and what they cost is known.
static void interleaving(void)
{
    spin_ns = 100000;
    test_options = (struct stk_run_options){.threads = 2, .initial_parallelism = 1};
    struct stk_iter *it =
        open_iter(with_fn("interleave", make("range", NULL, "start", I(5), "stop", I(9), NULL),
                          spinning_fn(0), "cycle_length", I(4), "num_parallel_calls", I(-1), NULL));
    struct stk_block b = {0};
    struct stoker_err err;
    for (int i = 0; i < 20000 && threads_of(it) != 2; i++) {
        CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_OK);
    }
    CHECK_EQ(threads_of(it), 2);
    CHECK(it->in[1] && __atomic_load_n(&it->in[1]->stats.busy_ns, __ATOMIC_RELAXED) > 1000000);
    for (int i = 0; i < 1000 && threads_of(it) != 1; i++) {
        CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_OK);
        usleep(2000);
    }
    CHECK_EQ(threads_of(it), 1);
    CHECK_EQ(binding_of(it), STK_BINDING_CONSUMER);
    for (int i = 0; i < 20000 && threads_of(it) != 2; i++) {
        CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_OK);
    }
    CHECK_EQ(threads_of(it), 2); // and again
    stk_block_free(&b);
    stk_iter_close(it);
}

static uint32_t capacity_of(struct stk_iter *it)
{
    return __atomic_load_n(&it->stats.capacity, __ATOMIC_RELAXED);
}

// A consumer that takes in bursts finds more room after some of them; one that takes slowly less.
static void capacity(void)
{
    spin_ns = 2000000;
    test_options = (struct stk_run_options){.threads = 2};
    struct stk_iter *it = open_iter(
        make("prefetch", with_op("map", make("repeat", RANGE(1000), NULL), OP_SPIN, NULL), NULL));
    struct stk_block b = {0};
    struct stoker_err err;
    uint32_t first = 0;
    for (int i = 0; i < 40 && (first == 0 || capacity_of(it) == first); i++) {
        for (int k = 0; k < 24; k++) {
            CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_OK);
            first = first ? first : capacity_of(it);
        }
        usleep(60000);
    }
    uint32_t grown = capacity_of(it);
    CHECK(grown > first && grown <= 64);
    for (int i = 0; i < 800 && capacity_of(it) >= grown; i++) {
        CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_OK);
        usleep(25000);
    }
    CHECK(capacity_of(it) < grown);
    stk_block_free(&b);
    stk_iter_close(it);
}

// Waiting for the first element is no reason for more room, however full the ring was when it came
// to be looked at: a consumer that is slower than what it takes from needs no more.
static void capacity_at_first(void)
{
    spin_ns = 300000;
    test_options = (struct stk_run_options){.threads = 2};
    bool has_stayed = false;
    for (int tries = 0; tries < 5 && !has_stayed; tries++) { // others' work may hold the ring up
        struct stk_iter *it = open_iter(make(
            "prefetch", with_op("map", make("repeat", RANGE(1000), NULL), OP_SPIN, NULL), NULL));
        struct stk_block b = {0};
        struct stoker_err err;
        CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_OK);
        uint32_t first = capacity_of(it);
        usleep(50000);
        for (int i = 0; i < 50; i++) {
            CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_OK);
            usleep(6000);
        }
        has_stayed = capacity_of(it) == first;
        stk_block_free(&b);
        stk_iter_close(it);
    }
    CHECK(has_stayed);
}

// With one processor allowed, stages with threads together use no more, while the consumer waits.
static void processors(void)
{
    spin_ns = 50000;
    test_options = (struct stk_run_options){.threads = 1};
    struct stk_iter *it = open_iter(make(
        "prefetch",
        with_op("map",
                with_fn("interleave", make("range", NULL, "start", I(5), "stop", I(9), NULL),
                        spinning_fn(0), "cycle_length", I(4), "num_parallel_calls", I(-1), NULL),
                OP_SPIN, "num_parallel_calls", I(-1), NULL),
        NULL));
    struct stk_block b = {0};
    struct stoker_err err;
    double wall = stk_clock_seconds(CLOCK_MONOTONIC),
           used = stk_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (int n = 0; n < 4000; n += (int)b.n) {
        CHECK(stk_iter_next(it, 64, &b, &err) == STOKER_OK && b.n > 0);
    }
    wall = stk_clock_seconds(CLOCK_MONOTONIC) - wall;
    used = stk_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - used;
    CHECK(used > 0.3); // 8000 times 50 us
    CHECK(used < 1.15 * wall);
    stk_block_free(&b);
    stk_iter_close(it);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(processors);
    CHECK_RUN(tuning);
    CHECK_RUN(sleeping);
    beginning();
    CHECK_RUN(interleaving);
    CHECK_RUN(capacity);
    CHECK_RUN(capacity_at_first);
    return check_done("unit.data_tuner");
}
