// SPDX-License-Identifier: Apache-2.0
// Stages that work on the thread that calls them: when a trial decides that and when it ends, and
// that the elements are the same whoever makes them, however often that changes.
#include <unistd.h>

#include "engine/run/inline_trial.h"
#include "engine/run/tuner.h"
#include "data_make.h"
#include "data_spin.h"

#define PMAP(in, op) with_op("map", in, op, "num_parallel_calls", I(-1), NULL)
#define SLOPPY(in, op)                                                                             \
    with_op("map", in, op, "num_parallel_calls", I(-1), "deterministic", I(0), NULL)
#define PREFETCH(in) make("prefetch", in, NULL)
#define BATCH(in, size) make("batch", in, "batch_size", I(size), NULL)

// Trials

static const struct stk_trial_look busy = {
    .ns = 1e7, .elements = 1000, .away = 0, .cores = 1.2, .is_allowed = true};

// Looks until the mode is another, `most` at most; how many there were.
static int looks_until(struct stk_trial *t, const struct stk_trial_look *look,
                       enum stk_trial_mode mode, int most)
{
    int n = 0;
    while (t->mode != mode && n < most) {
        bool is_inline = stk_trial_step(t, look);
        CHECK(is_inline == (t->mode != STK_TRIAL_THREADS));
        n++;
    }
    return n;
}

static struct stk_trial_look with_elements(double n)
{
    struct stk_trial_look look = busy;
    look.elements = n;
    return look;
}

static struct stk_trial inline_after_a_trial(void)
{
    struct stk_trial t = {0};
    struct stk_trial_look faster = with_elements(1200);
    CHECK_EQ(looks_until(&t, &busy, STK_TRIAL_TRYING, 10), 3);
    CHECK_EQ(looks_until(&t, &faster, STK_TRIAL_INLINE, 10), 3);
    return t;
}

// As fast, and for fewer processors: won, too.
static void trial_won_by_processors(void)
{
    struct stk_trial t = {0};
    struct stk_trial_look thrifty = busy;
    thrifty.cores = 0.95;
    CHECK_EQ(looks_until(&t, &busy, STK_TRIAL_TRYING, 10), 3);
    CHECK_EQ(looks_until(&t, &thrifty, STK_TRIAL_INLINE, 10), 3);
}

static void trial_won(void)
{
    struct stk_trial t = inline_after_a_trial();
    struct stk_trial_look faster = with_elements(1200);
    CHECK_EQ(looks_until(&t, &faster, STK_TRIAL_THREADS, 1000), 100); // to measure them again
    CHECK_EQ(looks_until(&t, &busy, STK_TRIAL_TRYING, 10), 3);
}

// Each trial in a row that fails doubles the wait for the next one.
static void trials_lost(void)
{
    struct stk_trial t = {0};
    int before = looks_until(&t, &busy, STK_TRIAL_TRYING, 10);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(looks_until(&t, &busy, STK_TRIAL_THREADS, 10), 3); // no gain
        int now = looks_until(&t, &busy, STK_TRIAL_TRYING, 1000);
        CHECK(i == 0 ? now > 2 * before : now >= 2 * before - 1);
        before = now;
    }
}

// A consumer with work of its own, and processors that threads keep busy, are not tried on.
static void trial_not_begun(void)
{
    struct stk_trial_look elsewhere = busy, two = busy, refused = busy;
    elsewhere.away = 0.3;
    two.cores = 1.95;
    refused.is_allowed = false;
    const struct stk_trial_look *const looks[] = {&elsewhere, &two, &refused};
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        struct stk_trial t = {0};
        CHECK_EQ(looks_until(&t, looks[i], STK_TRIAL_TRYING, 200), 200);
    }
}

