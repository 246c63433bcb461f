// SPDX-License-Identifier: Apache-2.0
// include/stoker/device.h: a thread that pulls elements, copies them to the device, and keeps
// `depth` of them in a queue for the consumer.
//
// Each element in flight has a slot (device_copy.h) that keeps its CPU memory until the copy is
// done. A slot is reused once its event has completed; with depth + 1 slots that rarely means
// waiting.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "engine/api/data_api.h"
#include "engine/device/device_copy.h"
#include "engine/device/device_defer.h"
#include "engine/run/fork.h"

#define FAREWELL_NS 5000000000 // after this, the thread is left to end by itself

struct item { // an entry of the queue
    struct stoker_tensor *out;
    struct stoker_device_batch *batch;
    enum stoker_status status;
    bool is_end, is_of_element; // is_of_element: an error of the element, not of the device
    struct stoker_err err;
};

struct stoker_stager {
    const struct stk_cuda_device *device;
    struct stoker_dataset *ds;
    struct stoker_iterator *it; // guarded by lock when used from other threads
    struct stk_copier copier;
    int n, depth, n_slots;
    struct stk_copy_slot *slots;
    bool skips_errors, lost_element; // lost_element: used by the consumer
    unsigned forks;
    pthread_mutex_t lock; // guards the following fields
    pthread_cond_t changed;
    struct item *items;                     // a ring of `depth`
    uint64_t put, taken, asked;             // item counts; asked: how many the consumer has asked
                                            // for
    bool is_stopping, has_ended, is_orphan; // is_orphan: the thread frees it
    struct stoker_stager_stats stats;
};

enum stoker_status stoker_device_count(int *n, struct stoker_err *err)
{
    if (!n) {
        return stk_err_misuse(err, "stoker_device_count needs a pointer for the number");
    }
    struct stoker_err own;
    err = stk_err_begin(err, &own);
    return stk_err_end(err, stk_cuda_count(n, err));
}

enum stoker_status stoker_device_memory(int device, uint64_t *unused_bytes, uint64_t *total_bytes,
                                        struct stoker_err *err)
{
    const struct stk_cuda_device *d;
    struct stoker_err own;
    size_t unused = 0, total = 0;
    err = stk_err_begin(err, &own);
    enum stoker_status s = stk_cuda_device(device, &d, err);
    if (s == STOKER_OK) {
        s = stk_cuda_enter(d, err);
    }
    if (s == STOKER_OK) {
        s = stk_cuda_check(d->cuda, d->cuda->memory_info(&unused, &total), "cuMemGetInfo", err);
        stk_cuda_leave(d);
    }
    *unused_bytes = unused;
    *total_bytes = total;
    return stk_err_end(err, s);
}

enum stoker_status stoker_device_pinned(int device, const struct stoker_memory_source **out,
                                        struct stoker_err *err)
{
    const struct stk_cuda_device *d;
    struct stoker_err own;
    err = stk_err_begin(err, &own);
    *out = NULL;
    if (stk_cuda_device(device, &d, err) != STOKER_OK) {
        return stk_err_fail(err);
    }
    *out = &d->pinned;
    return STOKER_OK;
}

// Waits for a free place in the queue; NULL: stopping. must_be_empty: waits until the consumer has
// taken everything and asks for more.
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

static enum stoker_status wait_for_slot(struct stoker_stager *s, struct stk_copy_slot *slot,
                                        struct stoker_err *err)
{
    const struct stk_cuda *c = s->device->cuda;
    if (!slot->is_in_flight) {
        return STOKER_OK;
    }
    uint64_t start = stk_clock_ns();
    enum stoker_status k =
        stk_cuda_check(c, c->event_wait(slot->done), "a copy to the device", err);
    pthread_mutex_lock(&s->lock);
    s->stats.slot_ns += stk_clock_ns() - start;
    pthread_mutex_unlock(&s->lock);
    slot->is_in_flight = false;
    stk_copy_slot_release(slot, s->n);
    return k;
}

static void put_error(struct stoker_stager *s, struct item *item, struct stoker_err *e)
{
    if (item) {
        stk_err_while(e, "staging for cuda:%d", s->device->ordinal);
        item->status = stk_err_fail(e);
        item->err = *e;
        put_item(s);
    }
}

