// SPDX-License-Identifier: Apache-2.0
// Transformations that choose, order and join elements: results, cardinality and skipping.
#include "data_make.h"

static void counts(void)
{
    EXPECT(make("take", RANGE(5), "count", I(3), NULL), "0 1 2");
    EXPECT(make("take", RANGE(5), "count", I(9), NULL), "0 1 2 3 4");
    EXPECT(make("take", RANGE(5), "count", I(-1), NULL), "0 1 2 3 4");
    EXPECT(make("take", RANGE(5), "count", I(0), NULL), "");
    EXPECT(make("skip", RANGE(5), "count", I(3), NULL), "3 4");
    EXPECT(make("skip", RANGE(5), "count", I(0), NULL), "0 1 2 3 4");
    EXPECT(make("skip", RANGE(5), "count", I(9), NULL), "");
    EXPECT(make("skip", RANGE(5), "count", I(-1), NULL), "");
    struct stk_dataset *vast = RANGE(2);
    for (int i = 0; i < 4; i++) {
        vast = make("batch", vast, "batch_size", I(INT32_MAX), NULL);
    }
    EXPECT(make("skip", vast, "count", I(1), NULL), "");
    for (int64_t size = 2; size <= 7; size++) { // more elements than there are numbers
        struct stk_dataset *batches = make("batch", RANGE(100), "batch_size", I(size), NULL);
        EXPECT(make("skip", batches, "count", I(INT64_MAX), NULL), "");
    }
    // Of a pipeline without end at most as many are passed over as there are numbers for.
    struct stk_dataset *endless = make("repeat", RANGE(5), "count", I(-1), NULL);
    endless = make("skip", endless, "count", I(INT64_MAX - (INT64_C(1) << 41)), NULL);
    EXPECT(make("take", make("skip", endless, "count", I(3), NULL), "count", I(1), NULL), "3");
    endless = make("repeat", RANGE(5), "count", I(-1), NULL);
    endless = make("skip", endless, "count", I(INT64_MAX - (INT64_C(1) << 41)), NULL);
    endless = make("skip", endless, "count", I(INT64_MAX / 2), NULL);
    EXPECT(make("take", endless, "count", I(1), NULL), "!");
    EXPECT(make("shard", RANGE(8), "num_shards", I(3), "index", I(0), NULL), "0 3 6");
    EXPECT(make("shard", RANGE(8), "num_shards", I(3), "index", I(2), NULL), "2 5");
    EXPECT(make("shard", RANGE(2), "num_shards", I(3), "index", I(2), NULL), "");
    EXPECT(make("shard", RANGE(4), "num_shards", I(1), "index", I(0), NULL), "0 1 2 3");
}

#define PART(n, shards, i, how)                                                                    \
    make("shard", RANGE(n), "num_shards", I(shards), "index", I(i), "remainder", I(how), NULL)

// remainder: 1 leaves the last round out, 2 fills it up.
static void equal_parts(void)
{
    EXPECT(PART(8, 3, 0, 1), "0 3");
    EXPECT(PART(8, 3, 2, 1), "2 5");
    EXPECT(PART(9, 3, 1, 1), "1 4 7");
    EXPECT(PART(2, 3, 0, 1), "");
    EXPECT(PART(8, 3, 0, 2), "0 3 6");
    EXPECT(PART(8, 3, 1, 2), "1 4 7");
    EXPECT(PART(8, 3, 2, 2), "2 5 2");
    EXPECT(PART(7, 3, 1, 2), "1 4 1");
    EXPECT(PART(9, 3, 2, 2), "2 5 8");
    EXPECT(PART(2, 5, 1, 2), "1");
    EXPECT(PART(2, 5, 4, 2), "0");
    EXPECT(PART(0, 2, 1, 2), "");
    struct stk_dataset *some = with_op("filter", RANGE(7), OP_IS_EVEN, NULL); // of unknown length
    EXPECT(make("shard", some, "num_shards", I(3), "index", I(2), "remainder", I(2), NULL), "4 4");
}

