// SPDX-License-Identifier: Apache-2.0
// Batches on a device, against a fake driver that counts errors that a real one would reject:
// order, values, reuse of slots and memory, consumers that keep, leave early or use their own
// streams, and failures of every call.
#include "data_make.h"
#include "fake/fake_load.h"
#include "stoker/device.h"

#define BIG 16384 // int64: 128 KiB, pinned by the pipeline itself
#define SMALL 100

static struct stk_dataset *batches(int64_t n, int64_t size)
{
    return make("batch", with_op("map", RANGE(n * size), OP_PLUS_ONE, NULL), "batch_size", I(size),
                NULL);
}

static struct stoker_stager *open_stager(struct stk_dataset *ds, int depth)
{
    struct stoker_run_options o = {.threads = 2};
    struct stoker_err err;
    struct stoker_stager *s = NULL;
    enum stoker_status status =
        stoker_stager_open((struct stoker_dataset *)ds, &o, 1, depth, &s, &err);
    if (status != STOKER_OK) {
        fprintf(stderr, "open: %s\n", err.message);
    }
    CHECK(status == STOKER_OK);
    return s;
}

static uint64_t sum_of_batch(int64_t i, int64_t size)
{
    uint64_t sum = 0;
    for (int64_t v = i * size + 1; v <= (i + 1) * size; v++) {
        for (uint64_t rest = (uint64_t)v; rest; rest >>= 8) {
            sum += rest & 255;
        }
    }
    return sum;
}

// A consumer that computes on a stream of its own and lets go while its kernels are still to run.
static void computing(int64_t n, int64_t size, int depth, int64_t copy_us, int64_t kernel_us)
{
    reset();
    delay(copy_us);
    struct stk_dataset *ds = batches(n, size);
    struct stoker_stager *s = open_stager(ds, depth);
    struct stoker_device_batch *b;
    struct stoker_stager_stats stats;
    struct stoker_tensor t;
    struct stoker_err err;
    uint64_t *sums = calloc((size_t)n, sizeof sums[0]);
    void *stream = consumer_stream(1);
    int is_end = 0;
    int64_t at = 0;
    for (;; at++) {
        CHECK(stoker_stager_next(s, &t, 1, &b, &is_end, &err) == STOKER_OK);
        if (is_end) {
            break;
        }
        CHECK(t.dim[0] == size && t.dtype == STOKER_INT64 && !t.is_readonly);
        CHECK(stoker_device_batch_await(b, stream, &err) == STOKER_OK);
        CHECK(kernel(stream, (uint64_t)(uintptr_t)t.data, (size_t)size * 8, kernel_us, &sums[at]) ==
              0);
        stoker_tensor_release(&t);
        stoker_device_batch_free(b);
    }
    CHECK_EQ(at, n);
    CHECK(stoker_stager_next(s, &t, 1, &b, &is_end, &err) == STOKER_OK && is_end); // and stays so
    stoker_stager_stats(s, &stats);
    CHECK_EQ(stats.elements, n);
    CHECK_EQ(stats.copies, n);
    CHECK_EQ(stats.direct_bytes, size == BIG ? stats.copied_bytes : 0);
    CHECK(stats.device_bytes <= (uint64_t)(2 * depth + 6) * ((uint64_t)size * 8 + 1024));
    consumer_wait(stream);
    for (int64_t i = 0; i < n; i++) {
        CHECK_EQ(sums[i], sum_of_batch(i, size));
    }
    stoker_stager_free(s);
    stk_dataset_drop(ds);
    free(sums);
    check_clean("computing");
}