// An element doesn't fit its table: queues an error in its place, or skips it.
static void leave_out(struct stoker_stager *s, struct item *item, struct stoker_err *e)
{
    if (!s->skips_errors) {
        item->is_of_element = true;
        put_error(s, item, e);
        return;
    }
    pthread_mutex_lock(&s->lock);
    s->stats.skipped++;
    pthread_mutex_unlock(&s->lock);
}

// Copies the slot's element and puts it into the queue. False: the end.
static bool stage(struct stoker_stager *s, struct item *item, struct stk_copy_slot *slot)
{
    struct stoker_device_batch *b = NULL;
    struct stoker_err e;
    stk_err_init(&e);
    if (stk_copier_lay_out(&s->copier, slot, &e) != STOKER_OK) { // the element is invalid
        stk_copy_slot_release(slot, s->n);
        leave_out(s, item, &e);
        return true;
    }
    for (bool has_waited = false; stk_copier_reserve(&s->copier, &b, &e) == STOKER_ELIMIT;
         has_waited = true) {
        // Keep the element until the consumer asks again: it may release batches before that.
        if (has_waited) {
            put_error(s, item, &e);
        }
        item = wait_for_place(s, true);
        if (!item) {
            stk_copy_slot_release(slot, s->n);
            return false;
        }
        *item = (struct item){.out = item->out};
        stk_err_init(&e);
    }
    if (b && stk_copier_start(&s->copier, slot, b, &e) == STOKER_OK) {
        stk_copier_show(&s->copier, slot, b, item->out);
        item->batch = b;
        put_item(s);
        return true;
    }
    slot->is_in_flight = false;
    stk_copy_slot_release(slot, s->n);
    stoker_device_batch_free(b);
    put_error(s, item, &e);
    return false;
}

// Pulls one element and stages it. False: the end.
static bool step(struct stoker_stager *s, struct stk_copy_slot *slot)
{
    struct stoker_err e;
    stk_err_init(&e);
    struct item *item = wait_for_place(s, false);
    if (!item) {
        return false;
    }
    *item = (struct item){.out = item->out};
    if (wait_for_slot(s, slot, &e) != STOKER_OK) {
        put_error(s, item, &e);
        return false;
    }
    int is_end = 0;
    item->status = stoker_iterator_next(s->it, slot->host, s->n, &is_end, &item->err);
    if (item->status != STOKER_OK || is_end) {
        item->is_end = item->status == STOKER_OK;
        item->is_of_element = item->status != STOKER_OK && item->status != STOKER_EINTR;
        enum stoker_status status = item->status;
        put_item(s); // from here on the item belongs to the consumer
        return !is_end && status != STOKER_EINTR;
    }
    return stage(s, item, slot);
}

static void slots_free(struct stoker_stager *s)
{
    for (int i = 0; s->slots && i < s->n_slots; i++) {
        stk_copy_slot_close(&s->slots[i], &s->copier);
    }
    stk_free(s->slots);
    s->slots = NULL;
}

// Call it after the thread has ended.
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
    stk_copier_destroy(&s->copier);
    stoker_dataset_free(s->ds);
    stk_free(s->items);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    stk_free(s);
}

// Ends what the thread owns: the pipeline, then the copies in progress and their slots.
static void wind_up(struct stoker_stager *s, bool has_context)
{
    pthread_mutex_lock(&s->lock);
    struct stoker_iterator *it = s->it;
    s->it = NULL;
    pthread_mutex_unlock(&s->lock);
    stoker_iterator_free(it);
    stk_copier_close(&s->copier);
    slots_free(s);
    if (has_context) {
        stk_cuda_leave(s->device);
    }
}

