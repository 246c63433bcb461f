// SPDX-License-Identifier: Apache-2.0
// The parts of CUPTI that the library uses, looked up at run time: the build needs no NVIDIA header
// or library. Names, numbers and layouts are those of its public reference (docs.nvidia.com/cupti).
// Records only ever grew at their end, so the fields read here have the same offsets in all
// versions from CUDA 11 on. Each library is asked for its record sizes (cupti_find.c).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STK_CUPTI_OK = 0,
    STK_CUPTI_MAX_LIMIT = 12, // no more records in the buffer
    STK_CUPTI_NOT_INITIALIZED = 15,
    STK_CUPTI_INVALID_KIND = 21,
    STK_CUPTI_INSUFFICIENT_PRIVILEGES = 35,
    STK_CUPTI_OTHER_SUBSCRIBER = 39
};

enum stk_cupti_kind {
    STK_CUPTI_MEMCPY = 1,
    STK_CUPTI_MEMSET = 2,
    STK_CUPTI_DRIVER = 4,
    STK_CUPTI_RUNTIME = 5,
    STK_CUPTI_KERNEL = 10, // concurrent: the other kind would serialise them
    STK_CUPTI_OVERHEAD = 17,
    STK_CUPTI_MEMCPY2 = 22, // between devices
    STK_CUPTI_SYNC = 38,
    STK_CUPTI_KINDS = 64
};

// The first fields of records.
struct stk_cupti_api {
    uint32_t kind, cbid;
    uint64_t start, end;
    uint32_t process, thread, correlation, result;
};
struct stk_cupti_kernel {
    uint32_t kind;
    uint8_t cache_config, shared_config;
    uint16_t registers;
    uint32_t cache_requested, cache_executed;
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t grid[3], block[3], static_shared, dynamic_shared;
    uint32_t local_of_thread, local_total, correlation;
    int64_t grid_id;
    const char *name;
};
enum { STK_CUPTI_KERNEL_NODE = 144, STK_CUPTI_KERNEL_GRAPH = 156 }; // in longer records
enum { STK_CUPTI_KERNEL_NODE_FROM = 168, STK_CUPTI_KERNEL_GRAPH_FROM = 176 };
struct stk_cupti_memcpy {
    uint32_t kind;
    uint8_t direction, from, to, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
};
struct stk_cupti_memcpy2 {
    uint32_t kind;
    uint8_t direction, from, to, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, from_device, from_context, to_device, to_context, correlation;
};
struct stk_cupti_memset {
    uint32_t kind, value;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
    uint16_t flags, memory;
};
enum { STK_CUPTI_COPY_NODE = 64, STK_CUPTI_COPY_NODE_FROM = 72 };
struct stk_cupti_sync {
    uint32_t kind, type;
    uint64_t start, end;
    uint32_t correlation, context, stream, event;
};
struct stk_cupti_overhead {
    uint32_t kind, type, object_kind, object[3]; // a thread: process, thread
    uint64_t start, end;
};
_Static_assert(sizeof(struct stk_cupti_api) == 40 && offsetof(struct stk_cupti_api, thread) == 28,
               "an API record");
_Static_assert(offsetof(struct stk_cupti_kernel, device) == 40 &&
                   offsetof(struct stk_cupti_kernel, block) == 64 &&
                   offsetof(struct stk_cupti_kernel, correlation) == 92 &&
                   offsetof(struct stk_cupti_kernel, name) == 104,
               "a kernel's record");
_Static_assert(offsetof(struct stk_cupti_memcpy, correlation) == 44 &&
                   offsetof(struct stk_cupti_memcpy2, correlation) == 60 &&
                   offsetof(struct stk_cupti_memset, correlation) == 44 &&
                   offsetof(struct stk_cupti_sync, stream) == 32 &&
                   offsetof(struct stk_cupti_overhead, end) == 32,
               "records of copies, memsets, synchronizations and overhead");

enum { STK_CUPTI_DOMAIN_DRIVER = 1, STK_CUPTI_DOMAIN_RUNTIME = 2, STK_CUPTI_CALLS_MAX = 1024 };
enum { STK_CUPTI_POOL_LIMIT = 2 }; // attribute: maximum of device buffers
enum { STK_CUPTI_THREAD_OF_SYSTEM = 1 };
enum { STK_CUPTI_REFUSES_FROM = 27 }; // from this version on, a buffer request may be refused
enum { STK_CUPTI_13_0 = 130000 };

