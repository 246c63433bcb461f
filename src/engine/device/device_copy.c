// SPDX-License-Identifier: Apache-2.0
// See device_copy.h.
#include "engine/device/device_copy.h"

#include <string.h>

#include "base/alloc.h"
#include "engine/api/data_api.h"

#define NON_BLOCKING 1u // CU_STREAM_NON_BLOCKING: not ordered with the default stream
#define NO_TIMING 2u    // CU_EVENT_DISABLE_TIMING
#define PART_ALIGN ((size_t)256)

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

static size_t aligned(size_t n)
{
    return (n + PART_ALIGN - 1) / PART_ALIGN * PART_ALIGN;
}

static void count(uint64_t *to, uint64_t n)
{
    __atomic_add_fetch(to, n, __ATOMIC_RELAXED);
}

enum stoker_status stk_copier_open(struct stk_copier *c, const struct stk_cuda_device *d, int n,
                                   int most_unused, const struct stoker_byte_table *tables,
                                   int n_tables, struct stoker_err *err)
{
    *c = (struct stk_copier){.device = d, .n = n};
    c->places = stk_alloc_zero((size_t)n + 1, sizeof c->places[0]);
    c->store = stk_device_store_open(d, most_unused);
    if (!c->places || !c->store) {
        return stk_err_nomem(err);
    }
    enum stoker_status k = stk_cuda_check(d->cuda, d->cuda->stream_open(&c->stream, NON_BLOCKING),
                                          "cuStreamCreate", err);
    if (k == STOKER_OK && n_tables > 0) {
        k = stk_device_tables_open(&c->tables, d, tables, n_tables, c->stream, err);
    }
    return k;
}

void stk_copier_close(struct stk_copier *c)
{
    if (c->stream) {
        (void)c->device->cuda->stream_wait(c->stream);
    }
    stk_device_tables_close(c->tables);
    stoker_device_batch_free(c->raw); // while its stream still exists
    c->tables = NULL;
    c->raw = NULL;
    if (c->stream) {
        (void)c->device->cuda->stream_close(c->stream);
    }
    c->stream = NULL;
}

void stk_copier_destroy(struct stk_copier *c)
{
    if (c->store) {
        stk_device_store_close(c->store);
    }
    stk_device_store_drop(c->store);
    stk_free(c->places);
}

enum stoker_status stk_copy_slot_open(struct stk_copy_slot *slot, const struct stk_copier *c,
                                      struct stoker_err *err)
{
    const struct stk_cuda *cuda = c->device->cuda;
    slot->host = stk_alloc_zero((size_t)c->n + 1, sizeof slot->host[0]);
    if (!slot->host) {
        return stk_err_nomem(err);
    }
    return stk_cuda_check(cuda, cuda->event_open(&slot->done, NO_TIMING), "cuEventCreate", err);
}

void stk_copy_slot_release(struct stk_copy_slot *slot, int n)
{
    for (int i = 0; i < n; i++) {
        stoker_tensor_release(&slot->host[i]);
    }
}

static void give_capacity(struct stk_copy_slot *slot, const struct stk_copier *c)
{
    const struct stoker_memory_source *pinned = &c->device->pinned;
    if (slot->capacity_is_pinned) {
        pinned->give(pinned->arg, slot->capacity, slot->capacity_bytes);
    } else {
        stk_free(slot->capacity);
    }
}

void stk_copy_slot_close(struct stk_copy_slot *slot, const struct stk_copier *c)
{
    if (slot->host) {
        stk_copy_slot_release(slot, c->n);
    }
    give_capacity(slot, c);
    if (slot->done) {
        (void)c->device->cuda->event_close(slot->done);
    }
    stk_free(slot->host);
}

// Reserves memory in the slot: pinned if available, else ordinary.
static enum stoker_status reserve_capacity(struct stk_copier *c, struct stk_copy_slot *slot,
                                           size_t size, struct stoker_err *err)
{
    const struct stoker_memory_source *pinned = &c->device->pinned;
    if (size <= slot->capacity_bytes) {
        return STOKER_OK;
    }
    give_capacity(slot, c);
    slot->capacity = pinned->get(pinned->arg, size);
    slot->capacity_is_pinned = slot->capacity != NULL;
    if (!slot->capacity) {
        slot->capacity = stk_alloc(size);
        count(&c->unpinned, 1);
    }
    slot->capacity_bytes = slot->capacity ? size : 0;
    return slot->capacity ? STOKER_OK : stk_err_nomem(err);
}

