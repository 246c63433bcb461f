// SPDX-License-Identifier: Apache-2.0
// A CUDA driver without a device, for tests of the staging code: the entry points that it uses,
// over host memory. Each stream is a thread that does its work in order, copies with a delay, so
// that what a real device does behind the host's back happens here too. Addresses of "device
// memory" are no addresses of the process: who reads through one crashes.
//
// Counted as misuse: calls without a context or with objects of another one; freeing or changing
// memory that a copy still reads; freeing memory of the device in use; writing it while a kernel
// reads it, reading it before its copy; unknown and freed objects; kernels that are launched with
// memory too small or not aligned, or with fewer threads than values.
//
// A module is any text with ".visible .entry NAME(" for each of its kernels. What those do that the
// library brings is repeated here, by name (lookups).
#include "fake/fake_cuda.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OBJECTS_MAX 4096
#define DEVICES_MAX 4
#define BASE ((uint64_t)0x7fff << 48) // not canonical: no address of a process
#define INVALID_VALUE 1
#define OUT_OF_MEMORY 2
#define NO_DEVICE 100
#define INVALID_DEVICE 101
#define INVALID_CONTEXT 201
#define INVALID_HANDLE 400
#define NOT_FOUND 500
#define INVALID_PTX 218
#define MODULES_MAX 64

struct op {
    enum { COPY, RECORD, AWAIT, KERNEL, LOOK_UP } kind;
    uint64_t to, sum, version;
    struct lookup {
        bool is_planar;
        uint64_t to, from, table, images, pixels, channels, table_step;
        uint64_t from_version, table_version;
    } lookup;
    const void *from;
    void *taken; // of pageable memory: what it held when the copy was asked for
    size_t size;
    int64_t us;
    struct event *event;
    uint64_t *sum_out;
    struct op *next;
};

struct stream {
    int device;
    bool is_open, is_closing;
    pthread_t thread;
    struct op *first, **last;
    uint64_t pending;
};

struct event {
    int device;
    uint64_t recorded, done; // versions
    bool is_dead;
};

struct memory {
    uint64_t address; // of the device, or of the host
    char *bytes;
    size_t size;
    int device; // -1: pinned host memory
    int reading, writing;
    uint64_t asked, finished; // copies into it, and kernels
    int queued;               // kernels that use it
};

struct module {
    int device; // -1: it is unloaded
    const char *text;
    struct function {
        struct module *module;
        char name[40];
    } functions[4];
};

struct context {
    int device;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of everything below
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct memory memories[OBJECTS_MAX];
static struct context contexts[DEVICES_MAX] = {{0}, {1}, {2}, {3}};
static struct event *events[OBJECTS_MAX]; // all that ever were: use after the end is seen
static struct stream *consumers[OBJECTS_MAX];
static struct module modules[MODULES_MAX];
static int n_modules;
static void *freed_in_use[OBJECTS_MAX];
static int n_events, n_consumers, n_freed_in_use;
static struct stream builtin[DEVICES_MAX][2]; // legacy, per thread
static struct fake_cuda_counts counts;
static char misuse[256];
static int64_t copy_us;
static uint64_t limit_bytes = UINT64_MAX, next_address;
static int n_devices = 2, is_wrong;
static struct {
    char symbol[40];
    int after, times, code;
} failure;
static _Thread_local struct context *stack[16];
static _Thread_local int depth;

__attribute__((format(printf, 1, 2))) static void blame(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (counts.misuses++ == 0) {
        vsnprintf(misuse, sizeof misuse, format, args);
    }
    va_end(args);
}

static void sleep_us(int64_t us)
{
    struct timespec t = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&t, NULL);
}

static uint64_t sum_of(const void *p, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum = sum * 31 + ((const unsigned char *)p)[i];
    }
    return sum;
}

// What is asked to fail does. The caller holds the lock.
static int failing(const char *symbol)
{
    if (strcmp(failure.symbol, symbol) != 0 || failure.times == 0 || --failure.after > 0) {
        return 0;
    }
    failure.times--;
    failure.after = 1;
    return failure.code;
}

