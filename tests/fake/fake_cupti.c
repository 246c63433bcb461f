// SPDX-License-Identifier: Apache-2.0
// A CUPTI without a device, over the fake driver: the functions that the capture library calls,
// with records as long as those of the version that FAKE_CUPTI_VERSION says (11.0 to 13.x).
//
// As the real one: buffers are asked for and come back in the thread of the job that fills them or
// in that of a flush; a record is there when its work is done, so not in the order of starts;
// dropped records are counted until the count is read; one subscriber at a time. A flush or a count
// within a callback, or a NULL buffer before version 27, is what crashes it: here they abort.
//
//   FAKE_CUPTI_VERSION=N     what cuptiGetVersion says
//   FAKE_CUPTI_OFFSET=NS     its clock against the monotonic one
//   FAKE_CUPTI_BUSY=N        the first N subscriptions find another tool (39)
//   FAKE_CUPTI_DROP=N        each N-th kernel is dropped
//   FAKE_CUPTI_ZERO=N        each N-th kernel has no time
//   FAKE_CUPTI_LATE=NS       records come so long after the work was done
//   FAKE_CUPTI_RESET=1       correlation ids restart with each subscription
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake/fake_gpu.h"

enum { MAX_LIMIT = 12, NOT_INITIALIZED = 15, INVALID_KIND = 21, OTHER = 39 };
enum { DRIVER = 4, RUNTIME = 5, OVERHEAD = 17, MEMCPY2 = 22, KINDS = 64, CALLS = 1024 };
enum { PENDING = 1 << 16, RECORD = 256 };

// Lengths of records by the version from which on they are so.
static const struct layout {
    uint32_t version, kernel, memcpy_, memset_, memcpy2, sync, overhead;
} layouts[] = {{130100, 224, 96, 88, 96, 56, 56}, {130001, 216, 96, 88, 96, 56, 56},
               {26, 208, 96, 88, 96, 56, 56},     {18, 208, 88, 88, 96, 40, 48},
               {17, 200, 88, 88, 96, 40, 40},     {16, 176, 88, 88, 96, 40, 40},
               {14, 168, 80, 80, 80, 40, 40},     {0, 160, 72, 72, 80, 40, 40}};

typedef void request_fn(uint8_t **buffer, size_t *size, size_t *records);
typedef void complete_fn(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                         size_t valid);

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; // recursive by `depth` alone: never taken twice
static uint32_t version, size_of[KINDS];
static int64_t offset_ns;
static uint64_t late_ns, drop_each, zero_each, kernels;
static int busy_left, is_subscribed, is_known;
static unsigned char on[KINDS], calls_on[3][CALLS];
static request_fn *request;
static complete_fn *complete;
static uint8_t *buffer;
static size_t buffer_size, used, dropped;
static _Thread_local int in_callback;

static struct pending {
    uint64_t ready_ns;
    uint32_t size;
    uint8_t record[RECORD];
} *pending;
static size_t pending_count;

static uint64_t number_of(const char *name)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : 0;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void know(void)
{
    if (is_known) {
        return;
    }
    is_known = 1;
    version = getenv("FAKE_CUPTI_VERSION") ? (uint32_t)number_of("FAKE_CUPTI_VERSION") : 130001;
    offset_ns = getenv("FAKE_CUPTI_OFFSET") ? strtoll(getenv("FAKE_CUPTI_OFFSET"), NULL, 10)
                                            : INT64_C(1700000000000000000);
    late_ns = number_of("FAKE_CUPTI_LATE");
    drop_each = number_of("FAKE_CUPTI_DROP");
    zero_each = number_of("FAKE_CUPTI_ZERO");
    busy_left = (int)number_of("FAKE_CUPTI_BUSY");
    const struct layout *l = layouts;
    while (l->version > version) {
        l++;
    }
    size_of[FAKE_KERNEL] = l->kernel;
    size_of[FAKE_MEMCPY] = l->memcpy_;
    size_of[FAKE_MEMSET] = l->memset_;
    size_of[MEMCPY2] = l->memcpy2;
    size_of[FAKE_SYNC] = l->sync;
    size_of[OVERHEAD] = l->overhead;
    size_of[DRIVER] = size_of[RUNTIME] = 40;
    pending = malloc(PENDING * sizeof *pending);
}

