// SPDX-License-Identifier: Apache-2.0
// include/stoker/device.h: a thread that pulls elements, has them copied, and keeps `depth` of them
// in a queue for the consumer.
//
// Each element in flight has a slot: what it holds on the host until its copy is done, and pinned
// room for the values that are not in pinned memory yet. On the device the element is one piece of
// memory: first what came through the slot, in one copy, then the pinned buffers, a copy each. A
// slot is used again when its event has come; with depth + 1 slots that is rarely waited for.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "data/data_api.h"
#include "data/device/device_batch.h"
#include "data/gate.h"

#define NON_BLOCKING 1u // CU_STREAM_NON_BLOCKING: not ordered with the default stream
#define NO_TIMING 2u    // CU_EVENT_DISABLE_TIMING
#define PART_ALIGN ((size_t)256)
#define FAREWELL_NS 5000000000 // then the thread is left to end by itself

struct slot {
    struct stoker_tensor *host; // of the element in flight
    void *room;                 // for what is not pinned
    size_t room_bytes;
    bool room_is_pinned, is_in_flight;
    void *done; // event: the copies are done
};

struct item { // of the queue
    struct stoker_tensor *out;
    struct stoker_device_batch *batch;
    enum stoker_status status;
    bool is_end;
    struct stoker_err err;
};

struct stoker_stager {
    const struct stk_cuda_device *device;
    struct stk_device_store *store;
    struct stoker_dataset *ds;
    struct stoker_iterator *it; // guarded by lock where it is not the thread's own
    void *stream;
    int n, depth, n_slots;
    size_t *at; // of each component: where it lies in the element's memory
    struct slot *slots;
    unsigned forks;
    pthread_mutex_t lock; // of what follows
    pthread_cond_t changed;
    struct item *items;                     // a ring of `depth`
    uint64_t put, taken, asked;             // items; asked: how many the consumer has asked for
    bool is_stopping, has_ended, is_orphan; // orphan: the thread frees it
    struct stoker_stager_stats stats;
};

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

enum stoker_status stoker_device_count(int *n, struct stoker_err *err)
{
    struct stk_err e;
    stk_err_init(&e);
    return stk_cuda_count(n, &e) == STK_OK ? STOKER_OK : stk_data_fail(err, &e);
}

enum stoker_status stoker_device_memory(int device, uint64_t *unused_bytes, uint64_t *total_bytes,
                                        struct stoker_err *err)
{
    const struct stk_cuda_device *d;
    struct stk_err e;
    size_t unused = 0, total = 0;
    stk_err_init(&e);
    enum stk_status s = stk_cuda_device(device, &d, &e);
    if (s == STK_OK) {
        s = stk_cuda_enter(d, &e);
    }
    if (s == STK_OK) {
        s = stk_cuda_check(d->cuda, d->cuda->memory_info(&unused, &total), "cuMemGetInfo", &e);
        stk_cuda_leave(d);
    }
    *unused_bytes = unused;
    *total_bytes = total;
    return s == STK_OK ? STOKER_OK : stk_data_fail(err, &e);
}

enum stoker_status stoker_device_pinned(int device, const struct stoker_memory_source **out,
                                        struct stoker_err *err)
{
    const struct stk_cuda_device *d;
    struct stk_err e;
    stk_err_init(&e);
    *out = NULL;
    if (stk_cuda_device(device, &d, &e) != STK_OK) {
        return stk_data_fail(err, &e);
    }
    *out = &d->pinned;
    return STOKER_OK;
}

static bool is_number(const struct stoker_tensor *t)
{
    return t->dtype != STOKER_STRING && t->dtype != STOKER_DATASET;
}

static size_t tensor_bytes(const struct stoker_tensor *t)
{
    size_t n = stoker_dtype_bytes(t->dtype);
    for (int i = 0; i < t->rank; i++) {
        n *= (size_t)t->dim[i];
    }
    return n;
}

static bool is_pinned(const struct stoker_tensor *t)
{
    return t->hold && ((const struct stk_buf *)t->hold)->is_sourced;
}

static void slot_release(struct stoker_stager *s, struct slot *slot)
{
    for (int i = 0; i < s->n; i++) {
        stoker_tensor_release(&slot->host[i]);
    }
}