#define BEGIN(symbol)                                                                              \
    pthread_mutex_lock(&lock);                                                                     \
    int rc = failing(symbol);                                                                      \
    if (rc == 0 && !current(symbol)) {                                                             \
        rc = INVALID_CONTEXT;                                                                      \
    }
#define END                                                                                        \
    pthread_cond_broadcast(&changed);                                                              \
    pthread_mutex_unlock(&lock);                                                                   \
    return rc

static struct context *current(const char *symbol)
{
    if (depth == 0) {
        blame("%s without a context", symbol);
        return NULL;
    }
    return stack[depth - 1];
}

static struct memory *find(uint64_t address, size_t size)
{
    for (int i = 0; i < OBJECTS_MAX; i++) {
        struct memory *m = &memories[i];
        if (m->bytes && address >= m->address && address + size <= m->address + m->size) {
            return m;
        }
    }
    return NULL;
}

static struct memory *add(size_t size, int device)
{
    for (int i = 0; i < OBJECTS_MAX; i++) {
        struct memory *m = &memories[i];
        void *bytes = NULL;
        if (m->bytes) {
            continue;
        }
        if (posix_memalign(&bytes, 4096, size ? size : 1) != 0) {
            return NULL;
        }
        *m = (struct memory){.bytes = bytes, .size = size ? size : 1, .device = device};
        memset(bytes, 0xdd, size);
        m->address = device < 0 ? (uint64_t)(uintptr_t)bytes : BASE + next_address;
        next_address += (size + 4095) / 4096 * 4096 + 4096;
        return m;
    }
    return NULL;
}

static size_t values_of(const struct lookup *l)
{
    return (size_t)(l->images * l->pixels * l->channels);
}

// Does what the kernels of the library's lookups do. The caller holds the lock, which is released
// meanwhile.
static void look_up(const struct lookup *l)
{
    size_t n = values_of(l);
    struct memory *to = find(l->to, n * sizeof(float)), *from = find(l->from, n);
    struct memory *table = find(l->table, 256 * sizeof(float));
    if (!to || !from || !table) {
        blame("a kernel's memory is gone");
        return;
    }
    if (from->finished < l->from_version || table->finished < l->table_version) {
        blame("a kernel reads before the copy is done");
    }
    if (to->reading) {
        blame("a kernel writes what another one reads");
    }
    from->reading++;
    table->reading++;
    int64_t us = copy_us;
    pthread_mutex_unlock(&lock);
    sleep_us(us);
    const uint8_t *x = (const uint8_t *)from->bytes + (l->from - from->address);
    const char *values = table->bytes + (l->table - table->address);
    float *y = (float *)(void *)(to->bytes + (l->to - to->address));
    for (size_t i = 0; i < n; i++) {
        size_t c = i % l->channels, pixel = i / l->channels, image = pixel / l->pixels;
        size_t at = l->is_planar ? (image * l->channels + c) * l->pixels + pixel % l->pixels : i;
        memcpy(&y[at], values + c * l->table_step + x[i] * sizeof(float), sizeof(float));
        if (is_wrong && i == n - 1) {
            y[at] += 1;
        }
    }
    pthread_mutex_lock(&lock);
    from->reading--;
    table->reading--;
    from->queued--;
    table->queued--;
    to->writing--;
    to->finished++;
}

