// SPDX-License-Identifier: Apache-2.0
// See device_batch.h. Unused memory is kept in a short list; sizes that fit none of it are
// requested from the driver.
#include "engine/device/device_batch.h"

#include "base/alloc.h"

#define NO_TIMING 2u         // CU_EVENT_DISABLE_TIMING
#define WASTE_MAX 2          // a batch may use memory of at most twice its size
#define GRAIN ((size_t)1024) // sizes are rounded up to this, so that nearly equal ones share memory

struct stk_device_store *stk_device_store_open(const struct stk_cuda_device *d, int most_unused)
{
    struct stk_device_store *s = stk_alloc_zero(1, sizeof *s);
    if (s) {
        s->refs = 1;
        s->device = d;
        s->most_unused = most_unused;
        pthread_mutex_init(&s->lock, NULL);
    }
    return s;
}

void stk_device_store_drop(struct stk_device_store *s)
{
    if (s && __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) == 0) {
        pthread_mutex_destroy(&s->lock);
        stk_free(s);
    }
}

// Frees the batch with its memory and events; the device must not use them. The context is current.
static void destroy(struct stk_device_store *s, struct stoker_device_batch *b)
{
    const struct stk_cuda *c = s->device->cuda;
    for (int i = 0; i < b->n_used; i++) {
        (void)c->event_wait(b->used[i]);
    }
    if (b->needs_wait) {
        (void)c->context_wait();
    }
    (void)c->event_wait(b->copied);
    (void)c->memory_free(b->memory);
    (void)c->event_close(b->copied);
    for (int i = 0; i < STK_BATCH_STREAMS_MAX; i++) {
        if (b->used[i]) {
            (void)c->event_close(b->used[i]);
        }
    }
    pthread_mutex_lock(&s->lock);
    s->bytes -= b->size;
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_destroy(&b->lock);
    stk_free(b);
}

// Takes all unused batches out of the list.
static struct stoker_device_batch *take_all(struct stk_device_store *s)
{
    pthread_mutex_lock(&s->lock);
    struct stoker_device_batch *list = s->unused;
    s->unused = NULL;
    s->n_unused = 0;
    pthread_mutex_unlock(&s->lock);
    return list;
}

static void destroy_all(struct stk_device_store *s, struct stoker_device_batch *list)
{
    while (list) {
        struct stoker_device_batch *next = list->next;
        destroy(s, list);
        list = next;
    }
}

void stk_device_store_close(struct stk_device_store *s)
{
    struct stoker_err ignored;
    pthread_mutex_lock(&s->lock);
    s->is_closed = true;
    pthread_mutex_unlock(&s->lock);
    struct stoker_device_batch *list = take_all(s);
    if (list && stk_cuda_enter(s->device, &ignored) == STOKER_OK) {
        destroy_all(s, list);
        stk_cuda_leave(s->device);
    }
}

// The smallest unused one that is large enough and not much larger.
static struct stoker_device_batch *take_fitting(struct stk_device_store *s, size_t size)
{
    struct stoker_device_batch **best = NULL;
    pthread_mutex_lock(&s->lock);
    for (struct stoker_device_batch **at = &s->unused; *at; at = &(*at)->next) {
        bool fits = (*at)->size >= size && (*at)->size / WASTE_MAX <= size;
        if (fits && (!best || (*at)->size < (*best)->size)) {
            best = at;
        }
    }
    struct stoker_device_batch *b = best ? *best : NULL;
    if (b) {
        *best = b->next;
        s->n_unused--;
    }
    pthread_mutex_unlock(&s->lock);
    return b;
}

static enum stoker_status make(struct stk_device_store *s, size_t size,
                               struct stoker_device_batch **out, struct stoker_err *err)
{
    const struct stk_cuda *c = s->device->cuda;
    struct stoker_device_batch *b = stk_alloc_zero(1, sizeof *b);
    if (!b) {
        return stk_err_nomem(err);
    }
    enum stoker_status k =
        stk_cuda_check(c, c->event_open(&b->copied, NO_TIMING), "cuEventCreate", err);
    if (k != STOKER_OK) {
        stk_free(b);
        return k;
    }
    int failed = c->memory_get(&b->memory, size);
    if (failed == STK_CUDA_OUT_OF_MEMORY) { // free the unused memory of other sizes
        destroy_all(s, take_all(s));
        failed = c->memory_get(&b->memory, size);
    }
    if (failed) {
        size_t unused = 0, total = 0;
        (void)c->memory_info(&unused, &total);
        k = stk_cuda_check(c, failed, "cuMemAlloc", err);
        if (failed == STK_CUDA_OUT_OF_MEMORY) {
            k = stk_err_set(err, STOKER_ELIMIT,
                            "no memory on cuda:%d for a batch of %zu bytes: %zu of %zu are unused, "
                            "%llu are batches of this iterator; keep fewer of them, or make depth "
                            "or the batch smaller",
                            s->device->ordinal, size, unused, total, (unsigned long long)s->bytes);
        }
        (void)c->event_close(b->copied);
        stk_free(b);
        return k;
    }
    b->size = size;
    pthread_mutex_init(&b->lock, NULL);
    pthread_mutex_lock(&s->lock);
    s->bytes += size;
    pthread_mutex_unlock(&s->lock);
    *out = b;
    return STOKER_OK;
}