// Room in the slot; ordinary memory where there is no pinned.
static enum stk_status slot_reserve(struct stoker_stager *s, struct slot *slot, size_t size,
                                    struct stk_err *err)
{
    const struct stoker_memory_source *pinned = &s->device->pinned;
    if (size <= slot->room_bytes) {
        return STK_OK;
    }
    if (slot->room_is_pinned) {
        pinned->give(pinned->arg, slot->room, slot->room_bytes);
    } else {
        stk_free(slot->room);
    }
    slot->room = pinned->get(pinned->arg, size);
    slot->room_is_pinned = slot->room != NULL;
    if (!slot->room) {
        slot->room = stk_alloc(size);
        pthread_mutex_lock(&s->lock);
        s->stats.unpinned++;
        pthread_mutex_unlock(&s->lock);
    }
    slot->room_bytes = slot->room ? size : 0;
    return slot->room ? STK_OK : stk_err_nomem(err);
}

// Where each component will lie: those for the slot first. Returns the bytes of all.
static size_t lay_out(struct stoker_stager *s, const struct slot *slot, size_t *through_slot)
{
    size_t size = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < s->n; i++) {
            const struct stoker_tensor *t = &slot->host[i];
            if (is_number(t) && is_pinned(t) == (pass == 1)) {
                s->at[i] = size;
                size += (tensor_bytes(t) + PART_ALIGN - 1) / PART_ALIGN * PART_ALIGN;
            }
        }
        *through_slot = pass == 0 ? size : *through_slot;
    }
    return size;
}

static enum stk_status copy_in(struct stoker_stager *s, uint64_t to, const void *from, size_t size,
                               bool is_direct, struct stk_err *err)
{
    const struct stk_cuda *c = s->device->cuda;
    if (size == 0) {
        return STK_OK;
    }
    pthread_mutex_lock(&s->lock);
    s->stats.copies++;
    s->stats.copied_bytes += size;
    s->stats.direct_bytes += is_direct ? size : 0;
    pthread_mutex_unlock(&s->lock);
    return stk_cuda_check(c, c->copy_in(to, from, size, s->stream), "cuMemcpyHtoDAsync", err);
}

// Starts the copies of the slot's element into the batch.
static enum stk_status start_copies(struct stoker_stager *s, struct slot *slot,
                                    struct stoker_device_batch *b, size_t through_slot,
                                    struct stk_err *err)
{
    const struct stk_cuda *c = s->device->cuda;
    enum stk_status k = slot_reserve(s, slot, through_slot, err);
    for (int i = 0; k == STK_OK && i < s->n; i++) {
        const struct stoker_tensor *t = &slot->host[i];
        if (is_number(t) && !is_pinned(t) && tensor_bytes(t)) {
            memcpy((char *)slot->room + s->at[i], t->data, tensor_bytes(t));
        }
    }
    slot->is_in_flight = true; // from here on the device may read what the slot holds
    if (k == STK_OK) {
        k = copy_in(s, b->memory, slot->room, through_slot, false, err);
    }
    for (int i = 0; k == STK_OK && i < s->n; i++) {
        const struct stoker_tensor *t = &slot->host[i];
        if (is_number(t) && is_pinned(t)) {
            k = copy_in(s, b->memory + s->at[i], t->data, tensor_bytes(t), true, err);
        }
    }
    if (k == STK_OK) {
        k = stk_cuda_check(c, c->event_record(b->copied, s->stream), "cuEventRecord", err);
    }
    if (k == STK_OK) {
        k = stk_cuda_check(c, c->event_record(slot->done, s->stream), "cuEventRecord", err);
    }
    if (k != STK_OK) { // some copies may be under way
        (void)c->stream_wait(s->stream);
    }
    return k;
}

// The consumer's view of the slot's element: numbers on the device, strings taken over.
static void fill_item(struct stoker_stager *s, struct item *item, struct slot *slot,
                      struct stoker_device_batch *b)
{
    for (int i = 0; i < s->n; i++) {
        item->out[i] = slot->host[i];
        if (is_number(&slot->host[i])) {
            item->out[i].data = (void *)(uintptr_t)(b->memory + s->at[i]);
            item->out[i].hold = NULL;
            item->out[i].is_readonly = 0;
        } else {
            slot->host[i] = (struct stoker_tensor){0};
        }
    }
    item->batch = b;
}

// The next place of the queue, waited for; NULL: it is stopping. must_be_empty: the consumer has
// seen everything and asks for more.
static struct item *wait_for_place(struct stoker_stager *s, bool must_be_empty)
{
    pthread_mutex_lock(&s->lock);
    uint64_t most = must_be_empty ? 0 : (uint64_t)s->depth - 1;
    while (!s->is_stopping &&
           (s->put - s->taken > most || (must_be_empty && s->asked <= s->taken))) {
        pthread_cond_wait(&s->changed, &s->lock);
    }
    struct item *item = s->is_stopping ? NULL : &s->items[s->put % (uint64_t)s->depth];
    pthread_mutex_unlock(&s->lock);
    return item;
}