// One operation of a stream. The caller holds the lock, which is released meanwhile.
static void run_op(struct op *op)
{
    struct memory *to = find(op->to, op->size);
    struct memory *from = find((uint64_t)(uintptr_t)op->from, op->size);
    if (op->kind == AWAIT) {
        while (op->event->done < op->version) {
            pthread_cond_wait(&changed, &lock);
        }
    } else if (op->kind == RECORD) {
        op->event->done = op->version > op->event->done ? op->version : op->event->done;
    } else if (op->kind == COPY && to) {
        if (to->reading) {
            blame("a copy into memory that a kernel reads");
        }
        int64_t us = copy_us;
        pthread_mutex_unlock(&lock);
        sleep_us(us);
        pthread_mutex_lock(&lock);
        const void *source = op->taken ? op->taken : op->from;
        if (sum_of(source, op->size) != op->sum) {
            blame("memory was changed while a copy read it");
        }
        memcpy(to->bytes + (op->to - to->address), source, op->size);
        to->writing--;
        to->finished++;
        if (from) {
            from->reading--;
        }
        free(op->taken);
    } else if (op->kind == KERNEL && to) {
        if (to->finished < op->version) {
            blame("a kernel reads before the copy is done");
        }
        const char *bytes = to->bytes + (op->to - to->address);
        uint64_t before = sum_of(bytes, op->size);
        to->reading++;
        pthread_mutex_unlock(&lock);
        sleep_us(op->us);
        pthread_mutex_lock(&lock);
        to->reading--;
        if (sum_of(bytes, op->size) != before) {
            blame("memory was written while a kernel read it");
        }
        if (op->sum_out) {
            *op->sum_out = 0;
            for (size_t i = 0; i < op->size; i++) {
                *op->sum_out += (unsigned char)bytes[i];
            }
        }
    } else if (op->kind == LOOK_UP) {
        look_up(&op->lookup);
    }
}

static void *stream_main(void *arg)
{
    struct stream *s = arg;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!s->first && !s->is_closing) {
            pthread_cond_wait(&changed, &lock);
        }
        struct op *op = s->first;
        if (!op) {
            break;
        }
        s->first = op->next;
        s->last = s->first ? s->last : &s->first;
        run_op(op);
        free(op);
        s->pending--;
        pthread_cond_broadcast(&changed);
    }
    bool is_orphan = s->is_closing;
    pthread_mutex_unlock(&lock);
    if (is_orphan) {
        free(s);
    }
    return NULL;
}

static void stream_start(struct stream *s, int device)
{
    *s = (struct stream){.device = device, .is_open = true};
    s->last = &s->first;
    pthread_create(&s->thread, NULL, stream_main, s);
    pthread_detach(s->thread);
}

static struct stream *stream_of(void *handle, int device)
{
    uintptr_t number = (uintptr_t)handle;
    if (number <= 2) {
        struct stream *s = &builtin[device][number == 2];
        if (!s->is_open) {
            stream_start(s, device);
        }
        return s;
    }
    return handle;
}

static void put(struct stream *s, struct op op)
{
    struct op *own = malloc(sizeof *own);
    *own = op;
    own->next = NULL;
    *s->last = own;
    s->last = &own->next;
    s->pending++;
}

int cuInit(unsigned flags);
int cuInit(unsigned flags)
{
    (void)flags;
    pthread_mutex_lock(&lock);
    int rc = failing("cuInit");
    pthread_mutex_unlock(&lock);
    return rc ? rc : n_devices == 0 ? NO_DEVICE : 0;
}

int cuGetErrorName(int code, const char **name);
int cuGetErrorName(int code, const char **name)
{
    *name = code == OUT_OF_MEMORY     ? "CUDA_ERROR_OUT_OF_MEMORY"
            : code == NO_DEVICE       ? "CUDA_ERROR_NO_DEVICE"
            : code == INVALID_CONTEXT ? "CUDA_ERROR_INVALID_CONTEXT"
            : code == INVALID_HANDLE  ? "CUDA_ERROR_INVALID_HANDLE"
                                      : "CUDA_ERROR_UNKNOWN";
    return 0;
}

int cuGetErrorString(int code, const char **text);
int cuGetErrorString(int code, const char **text)
{
    *text = code == OUT_OF_MEMORY ? "out of memory" : "an error of the fake driver";
    return 0;
}

int cuDeviceGetCount(int *count);
int cuDeviceGetCount(int *count)
{
    *count = n_devices;
    return 0;
}

int cuDeviceGet(int *device, int ordinal);
int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return ordinal >= 0 && ordinal < n_devices ? 0 : INVALID_DEVICE;
}