// Inline ends at the next look where threads would run beside the consumer or wait in its place,
// and soon where it is slower than threads were.
static void trial_ended(void)
{
    struct stk_trial_look elsewhere = busy, waiting = busy, refused = busy,
                          slower = with_elements(900);
    elsewhere.away = 0.5;
    waiting.cores = 0.2;
    refused.is_allowed = false;
    const struct stk_trial_look *const looks[] = {&elsewhere, &waiting, &refused};
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        struct stk_trial t = inline_after_a_trial();
        CHECK_EQ(looks_until(&t, looks[i], STK_TRIAL_THREADS, 10), 1);
    }
    struct stk_trial t = inline_after_a_trial();
    CHECK_EQ(looks_until(&t, &slower, STK_TRIAL_THREADS, 100), 8);
}

// Elements

struct flips { // a thread that has the stages go back and forth
    pthread_t thread;
    struct stk_run *run;
    int is_over; // atomic
    int64_t count;
};

static void *flip(void *arg)
{
    struct flips *f = arg;
    for (unsigned random = 1; !__atomic_load_n(&f->is_over, __ATOMIC_ACQUIRE); f->count++) {
        stk_tuner_be_inline(f->run, f->count % 2 == 0);
        random = random * 1103515245u + 12345u;
        if (random >> 24 & 1) {
            usleep(random >> 25);
        }
    }
    return NULL;
}

static void flips_begin(struct flips *f, struct stk_iter *it)
{
    *f = (struct flips){.run = it->run};
    CHECK(pthread_create(&f->thread, NULL, flip, f) == 0);
}

static void flips_end(struct flips *f)
{
    __atomic_store_n(&f->is_over, 1, __ATOMIC_RELEASE);
    pthread_join(f->thread, NULL);
}

struct seen {
    int64_t n, sum, disorder, errors;
};

static void see(struct seen *s, const struct stk_block *b)
{
    for (int64_t i = 0; i < b->n; i++) {
        struct stk_shape shape = stk_col_shape(&b->cols[0], i);
        const int64_t *v = stk_col_at(&b->cols[0], i);
        for (int64_t k = 0; k < stk_shape_count(&shape); k++) {
            s->disorder += v[k] != s->n;
            s->sum += v[k];
            s->n++;
        }
    }
}

// All elements, or `most` blocks of them, while the stages go back and forth.
static struct seen run_flipping(struct stk_dataset *ds, int64_t want, int64_t most)
{
    struct stk_iter *it = open_iter(ds);
    struct stk_block b = {0};
    struct stoker_err err;
    struct seen s = {0};
    struct flips f;
    flips_begin(&f, it);
    for (int64_t i = 0; i < most; i++) {
        stk_err_init(&err);
        if (stk_iter_next(it, want, &b, &err) != STOKER_OK) {
            s.errors++;
            continue;
        }
        if (b.n == 0) {
            break;
        }
        see(&s, &b);
    }
    stk_block_free(&b);
    flips_end(&f);
    stk_iter_close(it);
    return s;
}

#define N 60000

static void flipping(void)
{
    static const int64_t wants[] = {1, 7, 1000};
    for (size_t i = 0; i < sizeof wants / sizeof wants[0]; i++) {
        struct stk_dataset *const rows[] = {
            PREFETCH(RANGE(N)),
            PREFETCH(PMAP(PMAP(RANGE(N), OP_PLUS_ONE), OP_PLUS_ONE)),
            PREFETCH(BATCH(PMAP(RANGE(N), OP_PLUS_ONE), 8)),
            PREFETCH(BATCH(SLOPPY(RANGE(N), OP_PLUS_ONE), 8)),
            SLOPPY(PREFETCH(RANGE(N)), OP_PLUS_ONE),
            PREFETCH(with_op("map", PMAP(RANGE(N), OP_PLUS_ONE), OP_PLUS_ONE, "num_parallel_calls",
                             I(2), NULL)), // of which the user gave the number
        };
        static const struct {
            int plus;
            bool is_ordered;
        } want[] = {{0, true}, {2, true}, {1, true}, {1, false}, {1, false}, {2, true}};
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
            struct seen s = run_flipping(rows[k], wants[i], INT64_MAX);
            CHECK_EQ(s.n, N);
            CHECK_EQ(s.sum, (int64_t)N * (N - 1) / 2 + (int64_t)N * want[k].plus);
            CHECK(!want[k].is_ordered || s.disorder == (want[k].plus ? N : 0));
        }
    }
}

