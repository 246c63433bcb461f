// SPDX-License-Identifier: Apache-2.0
// Random pipelines: the same elements with and without threads, for any block size, and after
// resuming at a random place. When allocations fail or the run is canceled at a random time,
// everything ends and nothing is lost. With the policy to skip, delivered, skipped and filtered
// elements add up to the source's.
//   STOKER_PIPELINES=N for more of them than usual, STOKER_SEED=S for another sequence.
#include <unistd.h>

#include "data_make.h"

static uint64_t rng;

static int64_t draw(int64_t n)
{
    return (int64_t)(stk_random_bits(rng++, 7, 3, 0) % (uint64_t)n);
}

static struct stk_fn *window_fn(const struct stk_spec *in)
{
    struct stoker_err err;
    struct stk_fn *fn = NULL;
    struct stk_attrs *a = stk_attrs_new();
    int first, count, value = 0;
    CHECK(stk_attrs_set_text(a, "kind", "batch", 5) && stk_attrs_set_int(a, "batch_size", 3) &&
          stk_attrs_set_int(a, "n_in", 1));
    CHECK(stk_fn_open(&fn, in, 1, "w", &err) == STOKER_OK);
    CHECK(stk_fn_add(fn, "make_dataset", &value, 1, a, NULL, &first, &count, &err) == STOKER_OK);
    CHECK(stk_fn_finish(fn, &first, 1, &err) == STOKER_OK);
    stk_attrs_drop(a);
    return fn;
}

// x -> range(x % 3) as a dataset: through make_dataset on the value itself, which is small.
static struct stk_fn *range_fn(void)
{
    struct stoker_err err;
    struct stk_spec x = {.dtype = STK_DT_I64};
    struct stk_fn *fn = NULL;
    struct stk_attrs *a = stk_attrs_new();
    struct stk_bytes name = {(const uint8_t *)"start", 5};
    int first, count, value = 0;
    CHECK(stk_attrs_set_text(a, "kind", "range", 5) && stk_attrs_set_int(a, "stop", 40));
    CHECK(stk_attrs_set(
        a,
        &(struct stk_attr){.name = "bound", .kind = STK_ATTR_TEXTS, .count = 1, .texts = &name}));
    CHECK(stk_fn_open(&fn, &x, 1, "r", &err) == STOKER_OK);
    CHECK(stk_fn_add(fn, "make_dataset", &value, 1, a, NULL, &first, &count, &err) == STOKER_OK);
    CHECK(stk_fn_finish(fn, &first, 1, &err) == STOKER_OK);
    stk_attrs_drop(a);
    return fn;
}

// (values, segment ids, positions) to values.
static struct stk_fn *first_of_three(const struct stk_specs *in)
{
    struct stoker_err err;
    struct stk_fn *fn = NULL;
    int value = 0;
    CHECK(stk_fn_open(&fn, in->items, 3, "first", &err) == STOKER_OK);
    CHECK(stk_fn_finish(fn, &value, 1, &err) == STOKER_OK);
    return fn;
}

static struct stk_dataset *packed(struct stk_dataset *in, int64_t x)
{
    const int64_t lengths[1] = {1 + x % 5}, outputs[3] = {0, 1, 2};
    struct stk_attrs *a = stk_attrs_new();
    struct stk_dataset *ds = NULL;
    struct stoker_err err;
    CHECK(stk_attrs_set(
        a,
        &(struct stk_attr){.name = "lengths", .kind = STK_ATTR_INTS, .count = 1, .ints = lengths}));
    CHECK(stk_attrs_set(
        a,
        &(struct stk_attr){.name = "outputs", .kind = STK_ATTR_INTS, .count = 3, .ints = outputs}));
    CHECK(stk_attrs_set_int(a, "method", x % 3) && stk_attrs_set_int(a, "bins", 1 + x % 4));
    CHECK(stk_dataset_make(&ds, "pack", &in, 1, a, NULL, &err) == STOKER_OK);
    stk_attrs_drop(a);
    stk_dataset_drop(in);
    struct stk_fn *fn = first_of_three(ds->specs);
    return make("unbatch", with_fn("map", ds, fn, NULL), NULL);
}