int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRetain(void **context, int device)
{
    pthread_mutex_lock(&lock);
    int rc = failing("cuDevicePrimaryCtxRetain");
    pthread_mutex_unlock(&lock);
    *context = &contexts[device];
    return rc;
}

int cuCtxPushCurrent_v2(void *context);
int cuCtxPushCurrent_v2(void *context)
{
    stack[depth++] = context;
    return 0;
}

int cuCtxPopCurrent_v2(void **context);
int cuCtxPopCurrent_v2(void **context)
{
    if (depth == 0) {
        return INVALID_CONTEXT;
    }
    *context = stack[--depth];
    return 0;
}

int cuCtxSynchronize(void);
int cuCtxSynchronize(void)
{
    BEGIN("cuCtxSynchronize")
    for (int i = 0; rc == 0 && i < OBJECTS_MAX; i++) { // all work touches memory
        while (memories[i].bytes && (memories[i].reading || memories[i].writing)) {
            pthread_cond_wait(&changed, &lock);
        }
    }
    END;
}

int cuMemGetInfo_v2(size_t *unused, size_t *total);
int cuMemGetInfo_v2(size_t *unused, size_t *total)
{
    BEGIN("cuMemGetInfo_v2")
    *total = (size_t)(limit_bytes < ((uint64_t)16 << 30) ? limit_bytes : (uint64_t)16 << 30);
    *unused = *total - (size_t)counts.device_bytes;
    END;
}

int cuMemAlloc_v2(uint64_t *memory, size_t size);
int cuMemAlloc_v2(uint64_t *memory, size_t size)
{
    BEGIN("cuMemAlloc_v2")
    if (rc == 0 && counts.device_bytes + size > limit_bytes) {
        rc = OUT_OF_MEMORY;
    }
    struct memory *m = rc == 0 ? add(size, stack[depth - 1]->device) : NULL;
    if (m) {
        *memory = m->address;
        counts.live_device++;
        counts.device_bytes += size;
        if (counts.device_bytes > counts.device_bytes_peak) {
            counts.device_bytes_peak = counts.device_bytes;
        }
    } else {
        rc = rc ? rc : OUT_OF_MEMORY;
    }
    END;
}

static int memory_free(const char *symbol, uint64_t address, bool is_device)
{
    BEGIN(symbol)
    struct memory *m = find(address, 1);
    if (rc == 0 && (!m || m->address != address || (m->device >= 0) != is_device)) {
        blame("%s of what is no such memory", symbol);
        rc = INVALID_VALUE;
    } else if (rc == 0) {
        if (m->reading || m->writing || m->queued) {
            blame("%s of memory in use", symbol);
        }
        counts.live_device -= is_device;
        counts.live_host -= !is_device;
        counts.device_bytes -= is_device ? m->size : 0;
        memset(m->bytes, 0xee, m->size);
        if (!m->reading && !m->writing && !m->queued) {
            free(m->bytes);
        } else {
            freed_in_use[n_freed_in_use++ % OBJECTS_MAX] = m->bytes; // a copy still reads it
        }
        *m = (struct memory){0};
    }
    END;
}

int cuMemFree_v2(uint64_t memory);
int cuMemFree_v2(uint64_t memory)
{
    return memory_free("cuMemFree_v2", memory, true);
}

int cuMemHostAlloc(void **memory, size_t size, unsigned flags);
int cuMemHostAlloc(void **memory, size_t size, unsigned flags)
{
    (void)flags;
    BEGIN("cuMemHostAlloc")
    struct memory *m = rc == 0 ? add(size, -1) : NULL;
    if (m) {
        *memory = m->bytes;
        counts.live_host++;
    } else {
        rc = rc ? rc : OUT_OF_MEMORY;
    }
    END;
}