// Errors come where their elements would have been, and nothing after them is lost.
static void flipping_errors(void)
{
    fail_mod = 7;
    struct seen s = run_flipping(PREFETCH(PMAP(RANGE(N), OP_FAIL_MOD)), 5, INT64_MAX);
    CHECK_EQ(s.errors, (N + 6) / 7);
    CHECK_EQ(s.n, N - (N + 6) / 7);
    s = run_flipping(PREFETCH(BATCH(SLOPPY(RANGE(700), OP_FAIL_MOD), 4)), 5, INT64_MAX);
    CHECK(s.errors > 0 && s.n > 0);
}

static struct stk_iter *interleaved(int64_t calls, int64_t block)
{
    struct stk_dataset *ranges = make("range", NULL, "start", I(1), "stop", I(9), NULL);
    return open_iter(with_fn("interleave", ranges, spinning_fn(0), "cycle_length", I(3),
                             "block_length", I(block), calls ? "num_parallel_calls" : NULL,
                             I(calls), NULL));
}

// Elements of an interleave, which reads in the same order with workers, without, and now so, now
// so.
static void flipping_interleave(void)
{
    static const int64_t wants[] = {1, 7, 300}, blocks[] = {1, 5};
    spin_ns = 0;
    for (int k = 0; k < 6; k++) {
        struct stk_iter *plain = interleaved(0, blocks[k / 3]),
                        *it = interleaved(-1, blocks[k / 3]);
        struct stk_block want = {0}, got = {0};
        struct stoker_err err;
        struct flips f;
        flips_begin(&f, it);
        for (int64_t n = 0, at = 0; n < 20000; n++, at++) {
            CHECK(stk_iter_next(plain, 1, &want, &err) == STOKER_OK && want.n == 1);
            if (at == got.n) {
                at = 0;
                CHECK(stk_iter_next(it, wants[k % 3], &got, &err) == STOKER_OK && got.n > 0);
            }
            int64_t a = *(const int64_t *)stk_col_at(&want.cols[0], 0);
            CHECK_EQ(*(const int64_t *)stk_col_at(&got.cols[0], at), a);
        }
        flips_end(&f);
        stk_block_free(&want);
        stk_block_free(&got);
        stk_iter_close(plain);
        stk_iter_close(it);
    }
}

// Inline, a block holds elements of as many turns as are asked for, as it does with readers.
static void whole_blocks(void)
{
    struct stk_iter *it = interleaved(-1, 1);
    struct stk_block b = {0};
    struct stoker_err err;
    int64_t n = 0;
    CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_OK);
    for (int i = 0; i < 100; i++) {
        stk_tuner_be_inline(it->run, true); // a busy machine may have ended it
        CHECK(stk_iter_next(it, 100, &b, &err) == STOKER_OK);
        n += b.n;
    }
    CHECK(n >= 5000);
    stk_block_free(&b);
    stk_iter_close(it);
}

// With one processor allowed, where a permit and the input are what two threads may want at once.
static void flipping_on_one(void)
{
    test_options = (struct stk_run_options){.threads = 1};
    for (int i = 0; i < 3; i++) {
        struct seen s =
            run_flipping(PREFETCH(PMAP(PREFETCH(PMAP(RANGE(N), OP_PLUS_ONE)), OP_PLUS_ONE)),
                         1 + 20 * i, INT64_MAX);
        CHECK_EQ(s.n, N);
    }
    test_options = (struct stk_run_options){0};
}

// Left in the middle, or canceled by another thread.
static void left(void)
{
    for (int i = 0; i < 100; i++) {
        struct stk_dataset *ds = PREFETCH(PMAP(make("repeat", RANGE(1000), NULL), OP_PLUS_ONE));
        struct seen s = run_flipping(ds, 13, i);
        CHECK(s.errors == 0 && s.n >= i);
    }
}

static void *cancel_soon(void *run)
{
    usleep(3000);
    stk_run_cancel(run);
    return NULL;
}

