// SPDX-License-Identifier: Apache-2.0
// The recipes of the engine at work: the kind `squares` gives elements, the operation `softsign`
// runs in a map over them, on one thread and on several, and from the middle on.
#include <math.h>

#include "check.h"

#include "stoker/data.h"

enum { COUNT = 1000 };

static struct stoker_dataset *squares(void)
{
    struct stoker_dataset *out = NULL;
    struct stoker_err err = {0};
    struct stoker_args *args = stoker_args_new();
    CHECK(stoker_args_int(args, "count", COUNT));
    CHECK_EQ(stoker_dataset_make("squares", NULL, 0, args, NULL, &out, &err), STOKER_OK);
    stoker_args_free(args);
    return out;
}

// x -> softsign(float32(x))
static struct stoker_fn *softsign(void)
{
    struct stoker_spec in = {.dtype = STOKER_INT64};
    struct stoker_fn *fn = NULL;
    struct stoker_err err = {0};
    struct stoker_args *args = stoker_args_new();
    int value = 0, count;
    CHECK(stoker_args_int(args, "dtype", STOKER_FLOAT32));
    CHECK_EQ(stoker_fn_open(&in, 1, "softsign", &fn, &err), STOKER_OK);
    CHECK_EQ(stoker_fn_add(fn, "cast", &value, 1, args, NULL, &value, &count, &err), STOKER_OK);
    CHECK_EQ(stoker_fn_add(fn, "softsign", &value, 1, NULL, NULL, &value, &count, &err), STOKER_OK);
    CHECK_EQ(stoker_fn_finish(fn, &value, 1, &err), STOKER_OK);
    stoker_args_free(args);
    return fn;
}

static struct stoker_dataset *mapped(int64_t workers)
{
    struct stoker_dataset *in = squares(), *out = NULL;
    struct stoker_fn *fn = softsign();
    struct stoker_err err = {0};
    struct stoker_args *args = stoker_args_new();
    CHECK(stoker_args_fn(args, "fn", fn) && stoker_args_int(args, "num_parallel_calls", workers));
    CHECK_EQ(stoker_dataset_make("map", &in, 1, args, NULL, &out, &err), STOKER_OK);
    stoker_args_free(args);
    stoker_fn_free(fn);
    stoker_dataset_free(in);
    return out;
}

// Elements from `at` on are softsign of the squares.
static void check_rest(struct stoker_iterator *it, int64_t at)
{
    struct stoker_err err = {0};
    struct stoker_tensor t;
    int is_end = 0;
    for (; at <= COUNT; at++) {
        CHECK_EQ(stoker_iterator_next(it, &t, 1, &is_end, &err), STOKER_OK);
        CHECK_EQ(is_end, at == COUNT);
        if (!is_end) {
            float x = (float)(at * at);
            CHECK(*(const float *)t.data == x / (1 + fabsf(x)));
            stoker_tensor_release(&t);
        }
    }
    stoker_iterator_free(it);
}

static void check_kind(void)
{
    struct stoker_dataset *ds = squares();
    struct stoker_err err = {0};
    struct stoker_iterator *it = NULL;
    struct stoker_tensor t;
    int is_end = 0;
    CHECK_EQ(stoker_dataset_cardinality(ds), COUNT);
    CHECK_EQ(stoker_iterator_open(ds, NULL, &it, &err), STOKER_OK);
    for (int64_t i = 0; i < COUNT; i++) {
        CHECK_EQ(stoker_iterator_next(it, &t, 1, &is_end, &err), STOKER_OK);
        CHECK_EQ(*(const int64_t *)t.data, i * i);
        stoker_tensor_release(&t);
    }
    CHECK(stoker_iterator_next(it, &t, 1, &is_end, &err) == STOKER_OK && is_end);
    stoker_iterator_free(it);
    stoker_dataset_free(ds);
}

static void check_operation(int64_t workers)
{
    struct stoker_dataset *ds = mapped(workers);
    struct stoker_err err = {0};
    struct stoker_iterator *it = NULL, *later = NULL;
    struct stoker_tensor t;
    char state[256];
    size_t n = sizeof state;
    int is_end = 0;
    CHECK_EQ(stoker_iterator_open(ds, NULL, &it, &err), STOKER_OK);
    CHECK_EQ(stoker_iterator_next(it, &t, 1, &is_end, &err), STOKER_OK);
    stoker_tensor_release(&t);
    CHECK_EQ(stoker_iterator_state(it, state, &n, &err), STOKER_OK);
    CHECK_EQ(stoker_iterator_resume(ds, NULL, state, n, &later, &err), STOKER_OK);
    check_rest(it, 1);
    check_rest(later, 1);
    stoker_dataset_free(ds);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(check_kind);
    CHECK_RUN(check_operation, 1);
    CHECK_RUN(check_operation, 3);
    return check_done("recipes.engine");
}