// ---- buffers; the caller holds the lock, callbacks run under it as under CUPTI's own ----

static void give_back(void)
{
    if (buffer) {
        in_callback++;
        complete(NULL, 0, buffer, buffer_size, used);
        in_callback--;
    }
    buffer = NULL;
}

static void append(const uint8_t *record, uint32_t size)
{
    if (buffer && used + size > buffer_size) {
        give_back();
    }
    if (!buffer) {
        size_t records = 0;
        in_callback++;
        request(&buffer, &buffer_size, &records);
        in_callback--;
        used = 0;
        if (!buffer && version < 27) {
            fprintf(stderr, "fake CUPTI: a NULL buffer crashes version %u\n", version);
            abort();
        }
    }
    if (!buffer) {
        dropped++;
        return;
    }
    memcpy(buffer + used, record, size);
    used += size;
}

// What is ready goes to the buffer, the latest first, so that it is never in order.
static void move_ready(int all)
{
    uint64_t now = now_ns();
    size_t kept = 0;
    for (size_t i = pending_count; i-- > 0;) {
        struct pending *p = &pending[i];
        uint32_t kind;
        memcpy(&kind, p->record, sizeof kind);
        if (all && kind == FAKE_KERNEL && p->ready_ns - late_ns > now) {
            memset(p->record + 24, 0, 8); // it still runs: no end
        }
        if (all || p->ready_ns <= now) {
            append(p->record, p->size);
            p->size = 0;
        }
    }
    for (size_t i = 0; i < pending_count; i++) {
        if (pending[i].size) {
            pending[kept++] = pending[i];
        }
    }
    pending_count = kept;
}

static void put(const uint8_t *record, uint32_t size, uint64_t ready_ns)
{
    if (pending_count == PENDING) {
        move_ready(0);
    }
    if (pending_count == PENDING) {
        dropped++;
        return;
    }
    struct pending *p = &pending[pending_count++];
    p->size = size;
    p->ready_ns = ready_ns + late_ns;
    memcpy(p->record, record, size);
    if (pending_count % 512 == 0) {
        move_ready(0);
    }
}

static void set32(uint8_t *r, size_t at, uint32_t value)
{
    memcpy(r + at, &value, sizeof value);
}

static void set64(uint8_t *r, size_t at, uint64_t value)
{
    memcpy(r + at, &value, sizeof value);
}

static uint64_t source_ns(uint64_t mono_ns)
{
    return (uint64_t)((int64_t)mono_ns + offset_ns);
}

// ---- what the driver tells ----

static int takes_call(int domain, uint32_t cbid)
{
    return __atomic_load_n(&on[domain == FAKE_RUNTIME ? RUNTIME : DRIVER], __ATOMIC_RELAXED) &&
           __atomic_load_n(&calls_on[domain][cbid], __ATOMIC_RELAXED);
}

static void take_call(const struct fake_call *c)
{
    uint8_t r[RECORD] = {0};
    set32(r, 0, c->domain == FAKE_RUNTIME ? RUNTIME : DRIVER);
    set32(r, 4, c->cbid);
    set64(r, 8, source_ns(c->start_ns));
    set64(r, 16, source_ns(c->end_ns));
    set32(r, 28, c->thread);
    set32(r, 32, c->correlation);
    pthread_mutex_lock(&lock);
    put(r, 40, c->end_ns);
    pthread_mutex_unlock(&lock);
}

static int takes_work(int kind)
{
    return __atomic_load_n(&on[kind], __ATOMIC_RELAXED);
}