static void put_item(struct stoker_stager *s)
{
    pthread_mutex_lock(&s->lock);
    s->put++;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static enum stk_status wait_for_slot(struct stoker_stager *s, struct slot *slot,
                                     struct stk_err *err)
{
    const struct stk_cuda *c = s->device->cuda;
    if (!slot->is_in_flight) {
        return STK_OK;
    }
    int64_t start = now_ns();
    enum stk_status k = stk_cuda_check(c, c->event_wait(slot->done), "a copy to the device", err);
    pthread_mutex_lock(&s->lock);
    s->stats.slot_ns += (uint64_t)(now_ns() - start);
    pthread_mutex_unlock(&s->lock);
    slot->is_in_flight = false;
    slot_release(s, slot);
    return k;
}

static void put_error(struct stoker_stager *s, struct item *item, struct stk_err *e)
{
    if (item) {
        stk_err_while(e, "staging for cuda:%d", s->device->ordinal);
        item->status = stk_data_fail(&item->err, e);
        put_item(s);
    }
}

// Has the slot's element copied and puts it into the queue. False: that is the end.
static bool stage(struct stoker_stager *s, struct item *item, struct slot *slot)
{
    struct stoker_device_batch *b = NULL;
    struct stk_err e;
    size_t through_slot = 0, size = lay_out(s, slot, &through_slot);
    stk_err_init(&e);
    for (bool has_waited = false;
         stk_device_batch_get(s->store, size, s->stream, &b, &e) == STK_ELIMIT; has_waited = true) {
        // The consumer may let batches go until it asks again; the element waits meanwhile.
        if (has_waited) {
            put_error(s, item, &e);
        }
        item = wait_for_place(s, true);
        if (!item) {
            slot_release(s, slot);
            return false;
        }
        *item = (struct item){.out = item->out};
        stk_err_init(&e);
    }
    if (b && start_copies(s, slot, b, through_slot, &e) == STK_OK) {
        fill_item(s, item, slot, b);
        put_item(s);
        return true;
    }
    slot->is_in_flight = false;
    slot_release(s, slot);
    stoker_device_batch_free(b);
    put_error(s, item, &e);
    return false;
}

// Pulls one element and stages it. False: that was the end.
static bool step(struct stoker_stager *s, struct slot *slot)
{
    struct stk_err e;
    stk_err_init(&e);
    struct item *item = wait_for_place(s, false);
    if (!item) {
        return false;
    }
    *item = (struct item){.out = item->out};
    if (wait_for_slot(s, slot, &e) != STK_OK) {
        put_error(s, item, &e);
        return false;
    }
    int is_end = 0;
    item->status = stoker_iterator_next(s->it, slot->host, s->n, &is_end, &item->err);
    if (item->status != STOKER_OK || is_end) {
        item->is_end = item->status == STOKER_OK;
        enum stoker_status status = item->status;
        put_item(s); // the item is the consumer's from here on
        return !is_end && status != STOKER_EINTR;
    }
    return stage(s, item, slot);
}

static void slots_free(struct stoker_stager *s)
{
    const struct stoker_memory_source *pinned = &s->device->pinned;
    for (int i = 0; s->slots && i < s->n_slots; i++) {
        struct slot *slot = &s->slots[i];
        if (slot->host) {
            slot_release(s, slot);
        }
        if (slot->room_is_pinned) {
            pinned->give(pinned->arg, slot->room, slot->room_bytes);
        } else {
            stk_free(slot->room);
        }
        if (slot->done) {
            (void)s->device->cuda->event_close(slot->done);
        }
        stk_free(slot->host);
    }
    stk_free(s->slots);
    s->slots = NULL;
}

// When its thread has ended.
static void stager_destroy(struct stoker_stager *s)
{
    for (; s->taken < s->put; s->taken++) {
        struct item *item = &s->items[s->taken % (uint64_t)s->depth];
        for (int i = 0; item->batch && i < s->n; i++) {
            stoker_tensor_release(&item->out[i]);
        }
        stoker_device_batch_free(item->batch);
    }
    for (int i = 0; s->items && i < s->depth; i++) {
        stk_free(s->items[i].out);
    }
    if (s->store) {
        stk_device_store_close(s->store);
    }
    stk_device_store_drop(s->store);
    stoker_dataset_free(s->ds);
    stk_free(s->items);
    stk_free(s->at);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    stk_free(s);
}

// Ends what the thread owns: the pipeline, then the copies under way and their slots.
static void wind_up(struct stoker_stager *s, bool has_context)
{
    pthread_mutex_lock(&s->lock);
    struct stoker_iterator *it = s->it;
    s->it = NULL;
    pthread_mutex_unlock(&s->lock);
    stoker_iterator_free(it);
    if (s->stream) {
        (void)s->device->cuda->stream_wait(s->stream);
    }
    slots_free(s);
    if (s->stream) {
        (void)s->device->cuda->stream_close(s->stream);
    }
    if (has_context) {
        stk_cuda_leave(s->device);
    }
}

static void *stager_main(void *arg)
{
    struct stoker_stager *s = arg;
    struct stk_err e;
    bool has_context = stk_cuda_enter(s->device, &e) == STK_OK;
    for (int i = 0; has_context && step(s, &s->slots[i]); i = (i + 1) % s->n_slots) {
    }
    wind_up(s, has_context);
    pthread_mutex_lock(&s->lock);
    s->has_ended = true;
    bool is_orphan = s->is_orphan;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (is_orphan) {
        stager_destroy(s);
    }
    return NULL;
}

static enum stk_status make_slots(struct stoker_stager *s, struct stk_err *err)
{
    const struct stk_cuda *c = s->device->cuda;
    s->slots = stk_alloc_zero((size_t)s->n_slots, sizeof s->slots[0]);
    s->items = stk_alloc_zero((size_t)s->depth, sizeof s->items[0]);
    s->at = stk_alloc_zero((size_t)s->n + 1, sizeof s->at[0]);
    s->store = stk_device_store_open(s->device, s->depth + 2);
    bool ok = s->slots && s->items && s->at && s->store;
    for (int i = 0; ok && i < s->depth; i++) {
        s->items[i].out = stk_alloc_zero((size_t)s->n + 1, sizeof s->items[i].out[0]);
        ok = s->items[i].out != NULL;
    }
    for (int i = 0; ok && i < s->n_slots; i++) {
        s->slots[i].host = stk_alloc_zero((size_t)s->n + 1, sizeof s->slots[i].host[0]);
        ok = s->slots[i].host != NULL;
    }
    enum stk_status k = ok ? STK_OK : stk_err_nomem(err);
    for (int i = 0; k == STK_OK && i < s->n_slots; i++) {
        k = stk_cuda_check(c, c->event_open(&s->slots[i].done, NO_TIMING), "cuEventCreate", err);
    }
    if (k == STK_OK) {
        k = stk_cuda_check(c, c->stream_open(&s->stream, NON_BLOCKING), "cuStreamCreate", err);
    }
    return k;
}

static enum stk_status start_thread(struct stoker_stager *s, struct stk_err *err)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all); // signals are the caller's
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread, NULL, stager_main, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        return stk_err_set(err, STK_ELIMIT, "no thread for staging: %s", strerror(failed));
    }
    pthread_detach(thread);
    return STK_OK;
}