static void repeats(void)
{
    EXPECT(make("repeat", RANGE(3), "count", I(2), NULL), "0 1 2 0 1 2");
    EXPECT(make("repeat", RANGE(3), "count", I(0), NULL), "");
    EXPECT(make("repeat", RANGE(0), "count", I(3), NULL), "");
    EXPECT(make("repeat", RANGE(0), NULL), "");
    EXPECT(make("take", make("repeat", RANGE(3), NULL), "count", I(7), NULL), "0 1 2 0 1 2 0");
    struct stk_dataset *ds = make("repeat", RANGE(3), NULL);
    CHECK_EQ(stk_dataset_cardinality(ds), STK_INFINITE);
    stk_dataset_drop(ds);
    EXPECT(pair_of("concatenate", RANGE(3), make("range", NULL, "start", I(7), "stop", I(9), NULL)),
           "0 1 2 7 8");
    EXPECT(pair_of("concatenate", RANGE(0), RANGE(2)), "0 1");
    EXPECT(pair_of("concatenate", RANGE(2), RANGE(0)), "0 1");
}

static void sides(void)
{
    EXPECT(pair_of("zip", RANGE(3), make("range", NULL, "start", I(5), "stop", I(20), NULL)),
           "(0,5) (1,6) (2,7)");
    EXPECT(pair_of("zip", RANGE(3), RANGE(0)), "");
    EXPECT(make("enumerate", make("range", NULL, "start", I(5), "stop", I(8), NULL), "start", I(10),
                NULL),
           "(10,5) (11,6) (12,7)");
    EXPECT(pair_of("zip", with_op("map", RANGE(9), OP_FAIL_7, NULL), RANGE(20)),
           "(0,0) (1,1) (2,2) (3,3) (4,4) (5,5) (6,6) ! (8,8)");
}

static void filters(void)
{
    EXPECT(with_op("filter", RANGE(7), OP_IS_EVEN, NULL), "0 2 4 6");
    EXPECT(with_op("filter", RANGE(0), OP_IS_EVEN, NULL), "");
    EXPECT(with_op("take_while", RANGE(9), OP_BELOW_5, NULL), "0 1 2 3 4");
    EXPECT(with_op("take_while", RANGE(2), OP_BELOW_5, NULL), "0 1");
    EXPECT(with_op("map", RANGE(4), OP_PLUS_ONE, NULL), "1 2 3 4");
    EXPECT(with_op("map", RANGE(9), OP_FAIL_7, NULL), "0 1 2 3 4 5 6 ! 8");
    EXPECT(make("ignore_errors", with_op("map", RANGE(9), OP_FAIL_7, NULL), NULL),
           "0 1 2 3 4 5 6 8");
    EXPECT(make("take", with_op("map", RANGE(20), OP_FAIL_7, NULL), "count", I(9), NULL),
           "0 1 2 3 4 5 6 ! 8");
}

static void batches(void)
{
    EXPECT(make("batch", RANGE(7), "batch_size", I(3), NULL), "[0 1 2] [3 4 5] [6]");
    EXPECT(make("unbatch", make("batch", RANGE(7), "batch_size", I(3), NULL), NULL),
           "0 1 2 3 4 5 6");
    EXPECT(make("unbatch", make("batch", RANGE(0), "batch_size", I(3), NULL), NULL), "");
    EXPECT(
        make("batch", make("batch", RANGE(8), "batch_size", I(2), NULL), "batch_size", I(2), NULL),
        "[[0 1] [2 3]] [[4 5] [6 7]]");
    // As in tf.data, a batch with an element that failed is lost up to that element.
    EXPECT(make("batch", with_op("map", RANGE(10), OP_FAIL_7, NULL), "batch_size", I(3), NULL),
           "[0 1 2] [3 4 5] ! [8 9]");
    EXPECT(make("batch",
                pair_of("concatenate", make("batch", RANGE(2), "batch_size", I(2), NULL),
                        make("batch", RANGE(3), "batch_size", I(3), NULL)),
                "batch_size", I(2), NULL),
           "!");
}