static void kernel_record(uint8_t *r, const struct fake_work *w)
{
    uint16_t registers = (uint16_t)w->registers;
    memcpy(r + 6, &registers, sizeof registers);
    int has_time = !zero_each || kernels % zero_each != 0;
    set64(r, 16, has_time ? source_ns(w->start_ns) : 0);
    set64(r, 24, has_time ? source_ns(w->end_ns) : 0);
    set32(r, 40, w->device);
    set32(r, 44, 1);
    set32(r, 48, w->stream);
    for (size_t i = 0; i < 3; i++) {
        set32(r, 52 + 4 * i, w->grid[i]);
        set32(r, 64 + 4 * i, w->block[i]);
    }
    set32(r, 80, w->shared_bytes);
    set32(r, 92, w->correlation);
    memcpy(r + 104, &w->name, sizeof w->name);
    if (size_of[FAKE_KERNEL] >= 168) {
        set64(r, 144, w->in_graph ? 77 : 0);
    }
    if (size_of[FAKE_KERNEL] >= 176) {
        set32(r, 156, w->in_graph);
    }
}

static void take_work(const struct fake_work *w)
{
    uint8_t r[RECORD];
    memset(r, 0xee, sizeof r); // what is read beyond a version's record shows
    memset(r, 0, size_of[w->kind]);
    pthread_mutex_lock(&lock);
    set32(r, 0, (uint32_t)w->kind);
    if (w->kind == FAKE_KERNEL) {
        kernels++;
        if (drop_each && kernels % drop_each == 0) {
            dropped++;
            pthread_mutex_unlock(&lock);
            return;
        }
        kernel_record(r, w);
    } else if (w->kind == FAKE_SYNC) {
        set32(r, 4, w->sync_type);
        set64(r, 8, source_ns(w->start_ns));
        set64(r, 16, source_ns(w->end_ns));
        set32(r, 24, w->correlation);
        set32(r, 32, w->stream);
    } else {
        r[4] = w->direction;
        r[5] = w->from;
        r[6] = w->to;
        r[7] = w->flags;
        set64(r, 8, w->bytes);
        set64(r, 16, source_ns(w->start_ns));
        set64(r, 24, source_ns(w->end_ns));
        set32(r, 32, w->device);
        set32(r, 40, w->stream);
        set32(r, 44, w->correlation);
        if (w->kind == FAKE_MEMSET) {
            uint16_t memory = w->to;
            memcpy(r + 50, &memory, sizeof memory);
        }
    }
    put(r, size_of[w->kind], w->end_ns);
    pthread_mutex_unlock(&lock);
}

static const struct fake_sink sink = {takes_call, take_call, takes_work, take_work};

// ---- CUPTI ----

int cuptiGetVersion(uint32_t *out);
int cuptiGetTimestamp(uint64_t *ns);
int cuptiSubscribe(void **subscriber, void *callback, void *arg);
int cuptiUnsubscribe(void *subscriber);
int cuptiActivityRegisterCallbacks(request_fn *r, complete_fn *c);
int cuptiActivityEnable(uint32_t kind);
int cuptiActivityDisable(uint32_t kind);
int cuptiActivityFlushAll(uint32_t flags);
int cuptiActivityGetNextRecord(uint8_t *b, size_t valid, void **record);
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n);
int cuptiActivitySetAttribute(int attribute, size_t *size, void *value);
int cuptiSetThreadIdType(int type);
int cuptiGetCallbackName(int domain, uint32_t cbid, const char **name);

int cuptiGetVersion(uint32_t *out)
{
    know();
    *out = version;
    return 0;
}

int cuptiGetTimestamp(uint64_t *ns)
{
    know();
    *ns = source_ns(now_ns());
    return 0;
}

static void must_not_be_in_callback(const char *what)
{
    if (in_callback) {
        fprintf(stderr, "fake CUPTI: %s within a callback hangs\n", what);
        abort();
    }
}

