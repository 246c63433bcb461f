// SPDX-License-Identifier: Apache-2.0
// AUTOTUNE: workers and room grow and shrink, what the options say about it holds, and the budget
// of memory is no more than said, whatever reads ahead.
#include <unistd.h>

#include "data/ring.h"
#include "data/tuner.h"
#include "data_make.h"

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
    struct stk_err err;
    for (int i = 0; i < 6000 && threads_of(it) != 2; i++) {
        CHECK(stk_iter_next(it, 1, &b, &err) == STK_OK);
    }
    CHECK_EQ(threads_of(it), 2);
    CHECK(__atomic_load_n(&it->stats.predicted_per_ks, __ATOMIC_RELAXED) > 0);
    CHECK(binding_of(it) != STK_BINDING_UNKNOWN);
    for (int i = 0; i < 500 && threads_of(it) != 1; i++) {
        CHECK(stk_iter_next(it, 1, &b, &err) == STK_OK);
        usleep(6000);
    }
    CHECK_EQ(threads_of(it), 1);
    CHECK_EQ(binding_of(it), STK_BINDING_CONSUMER);
    stk_run_cancel(it->run);
    pthread_mutex_lock(&it->run->gate.lock);
    CHECK(it->run->gate.most <= 2);
    pthread_mutex_unlock(&it->run->gate.lock);
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
    struct stk_err err;
    int processors = it->run->options.threads;
    for (int i = 0; i < 1500 && threads_of(it) <= processors; i++) {
        CHECK(stk_iter_next(it, 1, &b, &err) == STK_OK);
    }
    CHECK(threads_of(it) > processors);
    stk_block_free(&b);
    stk_iter_close(it);
}

// What a stage begins with, and that it stays there when told to.
static void beginning(void)
{
    struct stk_block b = {0};
    struct stk_err err;
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
        CHECK(stk_iter_next(it, 1, &b, &err) == STK_OK);
        CHECK_EQ(threads_of(it), rows[i].first);
        for (int k = 0; k < 300 && (k < 100 || threads_of(it) != rows[i].later); k++) {
            CHECK(stk_iter_next(it, 1, &b, &err) == STK_OK); // far less than one worker can make
            usleep(k < 100 ? 500 : 3000);
        }
        CHECK_EQ(threads_of(it), rows[i].later);
        stk_iter_close(it);
    }
    stk_block_free(&b);
}

// x -> a dataset of elements that cost spin_ns each
static struct stk_fn *spinning_fn(void)
{
    static const char *const kinds[] = {"range", "repeat"};
    struct stk_spec x = {.dtype = STK_DT_I64};
    struct stk_fn *fn = NULL;
    struct stk_err err;
    int value = 0, count;
    struct stk_bytes stop = {(const uint8_t *)"stop", 4};
    CHECK(stk_fn_open(&fn, &x, 1, "f", &err) == STK_OK);
    for (int k = 0; k < 2; k++) {
        struct stk_attrs *a = stk_attrs_new();
        CHECK(stk_attrs_set_text(a, "kind", kinds[k], strlen(kinds[k])));
        if (k == 0) {
            CHECK(stk_attrs_set(
                a, &(struct stk_attr){
                       .name = "bound", .kind = STK_ATTR_TEXTS, .count = 1, .texts = &stop}));
        } else {
            CHECK(stk_attrs_set_int(a, "n_in", 1));
        }
        CHECK(stk_fn_add(fn, "make_dataset", &value, 1, a, NULL, &value, &count, &err) == STK_OK);
        stk_attrs_drop(a);
    }
    struct stk_attrs *a = stk_attrs_new();
    struct stk_specs *specs = stk_specs_new(1);
    specs->items[0].dtype = STK_DT_I64;
    struct stk_fn *spins = test_fn(specs, OP_SPIN);
    CHECK(stk_attrs_set_text(a, "kind", "map", 3) && stk_attrs_set_int(a, "n_in", 1));
    CHECK(stk_attrs_set(a, &(struct stk_attr){.name = "fn", .kind = STK_ATTR_FN, .fn = spins}));
    CHECK(stk_fn_add(fn, "make_dataset", &value, 1, a, NULL, &value, &count, &err) == STK_OK);
    stk_attrs_drop(a);
    stk_specs_drop(specs);
    stk_fn_drop(spins);
    CHECK(stk_fn_finish(fn, &value, 1, &err) == STK_OK);
    return fn;
}