// A consumer that keeps everything, and reads it after the stager is gone.
static void keeping(int64_t n, int64_t size)
{
    reset();
    delay(500);
    struct stk_dataset *ds = batches(n, size);
    struct stoker_stager *s = open_stager(ds, 2);
    struct stoker_device_batch *kept[64];
    const void *data[64];
    struct stoker_tensor t;
    struct stoker_err err;
    int is_end = 0;
    for (int64_t i = 0; i < n; i++) {
        CHECK(stoker_stager_next(s, &t, 1, &kept[i], &is_end, &err) == STOKER_OK && !is_end);
        data[i] = t.data;
        stoker_tensor_release(&t);
    }
    stoker_stager_free(s);
    int64_t *back = malloc((size_t)size * 8);
    for (int64_t i = 0; i < n; i++) {
        CHECK(stoker_device_batch_read(kept[i], data[i], back, (size_t)size * 8, &err) ==
              STOKER_OK);
        CHECK(back[0] == i * size + 1 && back[size - 1] == (i + 1) * size);
        stoker_device_batch_free(kept[i]);
    }
    free(back);
    stk_dataset_drop(ds);
    check_clean("keeping");
}

static void leaving_early(void)
{
    for (int64_t taken = 0; taken < 6; taken++) {
        reset();
        delay(2000);
        struct stk_dataset *ds = batches(1000, taken % 2 ? BIG : SMALL);
        struct stoker_stager *s = open_stager(ds, 3);
        struct stoker_device_batch *b = NULL;
        struct stoker_tensor t;
        struct stoker_err err;
        int is_end = 0;
        for (int64_t i = 0; i < taken; i++) {
            CHECK(stoker_stager_next(s, &t, 1, &b, &is_end, &err) == STOKER_OK && !is_end);
            stoker_tensor_release(&t);
            stoker_device_batch_free(b);
        }
        stoker_stager_free(s);
        stk_dataset_drop(ds);
        check_clean("leaving early");
    }
}

// An element that fails stands in its place; what follows comes.
static void element_errors(void)
{
    reset();
    struct stk_dataset *ds =
        make("batch", with_op("map", RANGE(20), OP_FAIL_7, NULL), "batch_size", I(2), NULL);
    struct stoker_stager *s = open_stager(ds, 2);
    struct stoker_device_batch *b;
    struct stoker_tensor t;
    struct stoker_err err;
    int is_end = 0, good = 0, bad = 0, bad_at = -1;
    while (!is_end) {
        enum stoker_status status = stoker_stager_next(s, &t, 1, &b, &is_end, &err);
        if (status != STOKER_OK) {
            CHECK(status == STOKER_EINVAL && strstr(err.message, "seven") != NULL && !b);
            bad_at = good;
            bad++;
        } else if (!is_end) {
            good++;
            stoker_tensor_release(&t);
            stoker_device_batch_free(b);
        }
    }
    CHECK_EQ(bad, 1);
    CHECK_EQ(bad_at, 3);
    CHECK(good >= 9);
    stoker_stager_free(s);
    stk_dataset_drop(ds);
    check_clean("element errors");
}

// The device is full because the consumer keeps: an error that says so, and nothing is lost.
static void full_device(void)
{
    reset();
    limit(5 * (BIG * 8));
    struct stk_dataset *ds = batches(12, BIG);
    struct stoker_stager *s = open_stager(ds, 2);
    struct stoker_device_batch *kept[12] = {0};
    struct stoker_tensor t;
    struct stoker_err err;
    int is_end = 0, errors = 0, first_kept = 0;
    int64_t back[2];
    for (int64_t i = 0; i < 12;) {
        enum stoker_status status = stoker_stager_next(s, &t, 1, &kept[i], &is_end, &err);
        if (status != STOKER_OK) {
            CHECK(status == STOKER_ELIMIT && strstr(err.message, "no memory on cuda:1") != NULL);
            errors++;
            if (errors % 2 == 0) { // the second time something is released
                stoker_device_batch_free(kept[first_kept]);
                kept[first_kept++] = NULL;
            }
            if (errors > 100) {
                break;
            }
            continue;
        }
        CHECK(!is_end && stoker_device_batch_read(kept[i], t.data, back, 16, &err) == STOKER_OK);
        CHECK_EQ(back[1], i * BIG + 2);
        stoker_tensor_release(&t);
        i++;
    }
    CHECK_EQ(errors, 14); // 7 batches more than fit, two errors each
    CHECK(stoker_stager_next(s, &t, 1, &kept[0], &is_end, &err) == STOKER_OK && is_end);
    for (int i = first_kept; i < 12; i++) {
        stoker_device_batch_free(kept[i]);
    }
    stoker_stager_free(s);
    stk_dataset_drop(ds);
    check_clean("full device");
}