static struct stoker_stager *stager_new(struct stoker_dataset *ds, int depth)
{
    struct stoker_stager *s = stk_alloc_zero(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, &attr);
    pthread_condattr_destroy(&attr);
    s->ds = stoker_dataset_hold(ds);
    s->n = stoker_specs_count(stoker_dataset_specs(ds));
    s->depth = depth;
    s->n_slots = depth + 1;
    s->forks = stk_fork_count();
    return s;
}

enum stoker_status stoker_stager_open(struct stoker_dataset *ds,
                                      const struct stoker_run_options *options, int device,
                                      int depth, struct stoker_stager **out, struct stoker_err *err)
{
    struct stk_err e;
    const struct stk_cuda_device *d = NULL;
    stk_err_init(&e);
    *out = NULL;
    if (depth < 1 || depth > STOKER_STAGER_DEPTH_MAX) {
        (void)stk_err_set(&e, STK_EINVAL, "depth is 1 to %d, not %d", STOKER_STAGER_DEPTH_MAX,
                          depth);
        return stk_data_fail(err, &e);
    }
    if (stk_cuda_device(device, &d, &e) != STK_OK) {
        return stk_data_fail(err, &e);
    }
    struct stoker_stager *s = stager_new(ds, depth);
    if (!s) {
        (void)stk_err_nomem(&e);
        return stk_data_fail(err, &e);
    }
    s->device = d;
    struct stoker_run_options o = options ? *options : (struct stoker_run_options){0};
    o.memory = &d->pinned;
    enum stoker_status status = stoker_iterator_open(ds, &o, &s->it, err);
    if (status == STOKER_OK) {
        enum stk_status k = stk_cuda_enter(d, &e);
        if (k == STK_OK) {
            k = make_slots(s, &e);
            stk_cuda_leave(d);
        }
        if (k == STK_OK) {
            k = start_thread(s, &e);
        }
        status = k == STK_OK ? STOKER_OK : stk_data_fail(err, &e);
    }
    if (status != STOKER_OK) {
        bool has_context = stk_cuda_enter(d, &e) == STK_OK;
        wind_up(s, has_context);
        stager_destroy(s);
        return status;
    }
    *out = s;
    return STOKER_OK;
}