// One more stage on scalars of int64. is_threaded changes how it runs, never what it gives.
static struct stk_dataset *stage(struct stk_dataset *in, int what, int64_t x, bool is_threaded)
{
    struct stk_fn *fn;
    switch (what) {
    case 0:
        return with_op("map", in, OP_PLUS_ONE, "num_parallel_calls", is_threaded ? x % 4 - 1 : 0,
                       NULL);
    case 1:
        return make("take", in, "count", 20 + x, NULL);
    case 2:
        return make("skip", in, "count", x % 5, NULL);
    case 3:
        return with_op("filter", in, OP_IS_EVEN, NULL);
    case 4:
        return make("shuffle", in, "buffer_size", 1 + x, "seed", x, NULL);
    case 5:
        return make("repeat", in, "count", 1 + x % 3, NULL);
    case 6:
        return is_threaded ? make("prefetch", in, "buffer_size", x % 5 - 1, NULL) : in;
    case 7:
        return make("unbatch", make("batch", in, "batch_size", 1 + x % 7, NULL), NULL);
    case 8:
        return make("shard", in, "num_shards", 1 + x % 3, "index", x / 3 % (1 + x % 3), "remainder",
                    x % 4 % 3, NULL);
    case 9:
        return make("cache", in, NULL);
    case 10: // into batches and back, as windows
        in = make("window", in, "size", 1 + x % 4, "shift", 1 + x % 3, "stride", 1 + x % 2, NULL);
        fn = window_fn(in->specs->items);
        return make("unbatch", with_fn("flat_map", in, fn, NULL), NULL);
    case 11:
        fn = range_fn();
        return with_fn("interleave", in, fn, "cycle_length", 1 + x % 5, "block_length", 1 + x % 3,
                       "num_parallel_calls", is_threaded ? x % 4 - 1 : 0, NULL);
    case 12:
        return pair_of("concatenate", in, make("range", NULL, "stop", x, NULL));
    case 13:
        return make("unbatch",
                    make("batch",
                         with_op("map", in, OP_FAIL_MOD, "num_parallel_calls",
                                 is_threaded ? I(2) : I(0), NULL),
                         "batch_size", 1 + x % 5, NULL),
                    NULL);
    case 14:
        return packed(in, x);
    default:
        return make(
            "ignore_errors",
            with_op("map", in, OP_FAIL_MOD, "num_parallel_calls", is_threaded ? x % 3 : I(0), NULL),
            NULL);
    }
}

static struct stk_dataset *pipeline(uint64_t seed, bool is_threaded)
{
    rng = seed;
    int64_t n = draw(3) ? draw(200) : draw(3);
    struct stk_dataset *ds = RANGE(n);
    int stages = 1 + (int)draw(5);
    for (int i = 0; i < stages; i++) {
        int what = (int)draw(16);
        int64_t x = draw(60);
        ds = stage(ds, what, x, is_threaded);
    }
    return make("take", ds, "count", I(3000), NULL);
}

static void same_with_threads(uint64_t seed)
{
    struct stk_dataset *serial = pipeline(seed, false), *threaded = pipeline(seed, true);
    test_options.seed = seed;
    test_options.has_seed = true;
    test_options.threads = 1 + (int)(seed % 3);
    const char *want = elements_after(serial, 1 + (int64_t)(seed % 7), 0);
    CHECK_STR(elements_after(threaded, 1 + (int64_t)(seed % 50), 0), want);
    CHECK_STR(elements_after(threaded, 1, 0), want);
    if (!strchr(want, '!')) {
        int64_t skip = (int64_t)(seed % 23);
        const char *rest = want;
        for (int64_t k = 0; *rest && k < skip; rest++) {
            k += *rest == ' ';
        }
        rest = skip && !strchr(want, ' ') ? "" : rest;
        CHECK_STR(elements_after(threaded, 9, skip), rest);
        CHECK_STR(elements_after(serial, 9, skip), rest);
    }
    stk_dataset_drop(serial);
    stk_dataset_drop(threaded);
}