static void cancelled(void)
{
    for (int i = 0; i < 20; i++) {
        struct stk_iter *it =
            open_iter(PREFETCH(PMAP(make("repeat", RANGE(1000), NULL), OP_PLUS_ONE)));
        struct stk_block b = {0};
        struct stoker_err err;
        pthread_t thread;
        enum stoker_status s;
        stk_tuner_be_inline(it->run, true);
        CHECK(pthread_create(&thread, NULL, cancel_soon, it->run) == 0);
        while ((s = stk_iter_next(it, 100, &b, &err)) == STOKER_OK) {
        }
        CHECK_EQ(s, STOKER_EINTR);
        pthread_join(thread, NULL);
        stk_block_free(&b);
        stk_iter_close(it);
    }
}

static int threads_of(const struct stk_iter *it)
{
    return (int)__atomic_load_n(&it->stats.threads, __ATOMIC_RELAXED);
}

// Stages that are inline have threads again, which run beside its work, when the consumer has some.
static void step_begins(void)
{
    spin_ns = 1000000;
    struct stk_iter *it = open_iter(PREFETCH(PMAP(make("repeat", RANGE(1000), NULL), OP_SPIN)));
    struct stk_block b = {0};
    struct stoker_err err;
    CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_OK && b.n == 1);
    stk_tuner_be_inline(it->run, true);
    CHECK(threads_of(it) == 0 && threads_of(it->in[0]) == 0);
    int n = 0;
    for (; n < 400 && threads_of(it) == 0; n++) {
        CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_OK && b.n == 1);
        usleep(5000);
    }
    CHECK(threads_of(it) > 0 && threads_of(it->in[0]) > 0);
    CHECK(n < 400);
    for (int i = 0; i < 200 && __atomic_load_n(&it->stats.fill, __ATOMIC_RELAXED) == 0; i++) {
        usleep(5000);
    }
    CHECK(__atomic_load_n(&it->stats.fill, __ATOMIC_RELAXED) > 0); // made while it was elsewhere
    stk_block_free(&b);
    stk_iter_close(it);
}

// An epoch begins as the one before ended, and with threads where those were better.
static void next_epoch(void)
{
    struct stk_dataset *ds = PREFETCH(PMAP(RANGE(N), OP_PLUS_ONE));
    for (int i = 0; i < 4; i++) {
        bool begins = i == 1 || i == 2;
        struct stk_iter *it = open_iter(stk_dataset_hold(ds));
        struct stk_block b = {0};
        struct stoker_err err;
        CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_OK && b.n == 1);
        CHECK((threads_of(it) == 0) == begins && (threads_of(it->in[0]) == 0) == begins);
        stk_tuner_be_inline(it->run, i < 2);
        stk_block_free(&b);
        stk_iter_close(it);
    }
    stk_dataset_drop(ds);
}

// Stages of which the user gave the number of threads keep them.
static void given_numbers(void)
{
    struct stk_iter *it = open_iter(
        make("prefetch", with_op("map", RANGE(N), OP_PLUS_ONE, "num_parallel_calls", I(2), NULL),
             "buffer_size", I(4), NULL));
    struct stk_block b = {0};
    struct stoker_err err;
    CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_OK);
    stk_tuner_be_inline(it->run, true);
    CHECK(threads_of(it) == 1 && threads_of(it->in[0]) == 2);
    stk_block_free(&b);
    stk_iter_close(it);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(trial_won);
    CHECK_RUN(trial_won_by_processors);
    CHECK_RUN(trials_lost);
    CHECK_RUN(trial_not_begun);
    CHECK_RUN(trial_ended);
    CHECK_RUN(flipping);
    CHECK_RUN(flipping_errors);
    CHECK_RUN(flipping_interleave);
    CHECK_RUN(whole_blocks);
    CHECK_RUN(flipping_on_one);
    CHECK_RUN(left);
    CHECK_RUN(cancelled);
    CHECK_RUN(step_begins);
    CHECK_RUN(next_epoch);
    CHECK_RUN(given_numbers);
    return check_done("unit.data_inline");
}
