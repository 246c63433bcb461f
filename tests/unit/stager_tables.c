// SPDX-License-Identifier: Apache-2.0
// Bytes that become floats on the device, against a fake driver: values bit for bit, in place and
// in planes, through slots and from pinned memory; memory reused by other elements; elements that
// don't match their table; and failures of every call.
#include "data_make.h"
#include "fake/fake_load.h"
#include "stoker/device.h"

struct image {
    int64_t n, h, w, c;
};

static int64_t count_of(const struct image *m)
{
    return m->n * m->h * m->w * m->c;
}

static struct stk_dataset *cast_to(struct stk_dataset *in, enum stk_dtype dtype)
{
    struct stk_attrs *a = stk_attrs_new();
    struct stk_fn *fn = NULL;
    struct stoker_err err;
    int value = 0, first, count;
    stk_err_init(&err);
    CHECK(stk_attrs_set_int(a, "dtype", dtype));
    CHECK(stk_fn_open(&fn, in->specs->items, in->specs->count, "f", &err) == STOKER_OK);
    CHECK(stk_fn_add(fn, "cast", &value, 1, a, NULL, &first, &count, &err) == STOKER_OK);
    CHECK(stk_fn_finish(fn, &first, 1, &err) == STOKER_OK);
    stk_attrs_drop(a);
    return with_fn("map", in, fn, NULL);
}

static struct stk_dataset *cast_to_bytes(struct stk_dataset *in)
{
    return cast_to(in, STK_DT_U8);
}

static struct stk_dataset *batched(struct stk_dataset *in, int64_t n)
{
    return make("batch", in, "batch_size", I(n), "drop_remainder", I(1), NULL);
}

// Batches of images whose bytes count up, with the images' numbers if asked for.
static struct stk_dataset *images(int64_t batches, struct image m, bool has_numbers)
{
    struct stk_dataset *ds = cast_to_bytes(RANGE(batches * count_of(&m)));
    ds = batched(batched(batched(ds, m.c), m.w), m.h);
    if (has_numbers) {
        struct stk_dataset *in[2] = {RANGE(batches * m.n), ds};
        ds = make_with("zip", in, 2, NULL);
    }
    return batched(ds, m.n);
}

static void make_table(float *values, int channels)
{
    float mean[8], std[8];
    for (int c = 0; c < channels; c++) {
        mean[c] = 0.4f + 0.05f * (float)c;
        std[c] = 0.2f + 0.03f * (float)c;
    }
    stoker_byte_table_normalise(values, channels, mean, std, 255);
}

// The same with arithmetic: what the table promises.
static float expected(uint8_t x, int c)
{
    volatile float mean = 0.4f + 0.05f * (float)c, std = 0.2f + 0.03f * (float)c;
    float scale = (float)(1 / (255 * (double)std)), offset = (float)(-(double)mean / (double)std);
    volatile float product = (float)x * scale;
    return product + offset;
}

static void check_values(const float *y, const struct image *m, int64_t batch, bool is_planar,
                         bool has_one_table)
{
    int64_t pixels = m->h * m->w, wrong = 0;
    for (int64_t i = 0; i < count_of(m); i++) {
        int64_t c = i % m->c, pixel = i / m->c, image = pixel / pixels;
        int64_t at = is_planar ? (image * m->c + c) * pixels + pixel % pixels : i;
        float want = expected((uint8_t)(batch * count_of(m) + i), has_one_table ? 0 : (int)c);
        wrong += memcmp(&y[at], &want, sizeof want) != 0;
    }
    CHECK_EQ(wrong, 0);
}

struct how {
    bool is_planar, has_one_table, has_numbers;
    int depth;
    int64_t copy_us;
};