// Ends, no matter what fails.
static void survives(uint64_t seed)
{
    struct stk_dataset *ds = pipeline(seed, true);
    struct stoker_err err;
    struct stk_run *run = NULL;
    struct stk_iter *it = NULL;
    struct stk_block b = {0};
    rng = seed * 31;
    stk_alloc_fail_at((uint64_t)draw(400) + 1, (int)draw(2));
    if (stk_run_open(&run, &test_options, &err) == STOKER_OK) {
        enum stoker_status s = stk_iter_open(&it, ds, run, 0, 0, &err);
        for (int i = 0; s == STOKER_OK && i < 2000; i++) {
            s = stk_iter_next(it, 1 + draw(20), &b, &err);
            if (s == STOKER_OK && b.n == 0) {
                break;
            }
            s = STOKER_OK;
        }
    }
    stk_block_free(&b);
    stk_iter_close(it);
    stk_run_drop(run);
    stk_alloc_fail_at(0, 0);
    stk_dataset_drop(ds);
    CHECK(true);
}

static void cancels(uint64_t seed)
{
    struct stk_dataset *ds = make("repeat", pipeline(seed, true), NULL);
    struct stk_iter *it = open_iter(ds);
    struct stk_block b = {0};
    struct stoker_err err;
    rng = seed * 17;
    int64_t pulls = draw(30);
    enum stoker_status s = STOKER_OK;
    bool has_more = true;
    for (int64_t i = 0; i < pulls && has_more; i++) {
        s = stk_iter_next(it, 1 + draw(9), &b, &err);
        has_more = s != STOKER_OK || b.n > 0;
    }
    usleep((useconds_t)draw(300));
    stk_run_cancel(it->run);
    s = stk_iter_next(it, 1, &b, &err);
    CHECK(s == STOKER_EINTR || !has_more || it->pending == STOKER_OK);
    stk_block_free(&b);
    stk_iter_close(it);
}

static void counts_add_up(uint64_t seed)
{
    test_options.on_error = STK_ON_ERROR_SKIP;
    rng = seed;
    int64_t n = 1 + draw(3000), delivered = 0;
    fail_mod = 2 + draw(20);
    struct stk_iter *it = open_iter(with_op(
        "filter", with_op("map", RANGE(n), OP_FAIL_MOD, "num_parallel_calls", draw(4), NULL),
        OP_IS_EVEN, NULL));
    struct stk_block b = {0};
    struct stoker_err err;
    while (stk_iter_next(it, 1 + draw(100), &b, &err) == STOKER_OK && b.n > 0) {
        delivered += b.n;
    }
    int64_t filtered = (int64_t)(it->in[0]->stats.elements - it->stats.elements);
    CHECK_EQ(delivered + filtered + (int64_t)it->in[0]->stats.skipped, n);
    CHECK_EQ(it->in[0]->stats.skipped, (n + fail_mod - 1) / fail_mod);
    stk_block_free(&b);
    stk_iter_close(it);
    test_options.on_error = STK_ON_ERROR_STOP;
    fail_mod = 7;
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    const char *wish = getenv("STOKER_PIPELINES"), *first = getenv("STOKER_SEED");
    uint64_t count = wish ? strtoull(wish, NULL, 10) : 150;
    uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
    for (uint64_t i = 0; i < count; i++, seed++) {
        unsigned long failed = check_failures;
        CHECK_RUN(same_with_threads, seed);
        CHECK_RUN(survives, seed);
        CHECK_RUN(cancels, seed);
        CHECK_RUN(counts_add_up, seed);
        if (check_failures > failed) {
            fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        }
    }
    return check_done("prop.data_pipelines");
}