int stoker_stager_wait(struct stoker_stager *s, int64_t ns)
{
    int64_t start = now_ns(), end = start + ns;
    struct timespec until = {(time_t)(end / 1000000000), (long)(end % 1000000000)};
    int rc = 0;
    if (s->forks != stk_fork_count()) {
        return 1;
    }
    pthread_mutex_lock(&s->lock);
    if (s->asked <= s->taken) {
        s->asked = s->taken + 1;
        pthread_cond_broadcast(&s->changed);
    }
    while (s->put == s->taken && !s->has_ended && rc != ETIMEDOUT) {
        rc = pthread_cond_timedwait(&s->changed, &s->lock, &until);
    }
    int is_ready = s->put != s->taken || s->has_ended;
    s->stats.starve_ns += (uint64_t)(now_ns() - start);
    pthread_mutex_unlock(&s->lock);
    return is_ready;
}

enum stoker_status stoker_stager_next(struct stoker_stager *s, struct stoker_tensor *out, int n,
                                      struct stoker_device_batch **batch, int *is_end,
                                      struct stoker_err *err)
{
    struct stk_err e;
    stk_err_init(&e);
    *batch = NULL;
    *is_end = 0;
    if (s->forks != stk_fork_count()) {
        (void)stk_err_set(&e, STK_EINVAL,
                          "this stager was started before a fork; neither its "
                          "thread nor CUDA is in this process: make a new one before CUDA is used");
        return stk_data_fail(err, &e);
    }
    while (!stoker_stager_wait(s, FAREWELL_NS)) {
    }
    pthread_mutex_lock(&s->lock);
    if (s->put == s->taken) { // it has ended, and said why
        pthread_mutex_unlock(&s->lock);
        *is_end = 1;
        return STOKER_OK;
    }
    struct item *item = &s->items[s->taken % (uint64_t)s->depth];
    enum stoker_status status = item->status;
    if (status != STOKER_OK) {
        *err = item->err;
    } else if (item->is_end) {
        *is_end = 1;
    } else {
        for (int i = 0; i < s->n; i++) {
            if (i < n) {
                out[i] = item->out[i];
            } else {
                stoker_tensor_release(&item->out[i]);
            }
        }
        *batch = item->batch;
        item->batch = NULL;
        s->stats.elements++;
    }
    s->taken++;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return status;
}

void stoker_stager_cancel(struct stoker_stager *s)
{
    pthread_mutex_lock(&s->lock);
    s->is_stopping = true;
    if (s->it) {
        stoker_iterator_cancel(s->it);
    }
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

void stoker_stager_free(struct stoker_stager *s)
{
    if (!s || s->forks != stk_fork_count()) { // after a fork its thread is not there
        return;
    }
    stoker_stager_cancel(s);
    int64_t end = now_ns() + FAREWELL_NS;
    struct timespec until = {(time_t)(end / 1000000000), (long)(end % 1000000000)};
    pthread_mutex_lock(&s->lock);
    int rc = 0;
    while (!s->has_ended && rc != ETIMEDOUT) { // a function of the caller's may hang
        rc = pthread_cond_timedwait(&s->changed, &s->lock, &until);
    }
    bool has_ended = s->has_ended;
    s->is_orphan = !has_ended;
    pthread_mutex_unlock(&s->lock);
    if (has_ended) {
        stager_destroy(s);
    }
}

void stoker_stager_stats(struct stoker_stager *s, struct stoker_stager_stats *out)
{
    pthread_mutex_lock(&s->lock);
    *out = s->stats;
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_lock(&s->store->lock);
    out->device_bytes = s->store->bytes;
    pthread_mutex_unlock(&s->store->lock);
}