// The n-th call of each entry point fails: an error or the same values, nothing hangs or leaks.
static void failing_calls(void)
{
    static const char *const calls[] = {
        "cuMemAlloc_v2",      "cuMemHostAlloc",    "cuMemcpyHtoDAsync_v2",
        "cuStreamCreate",     "cuEventCreate",     "cuEventRecord",
        "cuEventSynchronize", "cuStreamWaitEvent", "cuStreamSynchronize"};
    for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++) {
        for (int nth = 1; nth < 6; nth++) {
            reset();
            delay(100);
            fail_call(calls[k], nth, 1, 700);
            struct stk_dataset *ds = batches(8, nth % 2 ? SMALL : BIG);
            struct stoker_stager *s = NULL;
            struct stoker_device_batch *b;
            struct stoker_tensor t;
            struct stoker_err err;
            int is_end = 0, good = 0, bad = 0;
            if (stoker_stager_open((struct stoker_dataset *)ds, NULL, 0, 2, &s, &err) !=
                STOKER_OK) {
                CHECK(strstr(err.message, "700") != NULL);
                bad++;
            }
            while (s && !is_end) {
                if (stoker_stager_next(s, &t, 1, &b, &is_end, &err) != STOKER_OK) {
                    CHECK(strstr(err.message, "700") != NULL && ++bad < 3);
                } else if (!is_end) {
                    good++;
                    stoker_tensor_release(&t);
                    stoker_device_batch_free(b);
                }
            }
            CHECK(bad == 1 || good == 8);
            stoker_stager_free(s);
            stk_dataset_drop(ds);
            fail_call("", 1, 0, 0);
            struct fake_cuda_counts c;
            count_all(&c);
            CHECK_EQ(c.live_device + c.live_host + c.live_streams, 0);
        }
    }
}

// Without pinned memory the same values come by ordinary memory.
static void without_pinned(void)
{
    reset();
    fail_call("cuMemHostAlloc", 1, 1000, 2);
    struct stk_dataset *ds = batches(5, BIG);
    struct stoker_stager *s = open_stager(ds, 2);
    struct stoker_device_batch *b;
    struct stoker_stager_stats stats;
    struct stoker_tensor t;
    struct stoker_err err;
    int is_end = 0;
    int64_t back[1];
    for (int64_t i = 0; i < 5; i++) {
        CHECK(stoker_stager_next(s, &t, 1, &b, &is_end, &err) == STOKER_OK && !is_end);
        CHECK(stoker_device_batch_read(b, t.data, back, 8, &err) == STOKER_OK);
        CHECK_EQ(back[0], i * BIG + 1);
        stoker_tensor_release(&t);
        stoker_device_batch_free(b);
    }
    stoker_stager_stats(s, &stats);
    CHECK(stats.unpinned > 0 && stats.direct_bytes == 0);
    stoker_stager_free(s);
    stk_dataset_drop(ds);
    fail_call("", 1, 0, 0);
    check_clean("without pinned memory");
}