static struct stoker_stager *open_with(struct stk_dataset *ds, const struct image *m,
                                       const struct how *how, struct stoker_err *err)
{
    float values[8 * 256];
    int channels = how->has_one_table ? 1 : (int)m->c;
    struct stoker_byte_table table = {how->has_numbers, channels, how->is_planar, values};
    struct stoker_run_options o = {.threads = 2};
    struct stoker_stager *s = NULL;
    make_table(values, channels);
    (void)stoker_stager_open_tables((struct stoker_dataset *)ds, &o, 1, how->depth, &table, 1, &s,
                                    err);
    memset(values, 0, sizeof values); // borrowed by the call only
    return s;
}

// Every batch is right, whether read when it comes or, each other one, after the end.
static void staging(int64_t batches, struct image m, struct how how)
{
    reset();
    delay(how.copy_us);
    struct stk_dataset *ds = images(batches, m, how.has_numbers);
    struct stoker_err err;
    struct stoker_stager *s = open_with(ds, &m, &how, &err);
    struct stoker_device_batch *kept[64] = {0};
    struct stoker_stager_stats stats;
    struct stoker_tensor t[2] = {{0}}, *x = &t[how.has_numbers];
    void *data[64];
    size_t size = (size_t)count_of(&m) * sizeof(float);
    float *y = malloc(size + 1);
    int is_end = 0;
    CHECK(s != NULL && batches <= 64);
    for (int64_t i = 0; s && i < batches; i++) {
        struct stoker_device_batch *b = NULL;
        CHECK(stoker_stager_next(s, t, 1 + how.has_numbers, &b, &is_end, &err) == STOKER_OK);
        CHECK(!is_end && x->dtype == STOKER_FLOAT32 && x->rank == 4 && x->dim[0] == m.n);
        CHECK_EQ(x->dim[1], how.is_planar ? m.c : m.h);
        CHECK_EQ(x->dim[2], how.is_planar ? m.h : m.w);
        CHECK_EQ(x->dim[3], how.is_planar ? m.w : m.c);
        data[i] = x->data;
        if (how.has_numbers) {
            int64_t number = -1;
            CHECK(stoker_device_batch_read(b, t[0].data, &number, 8, &err) == STOKER_OK);
            CHECK_EQ(number, i * m.n);
        }
        if (i % 2) {
            kept[i] = b;
            continue;
        }
        CHECK(stoker_device_batch_read(b, data[i], y, size, &err) == STOKER_OK);
        check_values(y, &m, i, how.is_planar, how.has_one_table);
        stoker_device_batch_free(b);
    }
    stoker_stager_stats(s, &stats);
    CHECK_EQ(stats.launches, batches);
    CHECK_EQ(stats.elements, batches);
    int64_t bytes = count_of(&m) + (how.has_numbers ? m.n * 8 : 0);
    CHECK((int64_t)stats.copied_bytes >= batches * bytes); // bytes crossed, not floats
    CHECK((int64_t)stats.copied_bytes <= batches * (bytes + 512));
    CHECK_EQ(stats.direct_bytes, count_of(&m) >= 65536 ? batches * count_of(&m) : 0);
    stoker_stager_free(s);
    for (int64_t i = 1; i < batches; i += 2) {
        CHECK(stoker_device_batch_read(kept[i], data[i], y, size, &err) == STOKER_OK);
        check_values(y, &m, i, how.is_planar, how.has_one_table);
        stoker_device_batch_free(kept[i]);
    }
    free(y);
    stk_dataset_drop(ds);
    check_clean("staging");
}

