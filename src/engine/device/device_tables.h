// SPDX-License-Identifier: Apache-2.0
// Components that reach the device as bytes and become float32 there (struct stoker_byte_table).
// The tables are built on the CPU and copied to device memory once per stager.
#pragma once

#include "engine/device/device_kernels.h"
#include "stoker/device.h"

struct stk_device_table {
    int component, channels;
    bool is_planar;
    size_t at; // of its values, in floats
};

struct stk_device_tables { // of a stager; NULL: it has none
    const struct stk_cuda_device *device;
    const struct stk_device_kernels *kernels;
    struct stk_device_table *rows;
    int n;
    float *host;     // the CPU copy; lives as long as the tables
    uint64_t memory; // an address of the device
};

// Do the tables fit elements with these specs? Unknown dimensions aren't checked. STOKER_EINVAL:
// no.
STK_MUST_CHECK enum stoker_status stk_device_tables_check(const struct stoker_byte_table *t, int n,
                                                          const struct stoker_specs *specs,
                                                          struct stoker_err *err);
// Copies the tables on `stream`. n > 0. The device's context is current, here and below.
STK_MUST_CHECK enum stoker_status stk_device_tables_open(struct stk_device_tables **out,
                                                         const struct stk_cuda_device *d,
                                                         const struct stoker_byte_table *t, int n,
                                                         void *stream, struct stoker_err *err);
void stk_device_tables_close(struct stk_device_tables *t); // the stream is idle; takes NULL
// NULL: the component isn't converted. `t` may be NULL.
const struct stk_device_table *stk_device_tables_find(const struct stk_device_tables *t,
                                                      int component);
// Does a value fit its table? STOKER_EINVAL: no.
STK_MUST_CHECK enum stoker_status stk_device_table_suits(const struct stk_device_table *row,
                                                         const struct stoker_tensor *t,
                                                         struct stoker_err *err);
// Queues the conversion of the bytes of `t` at `from` to floats at `to`.
STK_MUST_CHECK enum stoker_status
stk_device_table_apply(const struct stk_device_tables *t, const struct stk_device_table *row,
                       const struct stoker_tensor *bytes, uint64_t from, uint64_t to, void *stream,
                       uint64_t *launches, struct stoker_err *err);
// Sets the tensor's dtype and dimensions to those after conversion.
void stk_device_table_shape(const struct stk_device_table *row, struct stoker_tensor *t);