// The n-th allocation fails: errors or the same values, nothing hangs, leaks or is done wrong.
static void failing_allocations(void)
{
    for (uint64_t n = 1; n < 120; n++) {
        reset();
        struct stk_dataset *ds = batches(6, n % 2 ? SMALL : BIG);
        struct stoker_run_options o = {.threads = 1};
        struct stoker_stager *s = NULL;
        struct stoker_device_batch *b;
        struct stoker_tensor t;
        struct stoker_err err;
        int is_end = 0, good = 0, bad = 0;
        stk_alloc_fail_at(n, 0);
        if (stoker_stager_open((struct stoker_dataset *)ds, &o, 0, 2, &s, &err) != STOKER_OK) {
            bad++;
        }
        while (s && !is_end && bad < 20) {
            if (stoker_stager_next(s, &t, 1, &b, &is_end, &err) != STOKER_OK) {
                bad++;
            } else if (!is_end) {
                good++;
                stoker_tensor_release(&t);
                stoker_device_batch_free(b);
            }
        }
        CHECK(bad <= 1 && (bad == 1 || good == 6));
        stoker_stager_free(s);
        stk_alloc_fail_at(0, 0);
        stk_dataset_drop(ds);
        check_clean("failing allocations");
    }
}

static void no_device(void)
{
    struct stoker_err err;
    struct stoker_stager *s;
    struct stk_dataset *ds = batches(1, SMALL);
    uint64_t unused = 0, total = 0;
    int n = -1;
    reset();
    CHECK(stoker_device_count(&n, &err) == STOKER_OK && n == 2);
    CHECK(stoker_device_memory(0, &unused, &total, &err) == STOKER_OK && total > 0);
    CHECK(stoker_stager_open((struct stoker_dataset *)ds, NULL, 2, 2, &s, &err) == STOKER_EMISSING);
    CHECK(strstr(err.message, "no device cuda:2") != NULL);
    CHECK(stoker_stager_open((struct stoker_dataset *)ds, NULL, 0, 0, &s, &err) == STOKER_EINVAL);
    CHECK(stoker_stager_open((struct stoker_dataset *)ds, NULL, 0, 65, &s, &err) == STOKER_EINVAL);
    devices(0);
    CHECK(stoker_stager_open((struct stoker_dataset *)ds, NULL, 0, 2, &s, &err) == STOKER_EMISSING);
    devices(2);
    stk_dataset_drop(ds);
    check_clean("no device");
}

static void cancelling(void)
{
    reset();
    struct stk_dataset *ds = with_op("map", RANGE(1000000), OP_SLEEP, NULL);
    struct stoker_stager *s = open_stager(ds, 2);
    struct stoker_device_batch *b;
    struct stoker_tensor t;
    struct stoker_err err;
    int is_end = 0;
    CHECK(stoker_stager_next(s, &t, 1, &b, &is_end, &err) == STOKER_OK);
    stoker_tensor_release(&t);
    stoker_device_batch_free(b);
    stoker_stager_cancel(s);
    int left = 0;
    while (stoker_stager_next(s, &t, 1, &b, &is_end, &err) == STOKER_OK && !is_end && ++left < 9) {
        stoker_tensor_release(&t);
        stoker_device_batch_free(b);
    }
    CHECK(left < 9);
    stoker_stager_free(s);
    stk_dataset_drop(ds);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    if (!load_fake()) {
        check_skip("the fake driver does not load");
        return check_done("unit.stager");
    }
    CHECK_RUN(no_device);
    CHECK_RUN(computing, 40, SMALL, 1, 300, 700);
    CHECK_RUN(computing, 40, BIG, 2, 700, 300);
    CHECK_RUN(computing, 60, BIG, 3, 0, 0);
    CHECK_RUN(computing, 30, SMALL, 64, 100, 100);
    CHECK_RUN(computing, 25, BIG, 2, 100, 3000);
    CHECK_RUN(keeping, 12, BIG);
    CHECK_RUN(keeping, 12, SMALL);
    CHECK_RUN(leaving_early);
    CHECK_RUN(element_errors);
    CHECK_RUN(full_device);
    CHECK_RUN(without_pinned);
    CHECK_RUN(failing_calls);
    CHECK_RUN(failing_allocations);
    CHECK_RUN(cancelling);
    return check_done("unit.stager");
}
