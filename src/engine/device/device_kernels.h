// SPDX-License-Identifier: Apache-2.0
// The staging code's kernels and their launches. They are PTX, which the driver translates for its
// device on first use; they stay loaded for the life of the process, like the device's context.
#pragma once

#include <stdbool.h>

#include "engine/device/cuda.h"

// Both are byte look-ups: byte x of channel c becomes the float32 at 256 * c + x of the table. They
// do no arithmetic, so results have exactly the bits that the CPU put into the table.
enum stk_device_kernel {
    STK_KERNEL_FLOATS, // in the same layout
    STK_KERNEL_PLANES, // (images, pixels, channels) becomes (images, channels, pixels)
    STK_KERNELS
};

struct stk_device_kernels {
    void *function[STK_KERNELS];
};

// The device's context is current. Returns the same object for the life of the process.
// STOKER_EINPUT: the driver rejects the kernels.
STK_MUST_CHECK enum stoker_status stk_device_kernels_get(const struct stk_cuda_device *d,
                                                         const struct stk_device_kernels **out,
                                                         struct stoker_err *err);

struct stk_lookup { // the data of a launch: device addresses
    uint64_t to, from, table;
    int64_t images, pixels, channels; // bytes are images * pixels * channels
    bool has_one_table;               // one table of 256 values for all channels
};
// Most bytes of a launch; more take several launches.
#define STK_LOOKUP_PIXELS_MAX ((int64_t)1 << 30) // of an image, for STK_KERNEL_PLANES

// Queues the look-up on the stream. Adds to *launches. The device's context is current.
STK_MUST_CHECK enum stoker_status stk_device_look_up(const struct stk_cuda_device *d,
                                                     const struct stk_device_kernels *k,
                                                     const struct stk_lookup *l, bool is_planar,
                                                     void *stream, uint64_t *launches,
                                                     struct stoker_err *err);