static void policy_to_skip(void)
{
    test_options.on_error = STK_ON_ERROR_SKIP;
    struct stk_dataset *ds =
        make("batch", with_op("map", RANGE(10), OP_FAIL_7, NULL), "batch_size", I(3), NULL);
    CHECK_STR(elements_after(ds, 2, 0), "[0 1 2] [3 4 5] [6 8 9]");
    stk_dataset_drop(ds);
    struct stk_iter *it = open_iter(with_op("map", RANGE(10), OP_FAIL_7, NULL));
    struct stk_block b = {0};
    struct stoker_err err;
    int64_t n = 0;
    do {
        CHECK(stk_iter_next(it, 4, &b, &err) == STOKER_OK);
        n += b.n;
    } while (b.n > 0);
    CHECK_EQ(n, 9);
    CHECK_EQ(it->stats.skipped, 1);
    CHECK_EQ(it->in[0]->stats.skipped, 0);
    stk_block_free(&b);
    stk_iter_close(it);
    test_options.on_error = STK_ON_ERROR_STOP;
}

static void random_access(void)
{
    struct stk_dataset *ds = pair_of("concatenate", make("skip", RANGE(5), "count", I(2), NULL),
                                     make("shard", make("take", RANGE(100), "count", I(10), NULL),
                                          "num_shards", I(4), "index", I(1), NULL));
    ds = make("enumerate", ds, NULL);
    CHECK(stk_dataset_has_at(ds));
    CHECK_STR(elements_after(ds, 10, 0), "(0,2) (1,3) (2,4) (3,1) (4,5) (5,9)");
    struct stk_iter *it = open_iter(ds);
    struct stk_block b = {0};
    struct stoker_err err;
    struct text t = {.n = 0};
    int64_t index[] = {5, 0, 3, 3};
    CHECK(stk_iter_at(it, index, 4, &b, &err) == STOKER_OK);
    for (int64_t i = 0; i < b.n; i++) {
        say_element(&t, &b, i);
    }
    CHECK_STR(t.at, "(5,9)(0,2)(3,1)(3,1)");
    stk_block_free(&b);
    stk_iter_close(it);
}

// Behind an element that failed more may be available than is asked for next.
static void no_more_than_asked(void)
{
    struct stk_iter *it = open_iter(with_op("map", RANGE(32), OP_FAIL_7, NULL));
    struct stk_block b = {0};
    struct stoker_err err;
    CHECK(stk_iter_next(it, 24, &b, &err) == STOKER_OK);
    CHECK_EQ(b.n, 7);
    CHECK(stk_iter_next(it, 24, &b, &err) == STOKER_EINVAL);
    for (int64_t i = 8; i < 32; i += 3) {
        CHECK(stk_iter_next(it, 3, &b, &err) == STOKER_OK);
        CHECK(b.n > 0 && b.n <= 3);
        CHECK_EQ(*(int64_t *)stk_col_at(&b.cols[0], 0), i);
        i -= 3 - b.n;
    }
    stk_block_free(&b);
    stk_iter_close(it);
}

static void refused(const char *kind, struct stk_dataset *in, const char *name, int64_t value,
                    const char *says)
{
    struct stoker_err err;
    struct stk_dataset *ds = NULL;
    struct stk_attrs *a = stk_attrs_new();
    stk_err_init(&err);
    CHECK(stk_attrs_set_int(a, name, value));
    CHECK(stk_dataset_make(&ds, kind, &in, 1, a, NULL, &err) == STOKER_EINVAL);
    CHECK(strstr(err.message, says) != NULL);
    stk_attrs_drop(a);
    stk_dataset_drop(in);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(counts);
    CHECK_RUN(equal_parts);
    CHECK_RUN(repeats);
    CHECK_RUN(sides);
    CHECK_RUN(filters);
    CHECK_RUN(batches);
    CHECK_RUN(policy_to_skip);
    CHECK_RUN(no_more_than_asked);
    random_access();
    CHECK_RUN(refused, "take", RANGE(3), "seed", 0, "count is missing");
    CHECK_RUN(refused, "take", RANGE(3), "cuont", 0, "no argument 'cuont'; did you mean 'count'?");
    CHECK_RUN(refused, "batch", RANGE(3), "drop_remaider", 1, "did you mean 'drop_remainder'?");
    CHECK_RUN(refused, "unbatch", RANGE(3), "wholly_else", 0, "unbatch: no argument 'wholly_else'");
    CHECK_RUN(refused, "shard", RANGE(3), "num_shards", 0, "num_shards is 0");
    CHECK_RUN(refused, "unbatch", RANGE(3), "seed", 0, "component 0 is a scalar");
    return check_done("unit.data_order");
}
