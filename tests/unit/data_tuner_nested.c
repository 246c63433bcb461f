// SPDX-License-Identifier: Apache-2.0
// Stages with threads inside datasets that functions return: they appear in the tree with all their
// counts, together use no more CPU cores than allowed, and get the workers that they need.
#include "base/clock.h"
#include "engine/run/aggregate.h"
#include "engine/run/tuner.h"
#include "data_make.h"
#include "data_spin.h"

// The first stage of a kind in the tree; NULL: none.
static struct stk_iter *find(struct stk_iter *it, const char *kind)
{
    if (strcmp(it->kind->name, kind) == 0) {
        return it;
    }
    for (int i = it->n_in - 1; i >= 0; i--) {
        struct stk_iter *found = it->in[i] ? find(it->in[i], kind) : NULL;
        if (found) {
            return found;
        }
    }
    return NULL;
}

static struct stk_dataset *nesting(const char *kind, int64_t calls)
{
    struct stk_dataset *in = make("range", NULL, "start", I(5), "stop", I(9), NULL);
    if (strcmp(kind, "flat_map") == 0) {
        return with_fn(kind, in, spinning_fn(-1), NULL);
    }
    return with_fn(kind, in, spinning_fn(-1), "cycle_length", I(4), "num_parallel_calls", I(calls),
                   NULL);
}

static uint32_t threads_of(const struct stk_iter *it)
{
    return __atomic_load_n(&it->stats.threads, __ATOMIC_RELAXED);
}

static uint64_t counted(const struct stk_iter *root, const uint64_t *count)
{
    pthread_mutex_lock(&root->run->tree_lock);
    stk_aggregate_tell((struct stk_iter *)(uintptr_t)root);
    uint64_t n = __atomic_load_n(count, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&root->run->tree_lock);
    return n;
}

// One processor is enough for all of them together, and what they do is counted.
static void budget(const char *kind, int64_t calls)
{
    spin_ns = 100000;
    test_options = (struct stk_run_options){.threads = 1};
    struct stk_iter *it = open_iter(make("prefetch", nesting(kind, calls), NULL));
    struct stk_block b = {0};
    struct stoker_err err;
    double wall = stk_clock_seconds(CLOCK_MONOTONIC),
           used = stk_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    int64_t n = 0;
    while (n < 4000) {
        CHECK(stk_iter_next(it, 64, &b, &err) == STOKER_OK && b.n > 0);
        n += b.n;
    }
    wall = stk_clock_seconds(CLOCK_MONOTONIC) - wall;
    used = stk_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - used;
    struct stk_iter *map = find(it, "map");
    CHECK(map != NULL);
    uint64_t busy_ns = counted(it, &map->stats.busy_ns), made = counted(it, &map->stats.elements);
    printf("%s: %.2f processors, map: %d threads, %.0f ms of %.0f ms\n", kind, used / wall,
           (int)threads_of(map), (double)busy_ns / 1e6, used * 1e3);
    CHECK(used > 0.3); // 4000 times 100 us
    CHECK(used < 1.2 * wall);
    CHECK(busy_ns > 300000000 && made >= 4000);
    // Where that is as fast, the thread that takes elements does all of it.
    CHECK(threads_of(map) >= 1 || counted(it, &map->stats.inline_ns) > 0);
    CHECK(find(it, "range") && counted(it, &map->stats.predicted_per_ks) > 0);
    stk_block_free(&b);
    stk_iter_close(it);
}

// Two datasets open side by side have one worker each at first; one dataset alone gets all there
// are.
static void workers(int64_t cycle, uint32_t want)
{
    spin_ns = 200000;
    test_options = (struct stk_run_options){.threads = 2};
    struct stk_iter *it =
        open_iter(with_fn("interleave", make("range", NULL, "start", I(5), "stop", I(9), NULL),
                          spinning_fn(-1), "cycle_length", I(cycle), NULL));
    struct stk_block b = {0};
    struct stoker_err err;
    uint32_t threads = 0;
    for (int i = 0; i < 20000 && threads != want; i++) {
        CHECK(stk_iter_next(it, 1, &b, &err) == STOKER_OK && b.n == 1);
        (void)counted(it, &it->in[1]->stats.elements);
        threads = threads_of(it->in[1]);
    }
    CHECK_EQ(threads, want);
    stk_block_free(&b);
    stk_iter_close(it);
}

// What datasets counted that are gone, in the epochs before, too.
static void epochs(const char *kind)
{
    test_options = (struct stk_run_options){.threads = 2};
    spin_ns = 1000;
    struct stk_dataset *in = make("range", NULL, "start", I(5), "stop", I(9), NULL);
    struct stk_fn *fn = spinning_fn(2);
    struct stk_dataset *ds = strcmp(kind, "flat_map") == 0
                                 ? with_fn(kind, in, fn, NULL)
                                 : with_fn(kind, in, fn, "cycle_length", I(2), NULL);
    struct stk_iter *it =
        open_iter(make("repeat", make("take", ds, "count", I(50), NULL), "count", I(3), NULL));
    struct stk_block b = {0};
    struct stoker_err err;
    int64_t n = 0;
    do {
        CHECK(stk_iter_next(it, 8, &b, &err) == STOKER_OK);
        n += b.n;
    } while (b.n > 0);
    CHECK_EQ(n, 150);
    struct stk_iter *map = find(it, "map");
    CHECK(map != NULL);
    uint64_t made = map ? counted(it, &map->stats.elements) : 0;
    CHECK(made >= 150);
    stk_block_free(&b);
    stk_iter_close(it);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(budget, "flat_map", 0);
    CHECK_RUN(budget, "interleave", 0);
    CHECK_RUN(budget, "interleave", -1);
    CHECK_RUN(workers, 2, 2);
    CHECK_RUN(workers, 1, 2);
    CHECK_RUN(epochs, "flat_map");
    CHECK_RUN(epochs, "interleave");
    return check_done("unit.data_tuner_nested");
}
