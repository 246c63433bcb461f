// SPDX-License-Identifier: Apache-2.0
// AUTOTUNE's rates: none for a run too short to judge, otherwise correct; it follows a step change
// in the elements' cost; sampling costs next to nothing. Bounds are generous, since other programs
// may use most of the CPU cores; the measured values are printed. For the same reason one of
// several tries must be within them.
#include <unistd.h>

#include "base/clock.h"
#include "engine/run/aggregate.h"
#include "engine/run/tuner.h"
#include "data_make.h"
#include "data_spin.h"

#define TRIES 5

static uint64_t told(const uint64_t *per_ks)
{
    return __atomic_load_n(per_ks, __ATOMIC_RELAXED);
}

static struct stk_iter *spinning(int threads, int64_t cost_ns)
{
    spin_ns = cost_ns;
    test_options = (struct stk_run_options){.threads = threads, .initial_parallelism = 1};
    return open_iter(with_op("map", make("repeat", RANGE(1000), NULL), OP_SPIN,
                             "num_parallel_calls", I(-1), NULL));
}

// Takes elements, `pause_us` after each, for some time. Returns their rate.
static double take_for(struct stk_iter *it, double seconds, useconds_t pause_us)
{
    struct stk_block b = {0};
    struct stoker_err err;
    double start = stk_clock_seconds(CLOCK_MONOTONIC), passed = 0;
    int n = 0;
    for (; passed < seconds; passed = stk_clock_seconds(CLOCK_MONOTONIC) - start) {
        CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_OK && b.n == 1);
        n++;
        if (pause_us) {
            usleep(pause_us);
        }
    }
    stk_block_free(&b);
    return n / passed;
}

// A run of 30 ms says nothing; later what was achieved is about what was counted, and the
// prediction is what a processor can do.
static bool rates(void)
{
    struct stk_iter *it = spinning(1, 300000);
    take_for(it, 0.03, 0);
    bool is_silent = told(&it->stats.predicted_per_ks) == 0 &&
                     told(&it->stats.achieved_per_ks) == 0 &&
                     it->stats.binding == STK_BINDING_UNKNOWN;
    double rate = take_for(it, 1, 0);
    double achieved = (double)told(&it->stats.achieved_per_ks) / 1e3;
    double predicted = (double)told(&it->stats.predicted_per_ks) / 1e3;
    printf("one processor: %.0f elements/s, told %.0f, predicted %.0f\n", rate, achieved,
           predicted);
    stk_iter_close(it);
    return is_silent && achieved > rate / 3 && achieved < 3 * rate && predicted > 200 &&
           predicted < 4000; // 3333, less what other programs take
}

// A consumer that takes less than could be made is the limit, and is what is predicted.
static bool consumer(void)
{
    struct stk_iter *it = spinning(2, 100000);
    double rate = take_for(it, 1, 4000);
    double predicted = (double)told(&it->stats.predicted_per_ks) / 1e3;
    printf("slow consumer: %.0f elements/s, predicted %.0f\n", rate, predicted);
    bool is_limit = it->stats.binding == STK_BINDING_CONSUMER;
    stk_iter_close(it);
    return is_limit && predicted > rate / 2 && predicted < 2 * rate;
}

static int threads_of(const struct stk_iter *it)
{
    return (int)__atomic_load_n(&it->stats.threads, __ATOMIC_RELAXED);
}

// Elements that cost twice as much need two workers where one did: when they are there.
static void step(void)
{
    struct stk_iter *it = spinning(2, 2800000);
    for (int i = 0; i < 60 && (i < 10 || threads_of(it) != 1); i++) {
        take_for(it, 0.1, 4000);
    }
    if (threads_of(it) != 1) {
        check_skip("other programs take so much of the processors that one worker is not enough");
        stk_iter_close(it);
        return;
    }
    double start = stk_clock_seconds(CLOCK_MONOTONIC);
    spin_ns *= 2;
    for (int i = 0; i < 2000 && threads_of(it) != 2; i++) {
        take_for(it, 0.001, 4000);
    }
    printf("twice the cost: two workers after %.2f s\n",
           stk_clock_seconds(CLOCK_MONOTONIC) - start);
    CHECK_EQ(threads_of(it), 2);
    stk_iter_close(it);
}

// What looking costs, of a pipeline with 24 stages, 12 of them with threads, if it is looked at ten
// times a second, and asked about it for every piece.
static bool own_cost(void)
{
    test_options = (struct stk_run_options){.threads = 2};
    struct stk_dataset *ds = make("repeat", RANGE(1000), NULL);
    for (int i = 0; i < 12; i++) {
        ds = make("prefetch", with_op("map", ds, OP_PLUS_ONE, NULL), NULL);
    }
    struct stk_iter *it = open_iter(ds);
    double looks = 0, asks = 0;
    for (int i = 0; i < 8; i++) {
        take_for(it, 0.01, 0);
        usleep(110000); // time for a look; until then the workers have filled the rings
        double start = stk_clock_seconds(CLOCK_THREAD_CPUTIME_ID);
        stk_tuner_look(it->run);
        double looked = stk_clock_seconds(CLOCK_THREAD_CPUTIME_ID);
        for (int k = 0; k < 1000; k++) {
            stk_tuner_look(it->run);
        }
        looks += looked - start;
        asks += stk_clock_seconds(CLOCK_THREAD_CPUTIME_ID) - looked;
    }
    double each_s = looks / 8, ask_s = asks / 8000;
    printf("a look takes %.1f us, asking %.0f ns\n", each_s * 1e6, ask_s * 1e9);
    stk_iter_close(it);
    return each_s / 0.1 < 0.005 && ask_s / 150e-6 < 0.005;
}

static bool holds_once(bool (*measure)(void))
{
    for (int i = 0; i < TRIES; i++) {
        if (measure()) {
            return true;
        }
        printf("tried again: a rate of %s did not hold\n", check_now);
    }
    return false;
}

static void test_rates(void)
{
    CHECK(holds_once(rates));
}

static void test_consumer(void)
{
    CHECK(holds_once(consumer));
}

static void test_own_cost(void)
{
    CHECK(holds_once(own_cost));
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_rates);
    CHECK_RUN(test_consumer);
    CHECK_RUN(step);
    CHECK_RUN(test_own_cost);
    return check_done("unit.data_tuner_rates");
}
