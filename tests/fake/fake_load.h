// SPDX-License-Identifier: Apache-2.0
// For unit tests: loads the fake CUDA driver, whose file FAKE_CUDA names, and finds its functions.
#ifndef STK_TESTS_FAKE_LOAD_H
#define STK_TESTS_FAKE_LOAD_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "check.h"
#include "fake/fake_cuda.h"

// The fake's functions: it is loaded as the driver, so it is not linked.
static void (*reset)(void);
static void (*delay)(int64_t us);
static void (*limit)(uint64_t bytes);
static void (*devices)(int n);
static void (*fail_call)(const char *symbol, int nth, int times, int code);
static void (*count_all)(struct fake_cuda_counts *out);
static const char *(*first_misuse)(void);
static int (*kernel)(void *stream, uint64_t memory, size_t size, int64_t us, uint64_t *sum);
static void *(*consumer_stream)(int device);
static void (*consumer_wait)(void *stream);

static inline bool load_fake(void)
{
    void *fake = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL); // later loads by name find this one
    if (!fake) {
        return false;
    }
#define FIND(f, name) *(void **)&f = dlsym(fake, name)
    FIND(reset, "fake_cuda_reset");
    FIND(delay, "fake_cuda_delay");
    FIND(limit, "fake_cuda_limit");
    FIND(devices, "fake_cuda_devices");
    FIND(fail_call, "fake_cuda_fail");
    FIND(count_all, "fake_cuda_counts");
    FIND(first_misuse, "fake_cuda_misuse");
    FIND(kernel, "fake_cuda_kernel");
    FIND(consumer_stream, "fake_cuda_stream");
    FIND(consumer_wait, "fake_cuda_stream_wait");
#undef FIND
    return true;
}

// Nothing was done wrong, and nothing is left.
static inline void check_clean(const char *what)
{
    struct fake_cuda_counts c;
    usleep(1000); // streams that were closed end by themselves
    count_all(&c);
    if (c.misuses || c.live_host || c.live_device || c.live_streams || c.live_events) {
        fprintf(stderr, "%s: %s\n", what, first_misuse());
    }
    CHECK_EQ(c.misuses, 0);
    CHECK_EQ(c.live_host, 0);
    CHECK_EQ(c.live_device, 0);
    CHECK_EQ(c.live_streams, 0);
    CHECK_EQ(c.live_events, 0);
}

#endif