// A consumer whose kernels still read a batch when it lets go: its memory is not written before.
static void computing(void)
{
    struct image m = {4, 8, 8, 3};
    struct how how = {.depth = 2};
    reset();
    delay(200);
    struct stk_dataset *ds = images(30, m, false);
    struct stoker_err err;
    struct stoker_stager *s = open_with(ds, &m, &how, &err);
    void *stream = consumer_stream(1);
    uint64_t sums[30], want[30];
    float *y = malloc((size_t)count_of(&m) * sizeof(float));
    for (int64_t i = 0; i < 30; i++) {
        struct stoker_device_batch *b;
        struct stoker_tensor t;
        int is_end;
        size_t size = (size_t)count_of(&m) * sizeof(float);
        CHECK(stoker_stager_next(s, &t, 1, &b, &is_end, &err) == STOKER_OK && !is_end);
        CHECK(stoker_device_batch_await(b, stream, &err) == STOKER_OK);
        CHECK(kernel(stream, (uint64_t)(uintptr_t)t.data, size, 700, &sums[i]) == 0);
        stoker_device_batch_free(b);
        want[i] = 0;
        for (int64_t k = 0; k < count_of(&m); k++) {
            y[k] = expected((uint8_t)(i * count_of(&m) + k), (int)(k % m.c));
        }
        for (size_t k = 0; k < size; k++) {
            want[i] += ((unsigned char *)y)[k];
        }
    }
    stoker_stager_free(s);
    consumer_wait(stream);
    for (int i = 0; i < 30; i++) {
        CHECK_EQ(sums[i], want[i]);
    }
    free(y);
    stk_dataset_drop(ds);
    check_clean("computing");
}

static void refused(struct stk_dataset *ds, const struct stoker_byte_table *t, int n,
                    const char *word)
{
    struct stoker_stager *s = NULL;
    struct stoker_err err = {0};
    CHECK(stoker_stager_open_tables((struct stoker_dataset *)ds, NULL, 0, 2, t, n, &s, &err) ==
          STOKER_EINVAL);
    if (!strstr(err.message, word)) {
        fprintf(stderr, "%s: %s\n", word, err.message);
    }
    CHECK(!s && strstr(err.message, word) != NULL);
}

static void refusing(void)
{
    struct image m = {2, 2, 2, 3};
    float values[3 * 256];
    make_table(values, 3);
    struct stk_dataset *ds = images(1, m, true), *row = cast_to_bytes(RANGE(3));
    reset();
    refused(ds, &(struct stoker_byte_table){2, 3, 0, values}, 1, "no component 2");
    refused(ds, &(struct stoker_byte_table){-1, 3, 0, values}, 1, "no component -1");
    refused(ds, &(struct stoker_byte_table){1, 3, 0, NULL}, 1, "without values");
    refused(ds, &(struct stoker_byte_table){0, 1, 0, values}, 1, "int64");
    refused(ds, &(struct stoker_byte_table){1, 4, 0, values}, 1, "3 channels");
    refused(ds, &(struct stoker_byte_table){1, 0, 0, values}, 1, "1 to 65536");
    refused(ds, &(struct stoker_byte_table){1, 70000, 0, values}, 1, "1 to 65536");
    refused(row, &(struct stoker_byte_table){0, 3, 0, values}, 1, "0 channels");
    refused(row, &(struct stoker_byte_table){0, 1, 1, values}, 1, "planes");
    struct stoker_byte_table twice[2] = {{1, 3, 0, values}, {1, 3, 0, values}};
    refused(ds, twice, 2, "two tables");
    refused(ds, twice, 3, "3 tables for 2");
    stk_dataset_drop(ds);
    stk_dataset_drop(row);
    check_clean("refusing");
}

// What each of the elements is: '.', or 'x' for an error that names the channels.
static void see(struct stk_dataset *ds, int skips_errors, const char *want, uint64_t skipped)
{
    float values[3 * 256];
    char seen[32] = "";
    size_t n = 0;
    make_table(values, 3);
    struct stoker_byte_table table = {0, 3, 0, values};
    struct stoker_run_options o = {.threads = 1, .skips_errors = skips_errors};
    struct stoker_stager *s = NULL;
    struct stoker_device_batch *b;
    struct stoker_stager_stats stats;
    struct stoker_tensor t;
    struct stoker_err err;
    int is_end = 0;
    reset();
    CHECK(stoker_stager_open_tables((struct stoker_dataset *)ds, &o, 0, 2, &table, 1, &s, &err) ==
          STOKER_OK);
    while (s && n < sizeof seen - 1) {
        enum stoker_status status = stoker_stager_next(s, &t, 1, &b, &is_end, &err);
        if (is_end) {
            break;
        }
        CHECK(status == STOKER_OK || strstr(err.message, "channels") != NULL);
        seen[n++] = status == STOKER_OK ? '.' : 'x';
        seen[n] = 0;
        stoker_device_batch_free(b);
    }
    CHECK_STR(seen, want);
    stoker_stager_stats(s, &stats);
    CHECK_EQ(stats.skipped, skipped);
    stoker_stager_free(s);
    check_clean("elements that do not suit");
}

