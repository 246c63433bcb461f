// SPDX-License-Identifier: Apache-2.0
// Rewrites in C: random functions in random chains of stages give the same elements with and
// without; plans as text; and memory that runs out anywhere.
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "stoker/data.h"

static uint64_t state = 88172645463325252u;

static uint32_t draw(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16) % below;
}

static int constant(struct stoker_fn *fn, float value)
{
    struct stoker_tensor t = {.dtype = STOKER_FLOAT32, .data = &value};
    struct stoker_args *a = stoker_args_new();
    struct stoker_err err;
    int first, count;
    CHECK(stoker_args_tensors(a, "value", &t, 1));
    CHECK_EQ(stoker_fn_add(fn, "const", NULL, 0, a, NULL, &first, &count, &err), STOKER_OK);
    stoker_args_free(a);
    return first;
}

static int add(struct stoker_fn *fn, const char *op, int x, int y, struct stoker_args *a)
{
    struct stoker_err err;
    int in[2] = {x, y}, first = -1, count;
    CHECK_EQ(stoker_fn_add(fn, op, in, y < 0 ? 1 : 2, a, "here:1", &first, &count, &err),
             STOKER_OK);
    return first;
}

static int noise(struct stoker_fn *fn)
{
    static const int64_t shape[1] = {0};
    struct stoker_args *a = stoker_args_new();
    struct stoker_err err;
    int first = -1, count;
    CHECK(stoker_args_ints(a, "shape", shape, 0) && stoker_args_int(a, "dtype", STOKER_FLOAT32));
    CHECK_EQ(stoker_fn_add(fn, "random_uniform", NULL, 0, a, NULL, &first, &count, &err),
             STOKER_OK);
    stoker_args_free(a);
    return first;
}

// float32 scalars to as many of them.
static struct stoker_fn *random_function(int n)
{
    static const char *const ops[] = {"add", "subtract", "multiply", "truediv", "maximum"};
    struct stoker_spec specs[4];
    struct stoker_fn *fn;
    struct stoker_err err;
    int values[64], count = n, out[4];
    for (int i = 0; i < n; i++) {
        specs[i] = (struct stoker_spec){.dtype = STOKER_FLOAT32};
        values[i] = i;
    }
    CHECK_EQ(stoker_fn_open(specs, n, "f", &fn, &err), STOKER_OK);
    int steps = (int)draw(12);
    for (int k = 0; k < steps; k++) {
        int x = values[draw((uint32_t)count)];
        int y = draw(3) ? constant(fn, (float)draw(9) - 3.5f) : values[draw((uint32_t)count)];
        bool is_turned = draw(3) == 0;
        values[count++] = draw(8) == 0
                              ? noise(fn)
                              : add(fn, ops[draw(5)], is_turned ? y : x, is_turned ? x : y, NULL);
    }
    for (int i = 0; i < n; i++) {
        out[i] = values[count - 1 - (int)draw((uint32_t)(count < 3 ? count : 3))];
    }
    CHECK_EQ(stoker_fn_finish(fn, out, n, &err), STOKER_OK);
    return fn;
}

static struct stoker_dataset *then(struct stoker_dataset *in, const char *kind,
                                   struct stoker_args *a)
{
    struct stoker_dataset *out = NULL;
    struct stoker_err err;
    enum stoker_status s = stoker_dataset_make(kind, &in, 1, a, "here:2", &out, &err);
    if (s != STOKER_OK) {
        fprintf(stderr, "%s: %s\n", kind, err.message);
    }
    CHECK_EQ(s, STOKER_OK);
    stoker_dataset_free(in);
    stoker_args_free(a);
    return out;
}

static struct stoker_args *number(const char *name, int64_t value)
{
    struct stoker_args *a = stoker_args_new();
    CHECK(stoker_args_int(a, name, value));
    return a;
}

