// SPDX-License-Identifier: Apache-2.0
// Device memory of batches, and when it may be used again: after the work that was on the
// consumer's streams when the last holder let go. An event is recorded there then, and the copy
// stream waits for it before the next copy into that memory; the host waits for nothing.
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "engine/device/cuda.h"
#include "stoker/device.h"

#define STK_BATCH_STREAMS_MAX                                                                      \
    8 // streams a batch is awaited on; with more, the device is waited for

struct stk_device_store { // the batches of a stager; dies with it and the last of them
    int refs;             // atomic
    pthread_mutex_t lock;
    const struct stk_cuda_device *device;
    struct stoker_device_batch *unused;
    int n_unused, most_unused;
    bool is_closed; // what comes back is freed
    uint64_t bytes; // of all batches
};

struct stoker_device_batch {
    int refs; // atomic
    struct stk_device_store *store;
    uint64_t memory; // an address of the device
    size_t size;
    void *copied;         // event: the values are there
    pthread_mutex_t lock; // of the streams
    void *streams[STK_BATCH_STREAMS_MAX];
    void *used[STK_BATCH_STREAMS_MAX]; // events, recorded at the last holder's; NULL: not made yet
    int n_streams, n_used;
    bool needs_wait; // for everything on the device, before it is used again
    struct stoker_device_batch *next;
};

// NULL: no memory.
struct stk_device_store *stk_device_store_open(const struct stk_cuda_device *d, int most_unused);
void stk_device_store_drop(struct stk_device_store *s);  // takes NULL
void stk_device_store_close(struct stk_device_store *s); // of the stager: frees what is unused

// Room for `size` bytes that work put on `stream` may write. The device's context is current.
// STOKER_ELIMIT: there is no such memory.
STK_MUST_CHECK enum stoker_status stk_device_batch_get(struct stk_device_store *s, size_t size,
                                                       void *stream,
                                                       struct stoker_device_batch **out,
                                                       struct stoker_err *err);