// Lays out the components copied into the piece: those that go through the slot first.
static void lay_out_piece(struct stk_copier *c, const struct stk_copy_slot *slot,
                          enum stk_copy_piece piece)
{
    size_t size = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < c->n; i++) {
            const struct stoker_tensor *t = &slot->host[i];
            struct stk_copy_place *p = &c->places[i];
            if (is_number(t) && p->piece == piece && is_pinned(t) == (pass == 1)) {
                p->at = p->copied_at = size;
                size += aligned(tensor_bytes(t));
            }
        }
        c->through_slot[piece] = pass == 0 ? size : c->through_slot[piece];
    }
    c->size[piece] = size;
}

enum stoker_status stk_copier_lay_out(struct stk_copier *c, const struct stk_copy_slot *slot,
                                      struct stoker_err *err)
{
    enum stoker_status k = STOKER_OK;
    for (int i = 0; k == STOKER_OK && i < c->n; i++) {
        struct stk_copy_place *p = &c->places[i];
        p->table = stk_device_tables_find(c->tables, i);
        p->piece = p->table ? STK_COPY_RAW : STK_COPY_BATCH;
        if (p->table) {
            k = stk_device_table_suits(p->table, &slot->host[i], err);
        }
    }
    if (k != STOKER_OK) {
        return k;
    }
    lay_out_piece(c, slot, STK_COPY_BATCH);
    lay_out_piece(c, slot, STK_COPY_RAW);
    for (int i = 0; i < c->n; i++) {
        if (c->places[i].table) {
            c->places[i].at = c->size[STK_COPY_BATCH];
            c->size[STK_COPY_BATCH] += aligned(tensor_bytes(&slot->host[i]) * sizeof(float));
        }
    }
    return STOKER_OK;
}

enum stoker_status stk_copier_reserve(struct stk_copier *c, struct stoker_device_batch **out,
                                      struct stoker_err *err)
{
    struct stoker_err e;
    size_t size = c->size[STK_COPY_RAW];
    enum stoker_status k = STOKER_OK;
    if (size > 0 && (!c->raw || c->raw->size < size)) {
        stoker_device_batch_free(c->raw);
        c->raw = NULL;
        k = stk_device_batch_get(c->store, size, c->stream, &c->raw, err);
        // the next user of this memory waits for this stream's work on it
        if (k == STOKER_OK && stoker_device_batch_await(c->raw, c->stream, &e) != STOKER_OK) {
            k = stk_err_set(err, STOKER_EINPUT, "%s", e.message);
        }
    }
    return k == STOKER_OK
               ? stk_device_batch_get(c->store, c->size[STK_COPY_BATCH], c->stream, out, err)
               : k;
}

static enum stoker_status copy_in(struct stk_copier *c, uint64_t to, const void *from, size_t size,
                                  bool is_direct, struct stoker_err *err)
{
    const struct stk_cuda *cuda = c->device->cuda;
    if (size == 0) {
        return STOKER_OK;
    }
    count(&c->copies, 1);
    count(&c->copied_bytes, size);
    count(&c->direct_bytes, is_direct ? size : 0);
    return stk_cuda_check(cuda, cuda->copy_in(to, from, size, c->stream), "cuMemcpyHtoDAsync", err);
}

