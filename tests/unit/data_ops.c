// SPDX-License-Identifier: Apache-2.0
// Operations: values against those computed by hand, one call at a time through the public
// header, and blocks of elements through a function (errors in the middle, chunks, uniform and
// varied).
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "engine/graph/dataset.h"
#include "engine/formats/example.h"
#include "stoker/data.h"

static struct stoker_tensor tensor(int dtype, int rank, const int64_t *dim, const void *data)
{
    struct stoker_tensor t = {.dtype = dtype, .rank = rank, .data = (void *)(uintptr_t)data};
    for (int i = 0; i < rank; i++) {
        t.dim[i] = dim[i];
    }
    return t;
}

static struct stoker_tensor vec_f(const float *v, int64_t n)
{
    return tensor(STOKER_FLOAT32, 1, &n, v);
}

static struct stoker_tensor vec_i(const int32_t *v, int64_t n)
{
    return tensor(STOKER_INT32, 1, &n, v);
}

static struct stoker_tensor mat_i(const int32_t *v, int64_t rows, int64_t cols)
{
    return tensor(STOKER_INT32, 2, (int64_t[]){rows, cols}, v);
}

static enum stoker_status call(const char *op, const struct stoker_tensor *in, int n,
                               struct stoker_args *a, struct stoker_tensor *out)
{
    struct stoker_err err;
    int count = 1;
    enum stoker_status s = stoker_op_call(op, in, n, a, 1, out, &count, &err);
    stoker_args_free(a);
    return s;
}

static void wants_ints(const char *op, const struct stoker_tensor *in, int n, struct stoker_args *a,
                       int rank, const int64_t *dim, const int32_t *want)
{
    struct stoker_tensor out;
    int64_t count = 1;
    CHECK(call(op, in, n, a, &out) == STOKER_OK);
    CHECK_EQ(out.dtype, STOKER_INT32);
    CHECK_EQ(out.rank, rank);
    for (int i = 0; i < rank; i++) {
        CHECK_EQ(out.dim[i], dim[i]);
        count *= dim[i];
    }
    for (int64_t k = 0; k < count; k++) {
        CHECK_EQ(((int32_t *)out.data)[k], want[k]);
    }
    stoker_tensor_release(&out);
}

static struct stoker_args *ints(const char *name, const int64_t *v, size_t n)
{
    struct stoker_args *a = stoker_args_new();
    CHECK(stoker_args_ints(a, name, v, n));
    return a;
}

static struct stoker_args *one_int(const char *name, int64_t v)
{
    struct stoker_args *a = stoker_args_new();
    CHECK(stoker_args_int(a, name, v));
    return a;
}

static void arithmetic(void)
{
    int32_t a[] = {7, -7, 7, -7}, b[] = {2, 2, -2, -2}, zero[] = {1, 0, 1, 1}, three = 3;
    int32_t least[] = {INT32_MIN}, minus[] = {-1};
    struct stoker_tensor ab[] = {vec_i(a, 4), vec_i(b, 4)}, out;
    wants_ints("floordiv", ab, 2, NULL, 1, (int64_t[]){4}, (int32_t[]){3, -4, -4, 3});
    wants_ints("mod", ab, 2, NULL, 1, (int64_t[]){4}, (int32_t[]){1, 1, -1, -1});
    struct stoker_tensor by_zero[] = {vec_i(a, 4), vec_i(zero, 4)};
    CHECK(call("floordiv", by_zero, 2, NULL, &out) == STOKER_EINVAL);
    struct stoker_tensor wraps[] = {vec_i(least, 1), vec_i(minus, 1)};
    wants_ints("floordiv", wraps, 2, NULL, 1, (int64_t[]){1}, (int32_t[]){INT32_MIN});
    wants_ints("mod", wraps, 2, NULL, 1, (int64_t[]){1}, (int32_t[]){0});
    struct stoker_tensor scalar[] = {vec_i(a, 4), tensor(STOKER_INT32, 0, NULL, &three)};
    wants_ints("multiply", scalar, 2, NULL, 1, (int64_t[]){4}, (int32_t[]){21, -21, 21, -21});
    wants_ints("pow", scalar, 2, NULL, 1, (int64_t[]){4}, (int32_t[]){343, -343, 343, -343});
    int32_t column[] = {10, 20}, row[] = {1, 2, 3};
    struct stoker_tensor grid[] = {mat_i(column, 2, 1), vec_i(row, 3)};
    wants_ints("add", grid, 2, NULL, 2, (int64_t[]){2, 3}, (int32_t[]){11, 12, 13, 21, 22, 23});
    float half[] = {0.5f, 1.5f, 2.5f, -0.5f}, rounded[] = {0, 2, 2, -0.f};
    struct stoker_tensor f[] = {vec_f(half, 4)};
    CHECK(call("round", f, 1, NULL, &out) == STOKER_OK &&
          memcmp(out.data, rounded, sizeof rounded) == 0);
    stoker_tensor_release(&out);
    struct stoker_tensor mixed[] = {vec_i(a, 4), vec_f(half, 4)};
    CHECK(call("add", mixed, 2, NULL, &out) == STOKER_EINVAL);
    struct stoker_tensor unlike[] = {vec_i(a, 4), vec_i(b, 3)};
    CHECK(call("add", unlike, 2, NULL, &out) == STOKER_EINVAL);
}

