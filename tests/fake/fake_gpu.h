// SPDX-License-Identifier: Apache-2.0
// Between the fake driver (fake_gpu.c, libcuda.so.1) and the fake CUPTI (fake_cupti.c): how a call
// or a piece of work is reported. Times are nanoseconds of the monotonic clock.
#ifndef STK_TESTS_FAKE_GPU_H
#define STK_TESTS_FAKE_GPU_H

#include <stddef.h>
#include <stdint.h>

enum { FAKE_KERNEL = 10, FAKE_MEMCPY = 1, FAKE_MEMSET = 2, FAKE_SYNC = 38 };
enum { FAKE_DRIVER = 1, FAKE_RUNTIME = 2 };

struct fake_call {
    int domain;
    uint32_t cbid, thread;
    uint64_t start_ns, end_ns;
    uint32_t correlation; // as CUPTI has it; the truth numbers calls without end
};
struct fake_work {
    int kind;
    uint64_t start_ns, end_ns;
    uint32_t device, stream, correlation, in_graph;
    const char *name;
    uint32_t grid[3], block[3], registers, shared_bytes;
    uint64_t bytes;
    uint8_t direction, from, to, flags;
    uint32_t sync_type;
};

// What the fake CUPTI takes; each answers whether it will record it.
struct fake_sink {
    int (*takes_call)(int domain, uint32_t cbid);
    void (*call)(const struct fake_call *);
    int (*takes_work)(int kind);
    void (*work)(const struct fake_work *);
};
void fake_gpu_attach(const struct fake_sink *sink); // of the fake driver
const char *fake_gpu_call_name(int domain, uint32_t cbid);

// A kernel: what cuLaunchKernel takes as a function.
struct fake_kernel {
    const char *name;
    uint64_t dur_ns;
    uint32_t registers;
};
// "CUDA" as the fake job calls it; the runtime's calls are here, too.
int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuDeviceGetCount(int *n);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetName(char *name, int n, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceTotalMem_v2(size_t *bytes, int device);
int cuLaunchKernel(const void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                   unsigned by, unsigned bz, unsigned shared, void *stream, void **args,
                   void **more);
int cudaLaunchKernel(const struct fake_kernel *kernel, unsigned grid, unsigned block,
                     uintptr_t stream);
int cudaMemcpyAsync(size_t bytes, int direction, uintptr_t stream);
int cudaMemsetAsync(size_t bytes, uintptr_t stream);
int cudaGraphLaunch(const struct fake_kernel *kernels, int n, uintptr_t stream);
int cudaStreamSynchronize(uintptr_t stream);
int cudaDeviceSynchronize(void);
int cudaGetLastError(void);

#endif
