// SPDX-License-Identifier: Apache-2.0
// Device memory of batches. It may be reused after the work that was on the consumer's streams when
// the last holder released it. At release an event is recorded there, and the copy stream waits for
// it before the next copy into that memory; the CPU waits for nothing.
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "engine/device/cuda.h"
#include "stoker/device.h"

#define STK_BATCH_STREAMS_MAX                                                                      \
    8 // streams a batch waits for; with more, it waits for the whole device

struct stk_device_store { // a stager's batches; ends with the stager and the last batch
    int refs;             // atomic
    pthread_mutex_t lock;
    const struct stk_cuda_device *device;
    struct stoker_device_batch *unused;
    int n_unused, most_unused;
    bool is_closed; // returned batches are freed
    uint64_t bytes; // of all batches
};

struct stoker_device_batch {
    int refs; // atomic
    struct stk_device_store *store;
    uint64_t memory; // an address of the device
    size_t size;
    void *copied;         // event: the values have arrived
    pthread_mutex_t lock; // guards the streams
    void *streams[STK_BATCH_STREAMS_MAX];
    void *used[STK_BATCH_STREAMS_MAX]; // events recorded when the last holder released it; NULL:
                                       // not created yet
    int n_streams, n_used;
    bool needs_wait; // reuse waits for everything on the device
    struct stoker_device_batch *next;
};

// NULL: no memory.
struct stk_device_store *stk_device_store_open(const struct stk_cuda_device *d, int most_unused);
void stk_device_store_drop(struct stk_device_store *s);  // takes NULL
void stk_device_store_close(struct stk_device_store *s); // for the stager's end: frees unused
                                                         // memory

// Memory of `size` bytes, writable by work on `stream`. The device's context is current.
// STOKER_ELIMIT: not enough memory.
STK_MUST_CHECK enum stoker_status stk_device_batch_get(struct stk_device_store *s, size_t size,
                                                       void *stream,
                                                       struct stoker_device_batch **out,
                                                       struct stoker_err *err);