static enum stoker_status copy_all(struct stk_copier *c, struct stk_copy_slot *slot,
                                   const uint64_t *pieces, struct stoker_err *err)
{
    const size_t *through = c->through_slot;
    char *capacity = slot->capacity;
    char *capacities[STK_COPY_PIECES] = {capacity,
                                         capacity ? capacity + through[STK_COPY_BATCH] : NULL};
    enum stoker_status k = STOKER_OK;
    for (int i = 0; i < c->n; i++) {
        const struct stoker_tensor *t = &slot->host[i];
        const struct stk_copy_place *p = &c->places[i];
        if (is_number(t) && !is_pinned(t) && tensor_bytes(t)) {
            memcpy(capacities[p->piece] + p->copied_at, t->data, tensor_bytes(t));
        }
    }
    for (int piece = 0; k == STOKER_OK && piece < STK_COPY_PIECES; piece++) {
        k = copy_in(c, pieces[piece], capacities[piece], through[piece], false, err);
    }
    for (int i = 0; k == STOKER_OK && i < c->n; i++) {
        const struct stoker_tensor *t = &slot->host[i];
        const struct stk_copy_place *p = &c->places[i];
        if (is_number(t) && is_pinned(t)) {
            k = copy_in(c, pieces[p->piece] + p->copied_at, t->data, tensor_bytes(t), true, err);
        }
    }
    return k;
}

static enum stoker_status look_all_up(struct stk_copier *c, const struct stk_copy_slot *slot,
                                      const uint64_t *pieces, struct stoker_err *err)
{
    enum stoker_status k = STOKER_OK;
    uint64_t launches = 0;
    for (int i = 0; k == STOKER_OK && i < c->n; i++) {
        const struct stk_copy_place *p = &c->places[i];
        if (p->table) {
            k = stk_device_table_apply(c->tables, p->table, &slot->host[i],
                                       pieces[STK_COPY_RAW] + p->copied_at,
                                       pieces[STK_COPY_BATCH] + p->at, c->stream, &launches, err);
        }
    }
    count(&c->launches, launches);
    return k;
}

enum stoker_status stk_copier_start(struct stk_copier *c, struct stk_copy_slot *slot,
                                    struct stoker_device_batch *b, struct stoker_err *err)
{
    const struct stk_cuda *cuda = c->device->cuda;
    uint64_t pieces[STK_COPY_PIECES] = {b->memory, c->raw ? c->raw->memory : 0};
    enum stoker_status k = reserve_capacity(
        c, slot, c->through_slot[STK_COPY_BATCH] + c->through_slot[STK_COPY_RAW], err);
    if (k != STOKER_OK) {
        return k;
    }
    slot->is_in_flight = true; // from here on the device may read the slot's memory
    k = copy_all(c, slot, pieces, err);
    if (k == STOKER_OK) {
        k = stk_cuda_check(cuda, cuda->event_record(slot->done, c->stream), "cuEventRecord", err);
    }
    if (k == STOKER_OK) {
        k = look_all_up(c, slot, pieces, err);
    }
    if (k == STOKER_OK) {
        k = stk_cuda_check(cuda, cuda->event_record(b->copied, c->stream), "cuEventRecord", err);
    }
    if (k != STOKER_OK) { // some copies may be in progress
        (void)cuda->stream_wait(c->stream);
    }
    return k;
}

void stk_copier_show(const struct stk_copier *c, struct stk_copy_slot *slot,
                     const struct stoker_device_batch *b, struct stoker_tensor *out)
{
    for (int i = 0; i < c->n; i++) {
        const struct stk_copy_place *p = &c->places[i];
        out[i] = slot->host[i];
        if (!is_number(&slot->host[i])) {
            slot->host[i] = (struct stoker_tensor){0};
            continue;
        }
        out[i].data = (void *)(uintptr_t)(b->memory + p->at);
        out[i].hold = NULL;
        out[i].is_readonly = 0;
        if (p->table) {
            stk_device_table_shape(p->table, &out[i]);
        }
    }
}

void stk_copier_stats(const struct stk_copier *c, struct stoker_stager_stats *out)
{
    out->copies = __atomic_load_n(&c->copies, __ATOMIC_RELAXED);
    out->copied_bytes = __atomic_load_n(&c->copied_bytes, __ATOMIC_RELAXED);
    out->direct_bytes = __atomic_load_n(&c->direct_bytes, __ATOMIC_RELAXED);
    out->unpinned = __atomic_load_n(&c->unpinned, __ATOMIC_RELAXED);
    out->launches = __atomic_load_n(&c->launches, __ATOMIC_RELAXED);
    pthread_mutex_lock(&c->store->lock);
    out->device_bytes = c->store->bytes;
    pthread_mutex_unlock(&c->store->lock);
}