int cuMemFreeHost(void *memory);
int cuMemFreeHost(void *memory)
{
    return memory_free("cuMemFreeHost", (uint64_t)(uintptr_t)memory, false);
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, void *stream);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, void *stream)
{
    BEGIN("cuMemcpyHtoDAsync_v2")
    if (rc == 0) {
        struct memory *m = find(to, size), *source = find((uint64_t)(uintptr_t)from, size);
        struct stream *s = stream_of(stream, stack[depth - 1]->device);
        if (!m || m->device != stack[depth - 1]->device || s->device != m->device) {
            blame("a copy to what is no memory of this device, or on a stream of another one");
            rc = INVALID_VALUE;
        } else {
            struct op op = {.kind = COPY, .to = to, .from = from, .size = size};
            op.sum = sum_of(from, size);
            if (source) {
                source->reading++;
            } else { // pageable: the driver takes it before it returns
                op.taken = malloc(size);
                memcpy(op.taken, from, size);
            }
            m->writing++;
            m->asked++;
            counts.copies++;
            counts.copied_bytes += size;
            put(s, op);
        }
    }
    END;
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size)
{
    BEGIN("cuMemcpyDtoH_v2")
    struct memory *m = find(from, size);
    if (rc == 0 && !m) {
        blame("a copy from what is no memory of the device");
        rc = INVALID_VALUE;
    }
    if (rc == 0) {
        if (m->writing) {
            blame("a copy to the host before the copy to the device is done");
        }
        memcpy(to, m->bytes + (from - m->address), size);
    }
    END;
}

int cuStreamCreate(void **stream, unsigned flags);
int cuStreamCreate(void **stream, unsigned flags)
{
    (void)flags;
    BEGIN("cuStreamCreate")
    if (rc == 0) {
        struct stream *s = malloc(sizeof *s);
        stream_start(s, stack[depth - 1]->device);
        counts.live_streams++;
        *stream = s;
    }
    END;
}

int cuStreamDestroy_v2(void *stream);
int cuStreamDestroy_v2(void *stream)
{
    BEGIN("cuStreamDestroy_v2")
    if (rc == 0) {
        ((struct stream *)stream)->is_closing = true;
        counts.live_streams--;
    }
    END;
}

int cuStreamWaitEvent(void *stream, void *event, unsigned flags);
int cuStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    (void)flags;
    BEGIN("cuStreamWaitEvent")
    struct event *e = event;
    if (rc == 0 && e->is_dead) {
        blame("waits for an event that was destroyed");
    } else if (rc == 0) {
        put(stream_of(stream, stack[depth - 1]->device),
            (struct op){.kind = AWAIT, .event = e, .version = e->recorded});
    }
    END;
}

int cuStreamSynchronize(void *stream);
int cuStreamSynchronize(void *stream)
{
    BEGIN("cuStreamSynchronize")
    if (rc == 0) {
        struct stream *s = stream_of(stream, stack[depth - 1]->device);
        while (s->pending) {
            pthread_cond_wait(&changed, &lock);
        }
    }
    END;
}

int cuEventCreate(void **event, unsigned flags);
int cuEventCreate(void **event, unsigned flags)
{
    (void)flags;
    BEGIN("cuEventCreate")
    if (rc == 0) {
        struct event *e = events[n_events++ % OBJECTS_MAX] = calloc(1, sizeof *e);
        e->device = stack[depth - 1]->device;
        counts.live_events++;
        *event = e;
    }
    END;
}

int cuEventDestroy_v2(void *event);
int cuEventDestroy_v2(void *event)
{
    BEGIN("cuEventDestroy_v2")
    if (rc == 0) {
        if (((struct event *)event)->is_dead) {
            blame("an event is destroyed twice");
        }
        ((struct event *)event)->is_dead = true;
        counts.live_events--;
    }
    END;
}

int cuEventRecord(void *event, void *stream);
int cuEventRecord(void *event, void *stream)
{
    BEGIN("cuEventRecord")
    struct event *e = event;
    if (rc == 0) {
        struct stream *s = stream_of(stream, stack[depth - 1]->device);
        if (e->is_dead || s->device != e->device) {
            blame("an event of another device, or destroyed");
            rc = INVALID_HANDLE;
        } else {
            put(s, (struct op){.kind = RECORD, .event = e, .version = ++e->recorded});
        }
    }
    END;
}