static void casts(void)
{
    float v[] = {-1.5f, 1.9f, 300, 1e20f, NAN};
    struct stoker_tensor in = vec_f(v, 5), out;
    CHECK(call("cast", &in, 1, one_int("dtype", STOKER_INT32), &out) == STOKER_OK);
    int32_t cut[] = {-1, 1, 300, INT32_MIN, INT32_MIN};
    CHECK(memcmp(out.data, cut, sizeof cut) == 0);
    stoker_tensor_release(&out);
    CHECK(call("saturate_cast", &in, 1, one_int("dtype", STOKER_UINT8), &out) == STOKER_OK);
    CHECK(memcmp(out.data, (uint8_t[]){0, 1, 255, 255}, 4) == 0);
    stoker_tensor_release(&out);
    // Half precision there and back: every finite value is kept.
    CHECK(call("cast", &in, 1, one_int("dtype", STOKER_FLOAT16), &out) == STOKER_OK);
    CHECK_EQ(((uint16_t *)out.data)[0], 0xbe00);
    CHECK_EQ(((uint16_t *)out.data)[2], 0x5cb0);
    CHECK_EQ(((uint16_t *)out.data)[3], 0x7c00);
    stoker_tensor_release(&out);
    for (uint32_t h = 0; h < 0x7c00; h += 7) {
        uint16_t bits = (uint16_t)h;
        struct stoker_tensor half = tensor(STOKER_FLOAT16, 0, NULL, &bits), wide, back;
        CHECK(call("cast", &half, 1, one_int("dtype", STOKER_FLOAT32), &wide) == STOKER_OK);
        CHECK(call("cast", &wide, 1, one_int("dtype", STOKER_FLOAT16), &back) == STOKER_OK);
        CHECK_EQ(*(uint16_t *)back.data, bits);
        stoker_tensor_release(&wide);
        stoker_tensor_release(&back);
    }
}

