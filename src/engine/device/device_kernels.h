// SPDX-License-Identifier: Apache-2.0
// The kernels of the staging code, and their launches. They are PTX, which the driver translates
// for the device it has when one is first asked for; they stay loaded for the life of the process,
// as the device's context does.
#pragma once

#include <stdbool.h>

#include "engine/device/cuda.h"

// Both look bytes up: a value x of channel c becomes the float32 at 256 * c + x of the table. They
// do no arithmetic on values, so that what they give has the bits that the host put into the table.
enum stk_device_kernel {
    STK_KERNEL_FLOATS, // in the same places
    STK_KERNEL_PLANES, // (images, pixels, channels) becomes (images, channels, pixels)
    STK_KERNELS
};

struct stk_device_kernels {
    void *function[STK_KERNELS];
};

// The device's context is current. The same object for the life of the process. STOKER_EINPUT: the
// driver does not take them.
STK_MUST_CHECK enum stoker_status stk_device_kernels_get(const struct stk_cuda_device *d,
                                                         const struct stk_device_kernels **out,
                                                         struct stoker_err *err);

struct stk_lookup { // what a launch works on: addresses of the device
    uint64_t to, from, table;
    int64_t images, pixels, channels; // bytes are images * pixels * channels
    bool has_one_table;               // of 256 values for all channels
};
// Bytes that a launch may have; more are several launches.
#define STK_LOOKUP_PIXELS_MAX ((int64_t)1 << 30) // of an image, for STK_KERNEL_PLANES

// Puts it on the stream. *launches is added to. The device's context is current.
STK_MUST_CHECK enum stoker_status stk_device_look_up(const struct stk_cuda_device *d,
                                                     const struct stk_device_kernels *k,
                                                     const struct stk_lookup *l, bool is_planar,
                                                     void *stream, uint64_t *launches,
                                                     struct stoker_err *err);