enum stoker_status stk_device_batch_get(struct stk_device_store *s, size_t size, void *stream,
                                        struct stoker_device_batch **out, struct stoker_err *err)
{
    const struct stk_cuda *c = s->device->cuda;
    size = size > GRAIN ? (size + GRAIN - 1) / GRAIN * GRAIN : GRAIN;
    struct stoker_device_batch *b = take_fitting(s, size);
    enum stoker_status k = b ? STOKER_OK : make(s, size, &b, err);
    for (int i = 0; k == STOKER_OK && i < b->n_used; i++) {
        k = stk_cuda_check(c, c->stream_await(stream, b->used[i], 0), "cuStreamWaitEvent", err);
    }
    if (k == STOKER_OK && b->needs_wait) {
        k = stk_cuda_check(c, c->context_wait(), "cuCtxSynchronize", err);
    }
    if (k != STOKER_OK) {
        if (b) {
            destroy(s, b);
        }
        return k;
    }
    b->n_used = b->n_streams = 0;
    b->needs_wait = false;
    b->refs = 1;
    b->next = NULL;
    b->store = s;
    __atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);
    *out = b;
    return STOKER_OK;
}

struct stoker_device_batch *stoker_device_batch_hold(struct stoker_device_batch *b)
{
    __atomic_add_fetch(&b->refs, 1, __ATOMIC_RELAXED);
    return b;
}

// Records events at the consumer streams' current positions. The context is current.
static void mark_used(struct stoker_device_batch *b)
{
    const struct stk_cuda *c = b->store->device->cuda;
    for (int i = 0; i < b->n_streams; i++) {
        if ((!b->used[i] && c->event_open(&b->used[i], NO_TIMING) != 0) ||
            c->event_record(b->used[i], b->streams[i]) != 0) {
            b->needs_wait = true;
            break;
        }
        b->n_used = i + 1;
    }
}

void stoker_device_batch_free(struct stoker_device_batch *b)
{
    struct stoker_err ignored;
    if (!b || __atomic_sub_fetch(&b->refs, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    struct stk_device_store *s = b->store;
    bool has_device = stk_cuda_enter(s->device, &ignored) == STOKER_OK;
    if (has_device) {
        mark_used(b);
    } else {
        b->needs_wait = true; // at process exit; the driver has freed its memory
    }
    pthread_mutex_lock(&s->lock);
    bool keeps = !s->is_closed && s->n_unused < s->most_unused;
    if (keeps) {
        b->next = s->unused;
        s->unused = b;
        s->n_unused++;
    }
    pthread_mutex_unlock(&s->lock);
    if (has_device) {
        if (!keeps) {
            destroy(s, b);
        }
        stk_cuda_leave(s->device);
    }
    stk_device_store_drop(s);
}

enum stoker_status stoker_device_batch_await(struct stoker_device_batch *b, void *stream,
                                             struct stoker_err *err)
{
    if (!b) {
        return stk_err_misuse(err, "stoker_device_batch_await needs a batch");
    }
    const struct stk_cuda_device *d = b->store->device;
    struct stoker_err own;
    err = stk_err_begin(err, &own);
    enum stoker_status k = stk_cuda_enter(d, err);
    if (k != STOKER_OK) {
        return stk_err_fail(err);
    }
    k = stk_cuda_check(d->cuda, d->cuda->stream_await(stream, b->copied, 0), "cuStreamWaitEvent",
                       err);
    stk_cuda_leave(d);
    if (k != STOKER_OK) {
        return stk_err_fail(err);
    }
    pthread_mutex_lock(&b->lock);
    int i = 0;
    while (i < b->n_streams && b->streams[i] != stream) {
        i++;
    }
    if (i == STK_BATCH_STREAMS_MAX) {
        b->needs_wait = true;
    } else if (i == b->n_streams) {
        b->streams[b->n_streams++] = stream;
    }
    pthread_mutex_unlock(&b->lock);
    return STOKER_OK;
}

enum stoker_status stoker_device_batch_wait(struct stoker_device_batch *b, struct stoker_err *err)
{
    if (!b) {
        return stk_err_misuse(err, "stoker_device_batch_wait needs a batch");
    }
    const struct stk_cuda_device *d = b->store->device;
    struct stoker_err own;
    err = stk_err_begin(err, &own);
    enum stoker_status k = stk_cuda_enter(d, err);
    if (k == STOKER_OK) {
        k = stk_cuda_check(d->cuda, d->cuda->event_wait(b->copied), "cuEventSynchronize", err);
        stk_cuda_leave(d);
    }
    pthread_mutex_lock(&b->lock);
    b->needs_wait = true;
    pthread_mutex_unlock(&b->lock);
    return stk_err_end(err, k);
}

enum stoker_status stoker_device_batch_read(struct stoker_device_batch *b, const void *from,
                                            void *to, size_t size, struct stoker_err *err)
{
    if (!b || (size && (!from || !to))) {
        return stk_err_misuse(err, "stoker_device_batch_read needs a batch and two addresses");
    }
    const struct stk_cuda_device *d = b->store->device;
    struct stoker_err own;
    err = stk_err_begin(err, &own);
    enum stoker_status k = stk_cuda_enter(d, err);
    if (k == STOKER_OK) {
        k = stk_cuda_check(d->cuda, d->cuda->event_wait(b->copied), "cuEventSynchronize", err);
        if (k == STOKER_OK && size) {
            k = stk_cuda_check(d->cuda, d->cuda->copy_out(to, (uint64_t)(uintptr_t)from, size),
                               "cuMemcpyDtoH", err);
        }
        stk_cuda_leave(d);
    }
    return stk_err_end(err, k);
}