// Batches without drop_remainder: the last has other channels than the table, here.
static void unsuitable(void)
{
    struct stk_dataset *ds =
        make("batch", cast_to_bytes(RANGE(8)), "batch_size", I(3), "drop_remainder", I(0), NULL);
    see(ds, 0, "..x", 0);
    see(ds, 1, "..", 1);
    stk_dataset_drop(ds);
}

// The n-th call fails: an error or the same values; nothing hangs, leaks or is done wrong. With
// other codes than these the driver ends the stager; memory that is short is asked for again.
static void failing_calls(void)
{
    static const char *const calls[] = {
        "cuModuleLoadDataEx", "cuModuleGetFunction",  "cuLaunchKernel", "cuMemAlloc_v2",
        "cuStreamWaitEvent",  "cuMemcpyHtoDAsync_v2", "cuEventRecord"};
    struct image m = {2, 8, 8, 3};
    struct how how = {.depth = 2, .is_planar = true};
    for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++) {
        for (int nth = 1; nth < 6; nth++) {
            reset();
            fail_call(calls[k], nth, 1, 700);
            struct stk_dataset *ds = images(6, m, false);
            struct stoker_err err;
            struct stoker_stager *s = open_with(ds, &m, &how, &err);
            struct stoker_device_batch *b;
            struct stoker_tensor t;
            int is_end = 0, good = 0, bad = s == NULL;
            CHECK(s || strstr(err.message, "700") != NULL);
            while (s && !is_end && bad < 9) {
                if (stoker_stager_next(s, &t, 1, &b, &is_end, &err) != STOKER_OK) {
                    CHECK(strstr(err.message, "700") != NULL);
                    bad++;
                } else if (!is_end) {
                    good++;
                    stoker_device_batch_free(b);
                }
            }
            CHECK(bad == 1 || (bad == 0 && good == 6));
            stoker_stager_free(s);
            stk_dataset_drop(ds);
            fail_call("", 1, 0, 0);
            struct fake_cuda_counts c;
            count_all(&c);
            CHECK_EQ(c.live_device + c.live_host + c.live_streams, 0);
            CHECK(c.live_modules <= 2); // one of each device, kept
        }
    }
}

// The driver does not take the kernels: it says why, and the next stager tries again. Must be the
// first that asks for kernels of device 0.
static void failing_module(void)
{
    struct image m = {2, 2, 2, 3};
    float values[3 * 256];
    struct stoker_byte_table table = {0, 3, 0, values};
    struct stoker_stager *s = NULL;
    struct stoker_err err;
    make_table(values, 3);
    struct stk_dataset *ds = images(1, m, false);
    for (int i = 0; i < 3; i++) {
        static const char *const calls[] = {"cuModuleLoadDataEx", "cuModuleGetFunction", ""};
        reset();
        fail_call(calls[i], 1, 1, 218);
        enum stoker_status status =
            stoker_stager_open_tables((struct stoker_dataset *)ds, NULL, 0, 2, &table, 1, &s, &err);
        CHECK((status == STOKER_OK) == (i == 2));
        CHECK(i == 2 || strstr(err.message, "218") != NULL);
        stoker_stager_free(i == 2 ? s : NULL);
        check_clean("a module that fails");
    }
    stk_dataset_drop(ds);
}

