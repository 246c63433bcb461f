// SPDX-License-Identifier: Apache-2.0
// The CUDA driver, loaded at run time (libcuda.so.1), and each device's primary context. PyTorch,
// JAX and the CUDA runtime use the same one, so memory and streams are shared with them. Both stay
// for the life of the process, because memory freed later still needs them.
//
// Entry points are called with ints and pointers; names and meanings are those of NVIDIA's "CUDA
// Driver API" reference. Every call below needs the device's context to be current on its thread:
// see stk_cuda_enter.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "stoker/data.h"

#define STK_CUDA_OUT_OF_MEMORY 2
#define STK_CUDA_NO_DEVICE 100
#define STK_CUDA_NOT_READY 600
#define STK_CUDA_DEVICES_MAX 64

// X(field, symbol, arguments)
#define STK_CUDA_CALLS(X)                                                                          \
    X(init, "cuInit", (unsigned flags))                                                            \
    X(error_name, "cuGetErrorName", (int code, const char **name))                                 \
    X(error_text, "cuGetErrorString", (int code, const char **text))                               \
    X(device_count, "cuDeviceGetCount", (int *count))                                              \
    X(device_get, "cuDeviceGet", (int *device, int ordinal))                                       \
    X(context_retain, "cuDevicePrimaryCtxRetain", (void **context, int device))                    \
    X(context_push, "cuCtxPushCurrent_v2", (void *context))                                        \
    X(context_pop, "cuCtxPopCurrent_v2", (void **context))                                         \
    X(context_wait, "cuCtxSynchronize", (void))                                                    \
    X(memory_info, "cuMemGetInfo_v2", (size_t *unused, size_t *total))                             \
    X(memory_get, "cuMemAlloc_v2", (uint64_t *memory, size_t size))                                \
    X(memory_free, "cuMemFree_v2", (uint64_t memory))                                              \
    X(host_get, "cuMemHostAlloc", (void **memory, size_t size, unsigned flags))                    \
    X(host_free, "cuMemFreeHost", (void *memory))                                                  \
    X(copy_in, "cuMemcpyHtoDAsync_v2", (uint64_t to, const void *from, size_t size, void *stream)) \
    X(copy_out, "cuMemcpyDtoH_v2", (void *to, uint64_t from, size_t size))                         \
    X(stream_open, "cuStreamCreate", (void **stream, unsigned flags))                              \
    X(stream_close, "cuStreamDestroy_v2", (void *stream))                                          \
    X(stream_await, "cuStreamWaitEvent", (void *stream, void *event, unsigned flags))              \
    X(stream_wait, "cuStreamSynchronize", (void *stream))                                          \
    X(event_open, "cuEventCreate", (void **event, unsigned flags))                                 \
    X(event_close, "cuEventDestroy_v2", (void *event))                                             \
    X(event_record, "cuEventRecord", (void *event, void *stream))                                  \
    X(event_wait, "cuEventSynchronize", (void *event))                                             \
    X(module_load, "cuModuleLoadDataEx",                                                           \
      (void **module, const void *image, unsigned n, int *options, void **values))                 \
    X(module_unload, "cuModuleUnload", (void *module))                                             \
    X(module_kernel, "cuModuleGetFunction", (void **kernel, void *module, const char *name))       \
    X(launch, "cuLaunchKernel",                                                                    \
      (void *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,          \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream, void **args,       \
       void **extra))

struct stk_cuda {
#define STK_CUDA_FIELD(field, symbol, args) int(*field) args;
    STK_CUDA_CALLS(STK_CUDA_FIELD)
#undef STK_CUDA_FIELD
};

struct stk_cuda_device {
    const struct stk_cuda *cuda;
    int ordinal;
    void *context;
    struct stoker_memory_source pinned; // pinned memory
};

// The number of devices. STOKER_EMISSING: no driver, or it doesn't start.
STK_MUST_CHECK enum stoker_status stk_cuda_count(int *n, struct stoker_err *err);
// The same object for the life of the process. STOKER_EMISSING: no driver, no such device.
STK_MUST_CHECK enum stoker_status stk_cuda_device(int ordinal, const struct stk_cuda_device **out,
                                                  struct stoker_err *err);
// Makes the context current on this thread until stk_cuda_leave.
STK_MUST_CHECK enum stoker_status stk_cuda_enter(const struct stk_cuda_device *d,
                                                 struct stoker_err *err);
void stk_cuda_leave(const struct stk_cuda_device *d);
// Converts the driver's result `code` of the call `what`: STOKER_OK, STOKER_ELIMIT if memory is
// short, else STOKER_EINPUT.
STK_MUST_CHECK enum stoker_status stk_cuda_check(const struct stk_cuda *c, int code,
                                                 const char *what, struct stoker_err *err);
