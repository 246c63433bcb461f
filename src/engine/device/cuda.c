// SPDX-License-Identifier: Apache-2.0
// See cuda.h. Loads the driver once per process; failures are retried at the next call.
#include "engine/device/cuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

#define PORTABLE 1u // CU_MEMHOSTALLOC_PORTABLE: pinned for every device's context

static struct { // guarded by lock
    pthread_mutex_t lock;
    bool is_started;
    struct stk_cuda calls;
    struct stk_cuda_device devices[STK_CUDA_DEVICES_MAX];
} driver = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum stoker_status stk_cuda_check(const struct stk_cuda *c, int code, const char *what,
                                  struct stoker_err *err)
{
    const char *name = NULL, *text = NULL;
    if (code == 0) {
        return STOKER_OK;
    }
    (void)c->error_name(code, &name);
    (void)c->error_text(code, &text);
    return stk_err_set(err, code == STK_CUDA_OUT_OF_MEMORY ? STOKER_ELIMIT : STOKER_EINPUT,
                       "%s failed: %s (%d): %s", what, name ? name : "unknown", code,
                       text ? text : "the driver gives no details");
}

// Caller holds the lock. A failure is retried at the next call: a driver may be started later.
static enum stoker_status start(struct stoker_err *err)
{
    if (driver.is_started) {
        return STOKER_OK;
    }
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        return stk_err_set(err, STOKER_EMISSING,
                           "no CUDA driver: libcuda.so.1 is not installed or can't be loaded (%s)",
                           dlerror());
    }
#define FIND(field, symbol, args)                                                                  \
    *(void **)&driver.calls.field = dlsym(library, symbol);                                        \
    if (!driver.calls.field) {                                                                     \
        (void)dlclose(library);                                                                    \
        return stk_err_set(err, STOKER_EMISSING, "the CUDA driver has no %s: update it", symbol);  \
    }
    STK_CUDA_CALLS(FIND)
#undef FIND
    enum stoker_status s = stk_cuda_check(&driver.calls, driver.calls.init(0), "cuInit", err);
    if (s != STOKER_OK) {
        (void)dlclose(library);
        err->code = STOKER_EMISSING;
        return STOKER_EMISSING;
    }
    driver.is_started = true; // the library stays loaded
    return STOKER_OK;
}

enum stoker_status stk_cuda_count(int *n, struct stoker_err *err)
{
    *n = 0;
    pthread_mutex_lock(&driver.lock);
    enum stoker_status s = start(err);
    if (s == STOKER_OK) {
        s = stk_cuda_check(&driver.calls, driver.calls.device_count(n), "cuDeviceGetCount", err);
    }
    pthread_mutex_unlock(&driver.lock);
    return s;
}

enum stoker_status stk_cuda_enter(const struct stk_cuda_device *d, struct stoker_err *err)
{
    return stk_cuda_check(d->cuda, d->cuda->context_push(d->context), "cuCtxPushCurrent", err);
}

void stk_cuda_leave(const struct stk_cuda_device *d)
{
    void *context;
    (void)d->cuda->context_pop(&context);
}

static void *pinned_get(void *arg, size_t size)
{
    const struct stk_cuda_device *d = arg;
    struct stoker_err ignored;
    void *memory = NULL;
    if (stk_cuda_enter(d, &ignored) != STOKER_OK) {
        return NULL;
    }
    int failed = d->cuda->host_get(&memory, size, PORTABLE);
    stk_cuda_leave(d);
    return failed ? NULL : memory;
}

// Fails at process exit if the driver is already gone, with all of its memory.
static void pinned_give(void *arg, void *memory, size_t size)
{
    const struct stk_cuda_device *d = arg;
    struct stoker_err ignored;
    (void)size;
    if (stk_cuda_enter(d, &ignored) == STOKER_OK) {
        (void)d->cuda->host_free(memory);
        stk_cuda_leave(d);
    }
}

// Caller holds the lock.
static enum stoker_status open_device(struct stk_cuda_device *d, int ordinal,
                                      struct stoker_err *err)
{
    const struct stk_cuda *c = &driver.calls;
    int device = 0;
    void *context = NULL;
    enum stoker_status s = stk_cuda_check(c, c->device_get(&device, ordinal), "cuDeviceGet", err);
    if (s == STOKER_OK) {
        s = stk_cuda_check(c, c->context_retain(&context, device), "cuDevicePrimaryCtxRetain", err);
    }
    if (s == STOKER_OK) {
        *d = (struct stk_cuda_device){.cuda = c,
                                      .ordinal = ordinal,
                                      .context = context,
                                      .pinned = {d, pinned_get, pinned_give}};
    }
    return s;
}

enum stoker_status stk_cuda_device(int ordinal, const struct stk_cuda_device **out,
                                   struct stoker_err *err)
{
    int count = 0;
    *out = NULL;
    enum stoker_status s = stk_cuda_count(&count, err);
    if (s != STOKER_OK) {
        return s;
    }
    if (ordinal < 0 || ordinal >= count || ordinal >= STK_CUDA_DEVICES_MAX) {
        return stk_err_set(err, STOKER_EMISSING,
                           "no device cuda:%d: the driver sees %d (see "
                           "CUDA_VISIBLE_DEVICES)",
                           ordinal, count);
    }
    pthread_mutex_lock(&driver.lock);
    struct stk_cuda_device *d = &driver.devices[ordinal];
    if (!d->context) {
        s = open_device(d, ordinal, err);
    }
    pthread_mutex_unlock(&driver.lock);
    if (s == STOKER_OK) {
        *out = d;
    }
    return s;
}