// Room for what the device holds of two elements and no more: an error, then it goes on.
static void full_device(void)
{
    struct image m = {1, 128, 171, 3}; // 65,664 bytes, and four times as much
    struct how how = {.depth = 1};
    reset();
    limit(3 * 1024 + 5 * 65664 + 4 * 65664 + 4096);
    struct stk_dataset *ds = images(5, m, false);
    struct stoker_err err;
    struct stoker_stager *s = open_with(ds, &m, &how, &err);
    struct stoker_device_batch *b, *kept = NULL;
    struct stoker_tensor t;
    int is_end = 0, errors = 0;
    float *y = malloc((size_t)count_of(&m) * sizeof(float));
    for (int64_t i = 0; s && i < 5;) {
        if (stoker_stager_next(s, &t, 1, &b, &is_end, &err) != STOKER_OK) {
            CHECK(strstr(err.message, "no memory on cuda:1") != NULL);
            stoker_device_batch_free(kept);
            kept = NULL;
            CHECK(++errors < 20);
            continue;
        }
        CHECK(!is_end);
        CHECK(stoker_device_batch_read(b, t.data, y, (size_t)count_of(&m) * 4, &err) == STOKER_OK);
        check_values(y, &m, i++, false, false);
        stoker_device_batch_free(kept);
        kept = b;
    }
    stoker_device_batch_free(kept);
    stoker_stager_free(s);
    free(y);
    stk_dataset_drop(ds);
    check_clean("full device");
}

static void failing_allocations(void)
{
    struct image m = {2, 4, 4, 3};
    struct how how = {.depth = 2};
    for (uint64_t n = 1; n < 140; n++) {
        reset();
        struct stk_dataset *ds = images(4, m, n % 2);
        struct stoker_err err;
        struct stoker_device_batch *b;
        struct stoker_tensor t[2];
        int is_end = 0, good = 0, bad = 0;
        how.has_numbers = n % 2;
        stk_alloc_fail_at(n, 0);
        struct stoker_stager *s = open_with(ds, &m, &how, &err);
        bad += s == NULL;
        while (s && !is_end && bad < 20) {
            if (stoker_stager_next(s, t, 2, &b, &is_end, &err) != STOKER_OK) {
                bad++;
            } else if (!is_end) {
                good++;
                stoker_device_batch_free(b);
            }
        }
        CHECK(bad <= 1 && (bad == 1 || good == 4));
        stoker_stager_free(s);
        stk_alloc_fail_at(0, 0);
        stk_dataset_drop(ds);
        check_clean("failing allocations");
    }
}

// Bytes cast to floats by the last map: the cast is left to the device, unless it is asked not to
// be. fail_at: the allocation that fails; 0: none.
static void leaving(bool is_as_written, uint64_t fail_at)
{
    enum { N = 5, SIZE = 2048 };
    struct stk_dataset *ds = batched(cast_to(cast_to_bytes(RANGE(N * SIZE)), STK_DT_F32), SIZE);
    struct stoker_run_options o = {.threads = 1, .is_as_written = is_as_written};
    struct stoker_stager *s = NULL;
    struct stoker_stager_stats stats;
    struct stoker_device_batch *b;
    struct stoker_tensor t;
    struct stoker_err err;
    float y[SIZE];
    int is_end = 0, good = 0, bad = 0;
    reset();
    stk_alloc_fail_at(fail_at, 0);
    bad += stoker_stager_open((struct stoker_dataset *)ds, &o, 1, 2, &s, &err) != STOKER_OK;
    while (s && !is_end && bad < 9) {
        if (stoker_stager_next(s, &t, 1, &b, &is_end, &err) != STOKER_OK) {
            bad++;
        } else if (!is_end) {
            int64_t wrong = 0;
            CHECK(t.dtype == STOKER_FLOAT32 && t.rank == 1 && t.dim[0] == SIZE);
            CHECK(stoker_device_batch_read(b, t.data, y, sizeof y, &err) == STOKER_OK);
            for (int i = 0; i < SIZE; i++) {
                wrong += y[i] != (float)(uint8_t)(good * SIZE + i);
            }
            CHECK_EQ(wrong, 0);
            good++;
            stoker_device_batch_free(b);
        }
    }
    stk_alloc_fail_at(0, 0);
    CHECK(bad <= 1 && (bad == 1 || good == N));
    if (fail_at == 0) {
        stoker_stager_stats(s, &stats);
        CHECK_EQ(stats.launches, is_as_written ? 0 : N);
        CHECK_EQ(stats.copied_bytes, N * SIZE * (is_as_written ? 4 : 1));
    }
    stoker_stager_free(s);
    stk_dataset_drop(ds);
    check_clean("leaving");
}