int cuptiSubscribe(void **subscriber, void *callback, void *arg)
{
    (void)callback;
    (void)arg;
    know();
    pthread_mutex_lock(&lock);
    int result = is_subscribed || busy_left > 0 ? OTHER : 0;
    busy_left -= busy_left > 0;
    is_subscribed = is_subscribed || !result;
    pthread_mutex_unlock(&lock);
    *subscriber = result ? NULL : &lock;
    if (!result) {
        fake_gpu_attach(&sink);
    }
    return result;
}

int cuptiUnsubscribe(void *subscriber)
{
    int result = subscriber == &lock && is_subscribed ? 0 : 1;
    if (!result) {
        fake_gpu_attach(NULL);
    }
    is_subscribed = 0;
    return result;
}

int cuptiActivityRegisterCallbacks(request_fn *r, complete_fn *c)
{
    request = r;
    complete = c;
    return 0;
}

static int set_kind(uint32_t kind, unsigned char value)
{
    if (kind >= KINDS || !size_of[kind]) {
        return INVALID_KIND;
    }
    __atomic_store_n(&on[kind], value, __ATOMIC_RELAXED);
    return 0;
}

// Switching a kind of calls on forgets which of them were switched off.
int cuptiActivityEnable(uint32_t kind)
{
    int domain = kind == DRIVER ? FAKE_DRIVER : kind == RUNTIME ? FAKE_RUNTIME : 0;
    for (uint32_t cbid = 0; domain && cbid < CALLS; cbid++) {
        __atomic_store_n(&calls_on[domain][cbid], 1, __ATOMIC_RELAXED);
    }
    return set_kind(kind, 1);
}

int cuptiActivityDisable(uint32_t kind)
{
    return set_kind(kind, 0);
}

int cuptiActivityFlushAll(uint32_t flags)
{
    must_not_be_in_callback("a flush");
    pthread_mutex_lock(&lock);
    if (pending_count) {
        move_ready(flags & 1);
    }
    if (buffer && (used || flags & 1)) {
        give_back();
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

int cuptiActivityGetNextRecord(uint8_t *b, size_t valid, void **record)
{
    know();
    size_t at = 0;
    uint32_t kind;
    if (*record) {
        memcpy(&kind, *record, sizeof kind);
        at = (size_t)((uint8_t *)*record - b) + (kind < KINDS ? size_of[kind] : 0);
    }
    if (at + sizeof kind > valid) {
        return MAX_LIMIT;
    }
    memcpy(&kind, b + at, sizeof kind);
    if (kind == 0 || kind >= KINDS || !size_of[kind]) {
        return INVALID_KIND;
    }
    *record = b + at;
    return 0;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n)
{
    (void)context;
    (void)stream;
    must_not_be_in_callback("a count");
    pthread_mutex_lock(&lock);
    *n = dropped;
    dropped = 0;
    pthread_mutex_unlock(&lock);
    return 0;
}

int cuptiActivitySetAttribute(int attribute, size_t *size, void *value)
{
    return attribute == 2 && *size == sizeof(size_t) && *(size_t *)value ? 0 : 1;
}

int cuptiSetThreadIdType(int type)
{
    return type == 1 ? 0 : 1;
}

int cuptiGetCallbackName(int domain, uint32_t cbid, const char **name)
{
    *name = fake_gpu_call_name(domain, cbid);
    return *name ? 0 : 1;
}

// As on a card: only of a kind that is on.
#ifdef FAKE_SINGLE_CALLS // from CUDA 12.5 on
int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable);
int cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable);

int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable)
{
    __atomic_store_n(&calls_on[FAKE_RUNTIME][cbid % CALLS], enable, __ATOMIC_RELAXED);
    return 0;
}

int cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable)
{
    __atomic_store_n(&calls_on[FAKE_DRIVER][cbid % CALLS], enable, __ATOMIC_RELAXED);
    return 0;
}
#endif