static void *stager_main(void *arg)
{
    struct stoker_stager *s = arg;
    struct stoker_err e;
    bool has_context = stk_cuda_enter(s->device, &e) == STOKER_OK;
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

static enum stoker_status make_slots(struct stoker_stager *s, struct stoker_err *err)
{
    s->slots = stk_alloc_zero((size_t)s->n_slots, sizeof s->slots[0]);
    s->items = stk_alloc_zero((size_t)s->depth, sizeof s->items[0]);
    bool ok = s->slots && s->items;
    for (int i = 0; ok && i < s->depth; i++) {
        s->items[i].out = stk_alloc_zero((size_t)s->n + 1, sizeof s->items[i].out[0]);
        ok = s->items[i].out != NULL;
    }
    enum stoker_status k = ok ? STOKER_OK : stk_err_nomem(err);
    for (int i = 0; k == STOKER_OK && i < s->n_slots; i++) {
        k = stk_copy_slot_open(&s->slots[i], &s->copier, err);
    }
    return k;
}

static enum stoker_status start_thread(struct stoker_stager *s, struct stoker_err *err)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all); // the caller's threads handle signals
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread, NULL, stager_main, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        return stk_err_set(err, STOKER_ELIMIT, "can't start a staging thread: %s",
                           strerror(failed));
    }
    pthread_detach(thread);
    return STOKER_OK;
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

// Decides what to defer to the device; nothing if the driver rejects the kernels.
static enum stoker_status leave_to_device(const struct stoker_stager *s,
                                          const struct stoker_run_options *o,
                                          struct stk_deferred *d, struct stoker_err *err)
{
    const struct stk_device_kernels *kernels;
    struct stoker_err ignored;
    bool has_kernels = false;
    *d = (struct stk_deferred){0};
    if (o->is_as_written) {
        return STOKER_OK;
    }
    enum stoker_status k =
        stk_device_defer(d, (struct stk_dataset *)s->ds,
                         o->skips_errors ? STK_ON_ERROR_SKIP : STK_ON_ERROR_STOP, err);
    stk_err_init(&ignored);
    if (d->n > 0 && stk_cuda_enter(s->device, &ignored) == STOKER_OK) {
        has_kernels = stk_device_kernels_get(s->device, &kernels, &ignored) == STOKER_OK;
        stk_cuda_leave(s->device);
    }
    if (!has_kernels) {
        stk_deferred_end(d);
    }
    return k;
}

// Starts the pipeline, the device's part, and the thread. After a failure the caller ends the parts
// that exist.
static enum stoker_status start_parts(struct stoker_stager *s, const struct stoker_run_options *o,
                                      const struct stoker_byte_table *tables, int n,
                                      struct stoker_err *err)
{
    struct stoker_err own;
    err = stk_err_begin(err, &own);
    enum stoker_status status = stoker_iterator_open(s->ds, o, &s->it, err);
    if (status != STOKER_OK) {
        return status;
    }
    enum stoker_status k = stk_cuda_enter(s->device, err);
    if (k == STOKER_OK) {
        k = stk_copier_open(&s->copier, s->device, s->n, s->depth + 2, tables, n, err);
        if (k == STOKER_OK) {
            k = make_slots(s, err);
        }
        stk_cuda_leave(s->device);
    }
    if (k == STOKER_OK) {
        k = start_thread(s, err);
    }
    return stk_err_end(err, k);
}

static enum stoker_status start(struct stoker_stager *s, const struct stoker_run_options *options,
                                const struct stoker_byte_table *tables, int n,
                                struct stoker_err *err)
{
    struct stoker_err own;
    struct stk_deferred left;
    struct stoker_run_options o = options ? *options : (struct stoker_run_options){0};
    err = stk_err_begin(err, &own);
    o.memory = &s->device->pinned;
    s->skips_errors = o.skips_errors != 0;
    enum stoker_status k = leave_to_device(s, &o, &left, err);
    struct stoker_byte_table *all =
        k == STOKER_OK ? stk_alloc_zero((size_t)(n + left.n) + 1, sizeof all[0]) : NULL;
    if (!all) {
        stk_deferred_end(&left);
        (void)(k == STOKER_OK ? stk_err_nomem(err) : k);
        return stk_err_fail(err);
    }
    for (int i = 0; i < n + left.n; i++) {
        all[i] = i < n ? tables[i] : left.tables[i - n];
    }
    if (left.ds) { // rewritten already
        o.is_as_written = 1;
        stoker_dataset_free(s->ds);
        s->ds = stoker_dataset_hold((struct stoker_dataset *)left.ds);
    }
    enum stoker_status status = start_parts(s, &o, all, n + left.n, err);
    stk_deferred_end(&left);
    stk_free(all);
    return status;
}