static struct stoker_dataset *random_pipeline(int n)
{
    static float values[2][64];
    struct stoker_tensor t[2];
    struct stoker_args *a = stoker_args_new();
    struct stoker_dataset *ds;
    struct stoker_err err;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 64; k++) {
            values[i][k] = (float)draw(1000) / 8;
        }
        t[i] = (struct stoker_tensor){
            .dtype = STOKER_FLOAT32, .rank = 1, .dim = {64}, .data = values[i]};
    }
    CHECK(stoker_args_tensors(a, "components", t, (size_t)n));
    CHECK_EQ(stoker_dataset_make("tensor_slices", NULL, 0, a, NULL, &ds, &err), STOKER_OK);
    stoker_args_free(a);
    int stages = 1 + (int)draw(7);
    for (int k = 0; k < stages; k++) {
        switch (draw(8)) {
        case 0:
            ds = then(ds, "repeat", number("count", 1 + draw(2)));
            break;
        case 1:
            ds = then(ds, "take", number("count", draw(2) ? -1 : 50));
            break;
        case 2:
            ds = then(ds, "skip", number("count", draw(2) ? 0 : 3));
            break;
        case 3:
            ds = then(ds, "prefetch", number("buffer_size", 2));
            break;
        default:
            a = number("num_parallel_calls", draw(3) ? 0 : 2);
            struct stoker_fn *fn = random_function(n);
            CHECK(stoker_args_fn(a, "fn", fn));
            stoker_fn_free(fn);
            ds = then(ds, "map", a);
        }
    }
    return ds;
}

// The bits of all elements. *n: how many floats.
static float *run(struct stoker_dataset *ds, int components, bool is_as_written, size_t *n)
{
    struct stoker_run_options o = {.has_seed = 1, .seed = 9, .is_as_written = is_as_written};
    struct stoker_iterator *it = NULL;
    struct stoker_tensor out[2];
    struct stoker_err err;
    float *all = malloc(4096 * sizeof *all);
    int is_end = 0;
    *n = 0;
    CHECK_EQ(stoker_iterator_open(ds, &o, &it, &err), STOKER_OK);
    while (it && *n < 4000 &&
           stoker_iterator_next(it, out, components, &is_end, &err) == STOKER_OK && !is_end) {
        for (int i = 0; i < components; i++) {
            memcpy(&all[(*n)++], out[i].data, sizeof *all);
            stoker_tensor_release(&out[i]);
        }
    }
    stoker_iterator_free(it);
    return all;
}

static void test_random(void)
{
    int rewritten = 0;
    for (int round = 0; round < 300; round++) {
        int n = 1 + (int)draw(2);
        struct stoker_dataset *ds = random_pipeline(n);
        struct stoker_bytes plan;
        struct stoker_err err;
        size_t a, b;
        float *with = run(ds, n, false, &a), *without = run(ds, n, true, &b);
        CHECK(a == b && memcmp(with, without, a * sizeof *with) == 0);
        CHECK_EQ(stoker_dataset_explain(ds, NULL, &plan, &err), STOKER_OK);
        rewritten += strstr((const char *)plan.data, " * ") != NULL;
        stoker_bytes_free(&plan);
        free(with);
        free(without);
        stoker_dataset_free(ds);
    }
    CHECK(rewritten > 150);
}

// Each allocation fails once while a pipeline is rewritten and its plan is written.
static void test_no_memory(void)
{
    int failed = 0;
    for (uint64_t k = 1; k < 400; k++) {
        state = 7;
        struct stoker_dataset *ds = random_pipeline(2);
        struct stoker_bytes plan;
        struct stoker_err err;
        stk_alloc_fail_at(k, 0);
        enum stoker_status s = stoker_dataset_explain(ds, NULL, &plan, &err);
        stk_alloc_fail_at(0, 0);
        failed += s != STOKER_OK;
        CHECK(s == STOKER_OK || s == STOKER_ENOMEM);
        if (s == STOKER_OK) {
            stoker_bytes_free(&plan);
        }
        stoker_dataset_free(ds);
    }
    CHECK(failed > 20);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_random);
    CHECK_RUN(test_no_memory);
    return check_done("unit.data_rewrites");
}
