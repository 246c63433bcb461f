// SPDX-License-Identifier: Apache-2.0
// What the public iterator returns: writable batches, read-only views, who keeps what, resuming
// after errors; and the tuner.
#include <unistd.h>

#include "data_make.h"
#include "stoker/data.h"

#define ROWS 1000

static int64_t rows[ROWS];

static void nothing(void *arg)
{
    (void)arg;
}

// Rows of the test's own memory.
static struct stk_dataset *own_rows(void)
{
    struct stk_buf *b = stk_buf_foreign(rows, sizeof rows, true, nothing, NULL);
    struct stk_col c = {
        .dtype = STK_DT_I64, .n = 1, .stride = sizeof rows, .data = (uint8_t *)rows};
    struct stk_attrs *a = stk_attrs_new();
    c.shape = (struct stk_shape){.rank = 1, .dim = {ROWS}};
    c.data_buf = b;
    CHECK(stk_attrs_set(
        a,
        &(struct stk_attr){.name = "components", .kind = STK_ATTR_COLS, .count = 1, .cols = &c}));
    stk_col_clear(&c);
    return make_with("tensor_slices", NULL, 0, a);
}

static struct stoker_iterator *open_public(struct stk_dataset *ds,
                                           const struct stoker_run_options *options)
{
    struct stoker_err err;
    struct stoker_iterator *it = NULL;
    CHECK(stoker_iterator_open((struct stoker_dataset *)ds, options, &it, &err) == STOKER_OK);
    return it;
}

static void writing(struct stk_dataset *ds, bool is_writable)
{
    struct stoker_iterator *it = open_public(ds, NULL);
    struct stoker_err err;
    struct stoker_tensor t;
    int is_end;
    for (int64_t i = 0; i < ROWS; i++) {
        rows[i] = i;
    }
    for (int64_t at = 0; at < 50;) {
        CHECK(stoker_iterator_next(it, &t, 1, &is_end, &err) == STOKER_OK && !is_end);
        CHECK_EQ(!t.is_readonly, is_writable);
        int64_t n = t.rank ? t.dim[0] : 1;
        for (int64_t i = 0; i < n; i++) {
            CHECK_EQ(((int64_t *)t.data)[i], at++);
            if (is_writable) {
                ((int64_t *)t.data)[i] = -1;
            }
        }
        stoker_tensor_release(&t);
    }
    for (int64_t i = 0; i < ROWS; i++) {
        CHECK_EQ(rows[i], i);
    }
    stoker_iterator_free(it);
    stk_dataset_drop(ds);
}

// Someone keeps every batch of a pipeline whose budget holds a few: all are right, none is waited
// for, and what does not fit is counted.
static void keeping_all(void)
{
    struct stoker_run_options options = {.ram_bytes = 1 << 20, .threads = 2};
    struct stk_dataset *ds = make(
        "prefetch",
        make("batch", with_op("map", RANGE(1000000), OP_PLUS_ONE, "num_parallel_calls", I(2), NULL),
             "batch_size", I(5000), NULL),
        "buffer_size", I(2), NULL);
    struct stoker_iterator *it = open_public(ds, &options);
    static struct stoker_tensor kept[200];
    struct stoker_memory memory;
    struct stoker_err err;
    int is_end = 0;
    for (int i = 0; i < 200; i++) {
        CHECK(stoker_iterator_next(it, &kept[i], 1, &is_end, &err) == STOKER_OK && !is_end);
    }
    stoker_iterator_memory(it, &memory);
    CHECK(memory.copied > 100 && memory.peak_bytes <= memory.cap_bytes);
    stoker_iterator_free(it);
    for (int i = 0; i < 200; i++) {
        for (int64_t k = 0; k < 5000; k++) {
            CHECK(((int64_t *)kept[i].data)[k] == i * 5000 + k + 1);
        }
        stoker_tensor_release(&kept[i]);
    }
    stk_dataset_drop(ds);
}

// Elements and errors as text, from a state taken after `before` calls.
static void resuming(int before, int skips_errors)
{
    struct stoker_run_options options = {.has_seed = 1, .seed = 5, .skips_errors = skips_errors};
    fail_mod = 4;
    struct stk_dataset *ds =
        make("batch", with_op("map", RANGE(23), OP_FAIL_MOD, "num_parallel_calls", I(2), NULL),
             "batch_size", I(2), NULL);
    struct stoker_iterator *it = open_public(ds, &options), *again = NULL;
    struct text rest[2] = {{.n = 0}, {.n = 0}};
    struct stoker_err err;
    struct stoker_tensor t;
    char state[256];
    size_t n = sizeof state;
    int is_end = 0;
    for (int i = 0; i < before; i++) {
        if (stoker_iterator_next(it, &t, 1, &is_end, &err) == STOKER_OK && !is_end) {
            stoker_tensor_release(&t);
        }
    }
    CHECK(stoker_iterator_state(it, state, &n, &err) == STOKER_OK);
    CHECK(stoker_iterator_resume((struct stoker_dataset *)ds, &options, state, n, &again, &err) ==
          STOKER_OK);
    for (int w = 0; w < 2; w++) {
        is_end = 0;
        for (int i = 0; i < 40 && !is_end; i++) {
            enum stoker_status s = stoker_iterator_next(w ? again : it, &t, 1, &is_end, &err);
            say(&rest[w],
                s != STOKER_OK ? "! "
                : is_end       ? "end"
                               : "%d ",
                s == STOKER_OK && !is_end ? (int)*(int64_t *)t.data : 0);
            if (s == STOKER_OK && !is_end) {
                stoker_tensor_release(&t);
            }
        }
    }
    CHECK_STR(rest[1].at, rest[0].at);
    stoker_iterator_free(it);
    stoker_iterator_free(again);
    stk_dataset_drop(ds);
    fail_mod = 7;
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(writing, own_rows(), false);
    CHECK_RUN(writing, make("prefetch", own_rows(), "buffer_size", I(2), NULL), false);
    CHECK_RUN(writing, make("batch", own_rows(), "batch_size", I(10), NULL), true);
    CHECK_RUN(writing, make("repeat", make("batch", own_rows(), "batch_size", I(10), NULL), NULL),
              true);
    CHECK_RUN(writing,
              make("prefetch", make("batch", own_rows(), "batch_size", I(1), NULL), "buffer_size",
                   I(3), NULL),
              true);
    CHECK_RUN(writing, make("batch", make("cache", RANGE(ROWS), NULL), "batch_size", I(10), NULL),
              true);
    CHECK_RUN(writing, make("cache", RANGE(ROWS), NULL), false);
    CHECK_RUN(keeping_all);
    for (int before = 0; before < 12; before++) {
        CHECK_RUN(resuming, before, 0);
        CHECK_RUN(resuming, before, 1);
    }
    return check_done("unit.data_give");
}
