// SPDX-License-Identifier: Apache-2.0
// Moves an element onto the device: the slot that holds it in CPU memory meanwhile, the layout of
// its components, the copies, and the kernels after them.
//
// On the device an element is one piece of memory, its batch: first the data from the slot, in one
// copy; then the pinned buffers, one copy each; then the results of kernels. Bytes that a kernel
// converts to floats go to another piece, which all elements share: the stream processes them in
// order.
#pragma once

#include "engine/device/device_batch.h"
#include "engine/device/device_tables.h"

struct stk_copy_slot {
    struct stoker_tensor *host; // of the element in flight
    void *capacity;             // for data that isn't pinned
    size_t capacity_bytes;
    bool capacity_is_pinned, is_in_flight;
    void *done; // event: the copies are done
};

enum stk_copy_piece { STK_COPY_BATCH, STK_COPY_RAW, STK_COPY_PIECES };

struct stk_copy_place { // of a component
    enum stk_copy_piece piece;
    size_t copied_at; // in that piece
    size_t at;        // in the batch
    const struct stk_device_table *table;
};

struct stk_copier { // owned by a stager; used only by its thread, except for the counts
    const struct stk_cuda_device *device;
    struct stk_device_store *store;
    void *stream;
    int n;
    struct stk_copy_place *places;
    struct stk_device_tables *tables; // NULL: none
    struct stoker_device_batch *raw;
    size_t through_slot[STK_COPY_PIECES], size[STK_COPY_PIECES];     // of the last element laid out
    uint64_t copies, copied_bytes, direct_bytes, unpinned, launches; // atomic
};

// Fills in its parts; stk_copier_close frees those on the device.
STK_MUST_CHECK enum stoker_status
stk_copier_open(struct stk_copier *c, const struct stk_cuda_device *d, int n, int most_unused,
                const struct stoker_byte_table *tables, int n_tables, struct stoker_err *err);
void stk_copier_close(struct stk_copier *c);   // waits for its stream; keeps the store
void stk_copier_destroy(struct stk_copier *c); // frees the rest

STK_MUST_CHECK enum stoker_status
stk_copy_slot_open(struct stk_copy_slot *slot, const struct stk_copier *c, struct stoker_err *err);
void stk_copy_slot_release(struct stk_copy_slot *slot, int n); // releases the element
void stk_copy_slot_close(struct stk_copy_slot *slot, const struct stk_copier *c);

// Lays out each component. STOKER_EINVAL: one doesn't fit its table.
STK_MUST_CHECK enum stoker_status
stk_copier_lay_out(struct stk_copier *c, const struct stk_copy_slot *slot, struct stoker_err *err);
// Reserves memory for that element. STOKER_ELIMIT: out of memory.
STK_MUST_CHECK enum stoker_status
stk_copier_reserve(struct stk_copier *c, struct stoker_device_batch **out, struct stoker_err *err);
// Puts the copies and kernels of the slot's element on the stream.
STK_MUST_CHECK enum stoker_status stk_copier_start(struct stk_copier *c, struct stk_copy_slot *slot,
                                                   struct stoker_device_batch *b,
                                                   struct stoker_err *err);
// The consumer's view of the slot's element: numbers on the device, strings moved.
void stk_copier_show(const struct stk_copier *c, struct stk_copy_slot *slot,
                     const struct stoker_device_batch *b, struct stoker_tensor *out);
void stk_copier_stats(const struct stk_copier *c, struct stoker_stager_stats *out);