// Readers of interleave: as many as the consumer needs, and what they cost is known.
static void interleaving(void)
{
    spin_ns = 100000;
    test_options = (struct stk_run_options){.threads = 2, .initial_parallelism = 1};
    struct stk_iter *it =
        open_iter(with_fn("interleave", make("range", NULL, "start", I(5), "stop", I(9), NULL),
                          spinning_fn(), "cycle_length", I(4), "num_parallel_calls", I(-1), NULL));
    struct stk_block b = {0};
    struct stk_err err;
    for (int i = 0; i < 20000 && threads_of(it) != 2; i++) {
        CHECK(stk_iter_next(it, 1, &b, &err) == STK_OK);
    }
    CHECK_EQ(threads_of(it), 2);
    CHECK(__atomic_load_n(&it->stats.busy_ns, __ATOMIC_RELAXED) > 1000000);
    for (int i = 0; i < 1000 && threads_of(it) != 1; i++) {
        CHECK(stk_iter_next(it, 1, &b, &err) == STK_OK);
        usleep(2000);
    }
    CHECK_EQ(threads_of(it), 1);
    CHECK_EQ(binding_of(it), STK_BINDING_CONSUMER);
    for (int i = 0; i < 20000 && threads_of(it) != 2; i++) {
        CHECK(stk_iter_next(it, 1, &b, &err) == STK_OK);
    }
    CHECK_EQ(threads_of(it), 2); // and again
    stk_block_free(&b);
    stk_iter_close(it);
}

static uint32_t room_of(struct stk_iter *it)
{
    return __atomic_load_n(&it->stats.room, __ATOMIC_RELAXED);
}

// A consumer that takes in bursts finds more room after some of them; one that takes slowly less.
static void room(void)
{
    spin_ns = 2000000;
    test_options = (struct stk_run_options){.threads = 2};
    struct stk_iter *it = open_iter(
        make("prefetch", with_op("map", make("repeat", RANGE(1000), NULL), OP_SPIN, NULL), NULL));
    struct stk_block b = {0};
    struct stk_err err;
    uint32_t first = 0;
    for (int i = 0; i < 40 && (first == 0 || room_of(it) == first); i++) {
        for (int k = 0; k < 24; k++) {
            CHECK(stk_iter_next(it, 1, &b, &err) == STK_OK);
            first = first ? first : room_of(it);
        }
        usleep(60000);
    }
    uint32_t grown = room_of(it);
    CHECK(grown > first && grown <= 64);
    for (int i = 0; i < 800 && room_of(it) >= grown; i++) {
        CHECK(stk_iter_next(it, 1, &b, &err) == STK_OK);
        usleep(25000);
    }
    CHECK(room_of(it) < grown);
    stk_block_free(&b);
    stk_iter_close(it);
}

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
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
                        spinning_fn(), "cycle_length", I(4), "num_parallel_calls", I(-1), NULL),
                OP_SPIN, "num_parallel_calls", I(-1), NULL),
        NULL));
    struct stk_block b = {0};
    struct stk_err err;
    double wall = seconds_of(CLOCK_MONOTONIC), used = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    for (int n = 0; n < 4000; n += (int)b.n) {
        CHECK(stk_iter_next(it, 64, &b, &err) == STK_OK && b.n > 0);
    }
    wall = seconds_of(CLOCK_MONOTONIC) - wall;
    used = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - used;
    CHECK(used > 0.3); // 8000 times 50 us
    CHECK(used < 1.15 * wall);
    stk_block_free(&b);
    stk_iter_close(it);
}

int main(void)
{
    processors();
    tuning();
    sleeping();
    beginning();
    interleaving();
    room();
    return check_done("unit.data_tuner");
}