enum stoker_status stoker_stager_open_tables(struct stoker_dataset *ds,
                                             const struct stoker_run_options *options, int device,
                                             int depth, const struct stoker_byte_table *tables,
                                             int n, struct stoker_stager **out,
                                             struct stoker_err *err)
{
    struct stoker_err own;
    const struct stk_cuda_device *d = NULL;
    err = stk_err_begin(err, &own);
    if (!ds || !out || (n > 0 && !tables)) {
        return stk_err_misuse(
            err, "stoker_stager_open_tables needs a dataset, tables and a pointer for the stager");
    }
    *out = NULL;
    if (depth < 1 || depth > STOKER_STAGER_DEPTH_MAX) {
        return stk_err_set(err, STOKER_EINVAL, "depth must be 1 to %d, not %d",
                           STOKER_STAGER_DEPTH_MAX, depth);
    }
    if (stk_device_tables_check(tables, n, stoker_dataset_specs(ds), err) != STOKER_OK ||
        stk_cuda_device(device, &d, err) != STOKER_OK) {
        return stk_err_fail(err);
    }
    struct stoker_stager *s = stager_new(ds, depth);
    if (!s) {
        return stk_err_nomem(err);
    }
    s->device = d;
    enum stoker_status status = start(s, options, tables, n, err);
    if (status != STOKER_OK) {
        bool has_context = stk_cuda_enter(d, NULL) == STOKER_OK; // err already has the first
                                                                 // failure
        wind_up(s, has_context);
        stager_destroy(s);
        return status;
    }
    *out = s;
    return STOKER_OK;
}

enum stoker_status stoker_stager_open(struct stoker_dataset *ds,
                                      const struct stoker_run_options *options, int device,
                                      int depth, struct stoker_stager **out, struct stoker_err *err)
{
    return stoker_stager_open_tables(ds, options, device, depth, NULL, 0, out, err);
}

int stoker_stager_wait(struct stoker_stager *s, int64_t ns)
{
    uint64_t start = stk_clock_ns();
    struct timespec until = stk_clock_moment(start + (uint64_t)ns);
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
    s->stats.starve_ns += stk_clock_ns() - start;
    pthread_mutex_unlock(&s->lock);
    return is_ready;
}

enum stoker_status stoker_stager_next(struct stoker_stager *s, struct stoker_tensor *out, int n,
                                      struct stoker_device_batch **batch, int *is_end,
                                      struct stoker_err *err)
{
    struct stoker_err own;
    err = stk_err_begin(err, &own);
    if (!s || !batch || !is_end || (n > 0 && !out)) {
        return stk_err_misuse(err,
                              "stoker_stager_next needs a stager and pointers for its results");
    }
    *batch = NULL;
    *is_end = 0;
    s->lost_element = false;
    if (s->forks != stk_fork_count()) {
        (void)stk_err_set(err, STOKER_EINVAL,
                          "this stager was started before a fork; neither its "
                          "thread nor CUDA is in this process: make a new one before CUDA is used");
        return stk_err_fail(err);
    }
    while (!stoker_stager_wait(s, FAREWELL_NS)) {
    }
    pthread_mutex_lock(&s->lock);
    if (s->put == s->taken) { // the thread has ended and reported why
        pthread_mutex_unlock(&s->lock);
        *is_end = 1;
        return STOKER_OK;
    }
    struct item *item = &s->items[s->taken % (uint64_t)s->depth];
    enum stoker_status status = item->status;
    if (status != STOKER_OK) {
        *err = item->err;
        s->lost_element = item->is_of_element;
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

int stoker_stager_lost_element(const struct stoker_stager *s)
{
    return s->lost_element;
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
    if (!s || s->forks != stk_fork_count()) { // after a fork, the thread doesn't exist
        return;
    }
    stoker_stager_cancel(s);
    struct timespec until = stk_clock_moment(stk_clock_ns() + FAREWELL_NS);
    pthread_mutex_lock(&s->lock);
    int rc = 0;
    while (!s->has_ended && rc != ETIMEDOUT) { // a user's function may hang
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
    stk_copier_stats(&s->copier, out);
}