int cuEventSynchronize(void *event);
int cuEventSynchronize(void *event)
{
    BEGIN("cuEventSynchronize")
    struct event *e = event;
    if (rc == 0 && e->is_dead) {
        blame("waits for an event that was destroyed");
        rc = INVALID_HANDLE;
    }
    while (rc == 0 && e->done < e->recorded) {
        pthread_cond_wait(&changed, &lock);
    }
    END;
}

int cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *options, void **values);
int cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *options, void **values)
{
    BEGIN("cuModuleLoadDataEx")
    for (unsigned i = 0; rc && i < n; i++) {
        if (options[i] == 5) { // where the log of errors goes
            strcpy(values[i], "ptxas of the fake driver");
        }
    }
    const char *text = image;
    if (rc == 0 && (n_modules == MODULES_MAX || strncmp(text, ".version ", 9) != 0)) {
        blame("cuModuleLoadDataEx of what is no PTX, or too often");
        rc = INVALID_PTX;
    } else if (rc == 0) {
        struct module *m = &modules[n_modules++];
        *m = (struct module){.device = stack[depth - 1]->device, .text = text};
        counts.live_modules++;
        *module = m;
    }
    END;
}

int cuModuleUnload(void *module);
int cuModuleUnload(void *module)
{
    BEGIN("cuModuleUnload")
    struct module *m = module;
    if (rc == 0 && m->device < 0) {
        blame("a module is unloaded twice");
    } else if (rc == 0) {
        m->device = -1;
        counts.live_modules--;
    }
    END;
}

int cuModuleGetFunction(void **function, void *module, const char *name);
int cuModuleGetFunction(void **function, void *module, const char *name)
{
    BEGIN("cuModuleGetFunction")
    struct module *m = module;
    char entry[80];
    snprintf(entry, sizeof entry, ".visible .entry %s(", name);
    if (rc == 0 && (m->device < 0 || !strstr(m->text, entry))) {
        blame("no kernel %s in a module", name);
        rc = NOT_FOUND;
    }
    for (int i = 0; rc == 0 && i < 4; i++) {
        struct function *f = &m->functions[i];
        if (!f->module || strcmp(f->name, name) == 0) {
            f->module = m;
            snprintf(f->name, sizeof f->name, "%s", name);
            *function = f;
            break;
        }
    }
    END;
}

// The arguments of a kernel of the library. False: another kernel, or too few threads.
static bool read_lookup(const struct function *f, void **args, uint64_t columns, uint64_t rows,
                        uint64_t threads, struct lookup *l)
{
    *l = (struct lookup){
        .to = *(uint64_t *)args[0], .from = *(uint64_t *)args[1], .table = *(uint64_t *)args[2]};
    uint32_t first = *(uint32_t *)args[3];
    l->channels = *(uint32_t *)args[4];
    if (strcmp(f->name, "stoker_bytes_to_floats") == 0) { // of values in a row
        bool is_aligned = l->from % 4 == 0 && l->to % 16 == 0 && l->table % 4 == 0;
        l->table_step = 256 * sizeof(float);
        l->images = 1;
        l->pixels = first / l->channels;
        if (l->pixels * l->channels != first) { // an incomplete pixel: as many of one channel
            return false;
        }
        return is_aligned && rows == 1 && columns * threads * 4 >= first;
    }
    l->is_planar = true;
    l->pixels = first;
    l->images = rows;
    l->table_step = *(uint32_t *)args[5];
    return strcmp(f->name, "stoker_bytes_to_planes") == 0 && columns * threads >= first &&
           rows <= 65535 && l->to % 4 == 0;
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   void *stream, void **args, void **extra);
int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   void *stream, void **args, void **extra)
{
    BEGIN("cuLaunchKernel")
    struct function *f = function;
    struct lookup l;
    int device = depth ? stack[depth - 1]->device : -1;
    bool is_sane = grid_x > 0 && grid_y > 0 && grid_z == 1 && block_x > 0 && block_x <= 1024 &&
                   block_y == 1 && block_z == 1 && shared_bytes == 0 && !extra;
    if (rc == 0 &&
        (!is_sane || f->module->device != device || stream_of(stream, device)->device != device)) {
        blame("a kernel with a wrong grid, of a module that is unloaded or of another device");
        rc = INVALID_VALUE;
    } else if (rc == 0 && !read_lookup(f, args, grid_x, grid_y, block_x, &l)) {
        blame("%s with arguments that make no sense", f->name);
        rc = INVALID_VALUE;
    }
    if (rc == 0) {
        size_t n = values_of(&l),
               of_table = l.table_step ? (size_t)(l.table_step * l.channels) : 1024;
        struct memory *to = find(l.to, n * sizeof(float)), *from = find(l.from, n);
        struct memory *table = find(l.table, of_table);
        if (!to || !from || !table || to->device != device || from->device != device ||
            table->device != device) {
            blame("%s on what is no memory of this device", f->name);
            rc = INVALID_VALUE;
        } else {
            l.from_version = from->asked;
            l.table_version = table->asked;
            from->queued++;
            table->queued++;
            to->writing++;
            to->asked++;
            counts.launches++;
            put(stream_of(stream, device), (struct op){.kind = LOOK_UP, .lookup = l});
        }
    }
    END;
}

