// SPDX-License-Identifier: Apache-2.0
// What tests tell the fake CUDA driver (fake_cuda.c), and ask of it. Found with dlsym, or linked.
#ifndef STK_TESTS_FAKE_CUDA_H
#define STK_TESTS_FAKE_CUDA_H

#include <stddef.h>
#include <stdint.h>

struct fake_cuda_counts {
    uint64_t misuses, copies, copied_bytes;
    uint64_t live_host, live_device, live_streams, live_events; // objects
    uint64_t device_bytes, device_bytes_peak;
    uint64_t launches, live_modules;
};

void fake_cuda_reset(void); // no failures, delays or limits; counts other than of live objects at 0
void fake_cuda_delay(int64_t copy_us);       // each copy takes that long
void fake_cuda_limit(uint64_t device_bytes); // memory of a device
void fake_cuda_devices(int n);               // how many there are
void fake_cuda_wrong(int is_wrong);          // whether lookups give other values than they should
// The n-th call of that entry point from now on (1: the next) and the `times` - 1 after it fail.
void fake_cuda_fail(const char *symbol, int nth, int times, int code);
void fake_cuda_counts(struct fake_cuda_counts *out);
const char *fake_cuda_misuse(void); // the first; "" if there was none
// A kernel that reads the memory for that long: a misuse if it holds what no copy has finished
// writing when it starts, or is written meanwhile. The sum of its bytes goes to *sum at the end.
int fake_cuda_kernel(void *stream, uint64_t memory, size_t size, int64_t us, uint64_t *sum);
void *fake_cuda_stream(int device); // a consumer's stream
void fake_cuda_stream_wait(void *stream);

#endif