static void explaining(void)
{
    struct stk_dataset *ds = batched(cast_to(cast_to_bytes(RANGE(4096)), STK_DT_F32), 2048);
    struct stoker_bytes text;
    struct stoker_err err;
    for (int is_as_written = 0; is_as_written < 2; is_as_written++) {
        struct stoker_run_options o = {.is_as_written = is_as_written};
        CHECK(stoker_stager_explain((struct stoker_dataset *)ds, &o, &text, &err) == STOKER_OK);
        bool is_there = strstr((const char *)text.data, "arithmetic on the device") != NULL;
        CHECK(is_there == !is_as_written);
        stoker_bytes_free(&text);
    }
    for (uint64_t n = 1; n < 150; n++) {
        stk_alloc_fail_at(n, 0);
        enum stoker_status s =
            stoker_stager_explain((struct stoker_dataset *)ds, NULL, &text, &err);
        stk_alloc_fail_at(0, 0);
        CHECK(s == STOKER_OK || s == STOKER_ENOMEM);
        stoker_bytes_free(&text);
    }
    stk_dataset_drop(ds);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    if (!load_fake()) {
        check_skip("the fake driver does not load");
        return check_done("unit.stager_tables");
    }
    CHECK_RUN(refusing);
    CHECK_RUN(failing_module);
    CHECK_RUN(staging, 9, (struct image){2, 5, 7, 3}, (struct how){.depth = 2});
    CHECK_RUN(staging, 9, (struct image){2, 5, 7, 3}, (struct how){.depth = 2, .is_planar = true});
    CHECK_RUN(staging, 6, (struct image){3, 4, 4, 1}, (struct how){.depth = 1, .is_planar = true});
    CHECK_RUN(staging, 6, (struct image){1, 3, 3, 8}, (struct how){.depth = 3, .copy_us = 300});
    CHECK_RUN(staging, 12, (struct image){2, 3, 3, 3},
              (struct how){.depth = 3, .has_numbers = true, .copy_us = 300});
    CHECK_RUN(staging, 12, (struct image){2, 3, 5, 4},
              (struct how){.depth = 2, .has_numbers = true, .is_planar = true});
    CHECK_RUN(staging, 6, (struct image){2, 3, 5, 4},
              (struct how){.depth = 2, .has_one_table = true});
    CHECK_RUN(staging, 6, (struct image){2, 3, 5, 4},
              (struct how){.depth = 2, .has_one_table = true, .is_planar = true});
    CHECK_RUN(staging, 8, (struct image){4, 80, 80, 3}, (struct how){.depth = 2, .copy_us = 100});
    CHECK_RUN(staging, 8, (struct image){4, 80, 80, 3},
              (struct how){.depth = 2, .is_planar = true, .has_numbers = true});
    CHECK_RUN(computing);
    CHECK_RUN(unsuitable);
    CHECK_RUN(full_device);
    CHECK_RUN(failing_calls);
    CHECK_RUN(failing_allocations);
    CHECK_RUN(explaining);
    CHECK_RUN(leaving, false, 0);
    CHECK_RUN(leaving, true, 0);
    for (uint64_t n = 1; n < 200; n++) {
        CHECK_RUN(leaving, false, n);
    }
    return check_done("unit.stager_tables");
}