static void shapes_and_places(void)
{
    int32_t v[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    struct stoker_tensor m = mat_i(v, 3, 4), out;
    wants_ints("transpose", &m, 1, NULL, 2, (int64_t[]){4, 3},
               (int32_t[]){0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
    wants_ints("reshape", &m, 1, ints("shape", (int64_t[]){2, -1}, 2), 2, (int64_t[]){2, 6}, v);
    CHECK(call("reshape", &m, 1, ints("shape", (int64_t[]){5, -1}, 2), &out) == STOKER_EINVAL);
    wants_ints("reduce_sum", &m, 1, one_int("axis", 0), 1, (int64_t[]){4},
               (int32_t[]){12, 15, 18, 21});
    wants_ints("reduce_max", &m, 1, one_int("axis", -1), 1, (int64_t[]){3}, (int32_t[]){3, 7, 11});
    wants_ints("reduce_sum", &m, 1, NULL, 0, NULL, (int32_t[]){66});
    wants_ints("reverse", &m, 1, ints("axis", (int64_t[]){1}, 1), 2, (int64_t[]){3, 4},
               (int32_t[]){3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8});
    // m[::2, -3:-1]
    int64_t index[] = {1, 0, 0, 2, 3, 1, -3, -1, 1, 0};
    wants_ints("strided_slice", &m, 1, ints("index", index, 10), 2, (int64_t[]){2, 2},
               (int32_t[]){1, 2, 9, 10});
    // m[..., None, 1] and m[2, ::-1]
    int64_t with_axis[] = {3, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 1, 0, 1, 0};
    wants_ints("strided_slice", &m, 1, ints("index", with_axis, 15), 2, (int64_t[]){3, 1},
               (int32_t[]){1, 5, 9});
    int64_t backwards[] = {0, 2, 0, 1, 0, 1, 0, 0, -1, 3};
    wants_ints("strided_slice", &m, 1, ints("index", backwards, 10), 1, (int64_t[]){4},
               (int32_t[]){11, 10, 9, 8});
    int64_t outside[] = {0, 3, 0, 1, 0};
    CHECK(call("strided_slice", &m, 1, ints("index", outside, 5), &out) == STOKER_EINVAL);
    struct stoker_tensor both[] = {m, m};
    wants_ints(
        "concat", both, 2, one_int("axis", 1), 2, (int64_t[]){3, 8},
        (int32_t[]){0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7, 8, 9, 10, 11, 8, 9, 10, 11});
    int32_t pick[] = {2, 0};
    struct stoker_tensor gather[] = {m, vec_i(pick, 2)};
    wants_ints("gather", gather, 2, one_int("axis", 0), 2, (int64_t[]){2, 4},
               (int32_t[]){8, 9, 10, 11, 0, 1, 2, 3});
    int32_t mess[] = {3, 1, 2, 1};
    struct stoker_tensor s = vec_i(mess, 4);
    wants_ints("sort", &s, 1, NULL, 1, (int64_t[]){4}, (int32_t[]){1, 1, 2, 3});
    wants_ints("argsort", &s, 1, NULL, 1, (int64_t[]){4}, (int32_t[]){1, 3, 2, 0});
    wants_ints("cumsum", &s, 1, one_int("exclusive", 1), 1, (int64_t[]){4},
               (int32_t[]){0, 3, 4, 6});
    wants_ints("pad", &s, 1, ints("paddings", (int64_t[]){1, 2}, 2), 1, (int64_t[]){7},
               (int32_t[]){0, 3, 1, 2, 1, 0, 0});
    wants_ints("tile", &s, 1, ints("multiples", (int64_t[]){2}, 1), 1, (int64_t[]){8},
               (int32_t[]){3, 1, 2, 1, 3, 1, 2, 1});
}

// n elements through one operation; the function of elements is x // (5 - x).
static void errors_are_elements(int64_t n)
{
    struct stoker_err err;
    struct stk_fn *fn;
    struct stk_frame *frame;
    struct stk_pool *pool = stk_pool_open(1 << 26);
    struct stk_spec spec = {.dtype = STK_DT_I64};
    struct stk_attrs *five = stk_attrs_new();
    int64_t value = 5;
    struct stk_col c = {.dtype = STK_DT_I64, .n = 1, .stride = 8, .data = (uint8_t *)&value};
    int id[2], count;
    stk_err_init(&err);
    CHECK(stk_attrs_set(
        five, &(struct stk_attr){.name = "value", .kind = STK_ATTR_COLS, .count = 1, .cols = &c}));
    CHECK(stk_fn_open(&fn, &spec, 1, "f", &err) == STOKER_OK);
    CHECK(stk_fn_add(fn, "const", NULL, 0, five, NULL, &id[0], &count, &err) == STOKER_OK);
    id[1] = 0;
    CHECK(stk_fn_add(fn, "subtract", id, 2, NULL, NULL, &id[1], &count, &err) == STOKER_OK);
    CHECK(stk_fn_add(fn, "floordiv", (int[]){0, id[1]}, 2, NULL, NULL, &id[0], &count, &err) ==
          STOKER_OK);
    CHECK(stk_fn_finish(fn, id, 1, &err) == STOKER_OK);
    CHECK(stk_frame_open(&frame, fn, pool, NULL, &err) == STOKER_OK);
    struct stk_block in = {0}, out = {0};
    CHECK(stk_block_reset(&in, 1) &&
          stk_col_uniform(&in.cols[0], pool, STK_DT_I64, &spec.shape, n));
    in.n = n;
    for (int64_t i = 0; i < n; i++) {
        ((int64_t *)in.cols[0].data)[i] = i;
    }
    struct stk_eval eval = {0};
    CHECK(stk_block_reset(&out, 1) && stk_frame_run(frame, &in, &out, &eval, &err) == STOKER_OK);
    CHECK_EQ(eval.failed, n < 6 ? n : 5);
    CHECK_EQ(out.n, eval.failed);
    for (int64_t i = 0; i < out.n; i++) {
        CHECK_EQ(*(int64_t *)stk_col_at(&out.cols[0], i), i / (5 - i));
    }
    CHECK(n < 6 || (eval.failure.code == STOKER_EINVAL && strstr(eval.failure.message, "zero")));
    stk_block_free(&in);
    stk_block_free(&out);
    stk_frame_close(frame);
    stk_fn_drop(fn);
    stk_attrs_drop(five);
    stk_pool_drop(pool);
}

static void examples_are_parsed(void)
{
    int64_t y[] = {3};
    float x[] = {1, 2};
    struct stk_example_bytes raw = {(const uint8_t *)"abc", 3};
    struct stk_example_value values[] = {
        {.name = "x", .type = STK_EXAMPLE_FLOAT, .values = x, .count = 2},
        {.name = "y", .type = STK_EXAMPLE_INT64, .values = y, .count = 1},
        {.name = "raw", .type = STK_EXAMPLE_BYTES, .values = &raw, .count = 1}};
    struct stk_example_buffer wire = {0};
    struct stoker_err e;
    stk_err_init(&e);
    CHECK(stk_example_encode(&wire, STK_EXAMPLE_SINGLE, values, 3, &e) == STOKER_OK);
    struct stoker_bytes record = {wire.data, wire.size};
    struct stoker_tensor in = tensor(STOKER_STRING, 0, NULL, &record), out[8];
    struct stoker_args *a = stoker_args_new();
    struct stoker_bytes names[] = {{(const unsigned char *)"x", 1},
                                   {(const unsigned char *)"y", 1},
                                   {(const unsigned char *)"raw", 3},
                                   {(const unsigned char *)"none", 4}};
    float seven = 7;
    struct stoker_tensor fallback = tensor(STOKER_FLOAT32, 0, NULL, &seven);
    CHECK(stoker_args_texts(a, "names", names, 4) &&
          stoker_args_ints(a, "kinds", (int64_t[]){0, 1, 0, 0}, 4) &&
          stoker_args_ints(a, "dtypes",
                           (int64_t[]){STOKER_FLOAT32, STOKER_INT64, STOKER_STRING, STOKER_FLOAT32},
                           4) &&
          stoker_args_ints(a, "ranks", (int64_t[]){1, 0, 0, 0}, 4) &&
          stoker_args_ints(a, "dims", (int64_t[]){2}, 1) &&
          stoker_args_ints(a, "has_default", (int64_t[]){0, 0, 0, 1}, 4) &&
          stoker_args_tensors(a, "defaults", &fallback, 1));
    struct stoker_err err;
    int count = 8;
    CHECK(stoker_op_call("parse_example", &in, 1, a, 0, out, &count, &err) == STOKER_OK);
    CHECK_EQ(count, 6);
    if (count == 6) {
        CHECK(memcmp(out[0].data, x, sizeof x) == 0 && out[0].rank == 1);
        CHECK(out[1].rank == 2 && out[1].dim[0] == 1 && *(int64_t *)out[2].data == 3 &&
              *(int64_t *)out[3].data == 1);
        const struct stoker_bytes *s = out[4].data;
        CHECK(s->size == 3 && memcmp(s->data, "abc", 3) == 0);
        CHECK(*(float *)out[5].data == 7);
    }
    for (int k = 0; k < count; k++) {
        stoker_tensor_release(&out[k]);
    }
    record.size = 5;
    count = 8;
    CHECK(stoker_op_call("parse_example", &in, 1, a, 0, out, &count, &err) == STOKER_EINVAL);
    stoker_args_free(a);
    stk_example_buffer_free(&wire);
}

static void randomness_is_of_the_seed(void)
{
    struct stoker_tensor a, b, c;
    struct stoker_err err;
    struct stoker_args *args = ints("shape", (int64_t[]){1000}, 1);
    int count = 1;
    CHECK(stoker_op_call("random_uniform", NULL, 0, args, 1, &a, &count, &err) == STOKER_OK);
    CHECK(stoker_op_call("random_uniform", NULL, 0, args, 1, &b, &count, &err) == STOKER_OK);
    CHECK(stoker_op_call("random_uniform", NULL, 0, args, 2, &c, &count, &err) == STOKER_OK);
    CHECK(memcmp(a.data, b.data, 4000) == 0 && memcmp(a.data, c.data, 4000) != 0);
    double sum = 0;
    for (int k = 0; k < 1000; k++) {
        float v = ((float *)a.data)[k];
        CHECK(v >= 0 && v < 1);
        sum += (double)v;
    }
    CHECK(sum > 450 && sum < 550);
    stoker_tensor_release(&a);
    stoker_tensor_release(&b);
    stoker_tensor_release(&c);
    stoker_args_free(args);
}

// What is computed while a function is made lies outside of every budget.
static void vast_constants_are_left_to_the_elements(void)
{
    struct stoker_err err;
    struct stk_fn *fn;
    int64_t values[2] = {1, 2}, few[2] = {0, 1000}, many[2] = {0, 20000000};
    struct stk_col c = {.dtype = STK_DT_I64, .n = 1, .stride = 16, .data = (uint8_t *)values};
    struct stk_attrs *value = stk_attrs_new();
    int id, narrow, wide, count;
    c.shape = (struct stk_shape){.rank = 1, .dim = {2}};
    stk_err_init(&err);
    CHECK(stk_attrs_set(
        value, &(struct stk_attr){.name = "value", .kind = STK_ATTR_COLS, .count = 1, .cols = &c}));
    CHECK(stk_fn_open(&fn, NULL, 0, "f", &err) == STOKER_OK);
    CHECK(stk_fn_add(fn, "const", NULL, 0, value, NULL, &id, &count, &err) == STOKER_OK);
    struct stk_attrs *short_by = stk_attrs_new(), *long_by = stk_attrs_new();
    struct stk_attr paddings = {.name = "paddings", .kind = STK_ATTR_INTS, .count = 2, .ints = few};
    CHECK(stk_attrs_set(short_by, &paddings));
    paddings.ints = many;
    CHECK(stk_attrs_set(long_by, &paddings));
    CHECK(stk_fn_add(fn, "pad", &id, 1, short_by, NULL, &narrow, &count, &err) == STOKER_OK);
    CHECK(stk_fn_add(fn, "pad", &id, 1, long_by, NULL, &wide, &count, &err) == STOKER_OK);
    CHECK(fn->constants[narrow] && !fn->constants[wide]);
    stk_attrs_drop(short_by);
    stk_attrs_drop(long_by);
    stk_attrs_drop(value);
    stk_fn_drop(fn);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(arithmetic);
    CHECK_RUN(casts);
    CHECK_RUN(shapes_and_places);
    CHECK_RUN(errors_are_elements, 3);
    CHECK_RUN(errors_are_elements, 100);
    CHECK_RUN(errors_are_elements, 100000);
    CHECK_RUN(examples_are_parsed);
    CHECK_RUN(randomness_is_of_the_seed);
    CHECK_RUN(vast_constants_are_left_to_the_elements);
    return check_done("unit.data_ops");
}