typedef void stk_cupti_request(uint8_t **buffer, size_t *size, size_t *records);
typedef void stk_cupti_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                                size_t valid);

// C(member, symbol, is it needed, arguments); all return 0 on success.
#define STK_CUPTI_CALLS(C)                                                                         \
    C(version, "cuptiGetVersion", true, (uint32_t *))                                              \
    C(timestamp, "cuptiGetTimestamp", true, (uint64_t *))                                          \
    C(subscribe, "cuptiSubscribe", true, (void **, void *callback, void *arg))                     \
    C(unsubscribe, "cuptiUnsubscribe", true, (void *))                                             \
    C(callbacks, "cuptiActivityRegisterCallbacks", true,                                           \
      (stk_cupti_request *, stk_cupti_complete *))                                                 \
    C(enable, "cuptiActivityEnable", true, (uint32_t kind))                                        \
    C(disable, "cuptiActivityDisable", true, (uint32_t kind))                                      \
    C(flush, "cuptiActivityFlushAll", true, (uint32_t flags))                                      \
    C(next, "cuptiActivityGetNextRecord", true, (uint8_t *, size_t, void **record))                \
    C(dropped, "cuptiActivityGetNumDroppedRecords", true, (void *, uint32_t, size_t *))            \
    C(attribute, "cuptiActivitySetAttribute", false, (int, size_t *size, void *value))             \
    C(thread_ids, "cuptiSetThreadIdType", false, (int))                                            \
    C(call_name, "cuptiGetCallbackName", true, (int domain, uint32_t, const char **))              \
    C(driver_call, "cuptiActivityEnableDriverApi", false, (uint32_t, uint8_t on))                  \
    C(runtime_call, "cuptiActivityEnableRuntimeApi", false, (uint32_t, uint8_t on))

struct stk_cupti {
    void *library;
    uint32_t api_version;
    uint32_t size[STK_CUPTI_KINDS]; // of a record in this library; 0: doesn't have that kind
#define C(member, symbol, needed, arguments) int(*member) arguments;
    STK_CUPTI_CALLS(C)
#undef C
};
extern struct stk_cupti stk_cupti;

// cupti_find.c: finds, loads and checks it, once. False: `why` has a short reason.
bool stk_cupti_load(char *why, size_t size);

// cupti_calls.c: which calls of the driver and the runtime are recorded.
struct stk_cupti_call {
    uint32_t name; // in the record; 0: not recorded
    bool is_asked;
};
const struct stk_cupti_call *stk_cupti_call_of(int domain, uint32_t cbid);
bool stk_cupti_call_is_unwanted(int domain, uint32_t cbid);
void stk_cupti_calls_reset(void);

// cupti_buffers.c
struct stk_cupti_buffer {
    uint8_t *bytes;
    size_t valid;
    void *context;
    uint32_t stream;
    uint32_t next; // in a list: index + 1
};
bool stk_cupti_buffers_open(void); // false: no memory
stk_cupti_request stk_cupti_request_buffer;
stk_cupti_complete stk_cupti_take_buffer;
struct stk_cupti_buffer *stk_cupti_buffers_waiting(void); // a list in the order of arrival, or NULL
struct stk_cupti_buffer *stk_cupti_buffers_next(const struct stk_cupti_buffer *b);
void stk_cupti_buffers_give(struct stk_cupti_buffer *b); // back to the profiler
bool stk_cupti_buffers_have_waiting(void);
uint32_t stk_cupti_buffers_out(void);  // held by the profiler
uint64_t stk_cupti_buffers_lost(void); // known records without a buffer
void stk_cupti_buffers_forget(void);

// cupti_records.c: writes one buffer to the record.
struct stk_cupti_sums {
    uint64_t records, without_time, left_out, overhead_ns, profiler_dropped, unknown;
};
extern struct stk_cupti_sums stk_cupti_sums;
void stk_cupti_decode(const struct stk_cupti_buffer *b);
void stk_cupti_window_begins(uint64_t source_ns);
void stk_cupti_records_reset(void);

// device_facts.c: writes what the driver says about its devices; false: not initialized yet.
bool stk_device_facts_write(void);