void fake_cuda_reset(void)
{
    pthread_mutex_lock(&lock);
    copy_us = 0;
    limit_bytes = UINT64_MAX;
    n_devices = 2;
    is_wrong = 0;
    failure.times = 0;
    misuse[0] = 0;
    counts.misuses = counts.copies = counts.copied_bytes = counts.launches = 0;
    counts.device_bytes_peak = counts.device_bytes;
    pthread_mutex_unlock(&lock);
}

void fake_cuda_delay(int64_t us)
{
    pthread_mutex_lock(&lock);
    copy_us = us;
    pthread_mutex_unlock(&lock);
}

void fake_cuda_limit(uint64_t device_bytes)
{
    pthread_mutex_lock(&lock);
    limit_bytes = device_bytes;
    pthread_mutex_unlock(&lock);
}

void fake_cuda_wrong(int wrong)
{
    is_wrong = wrong;
}

void fake_cuda_devices(int n)
{
    n_devices = n;
}

void fake_cuda_fail(const char *symbol, int nth, int times, int code)
{
    pthread_mutex_lock(&lock);
    snprintf(failure.symbol, sizeof failure.symbol, "%s", symbol);
    failure.after = nth;
    failure.times = times;
    failure.code = code;
    pthread_mutex_unlock(&lock);
}

void fake_cuda_counts(struct fake_cuda_counts *out)
{
    pthread_mutex_lock(&lock);
    *out = counts;
    pthread_mutex_unlock(&lock);
}

const char *fake_cuda_misuse(void)
{
    return misuse;
}

int fake_cuda_kernel(void *stream, uint64_t memory, size_t size, int64_t us, uint64_t *sum)
{
    pthread_mutex_lock(&lock);
    struct memory *m = find(memory, size);
    int rc = m ? 0 : INVALID_VALUE;
    if (m) {
        put(stream_of(stream, m->device), (struct op){.kind = KERNEL,
                                                      .to = memory,
                                                      .size = size,
                                                      .us = us,
                                                      .sum_out = sum,
                                                      .version = m->asked});
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

void *fake_cuda_stream(int device)
{
    struct stream *s = malloc(sizeof *s);
    pthread_mutex_lock(&lock);
    stream_start(s, device);
    consumers[n_consumers++ % OBJECTS_MAX] = s;
    pthread_mutex_unlock(&lock);
    return s;
}

void fake_cuda_stream_wait(void *stream)
{
    struct stream *s = stream;
    pthread_mutex_lock(&lock);
    while (s->pending) {
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
}
