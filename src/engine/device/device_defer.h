// SPDX-License-Identifier: Apache-2.0
// Arithmetic left to the device. Where the last map of a pipeline ends by making floats of bytes
// (a cast, a chain of sums and products with constants, planes of pixels), the bytes are what is
// batched and copied, and a table says what each of them becomes: see struct stoker_byte_table.
//
// The table is filled by the operation itself, so that its bits are those of the pipeline. The map
// may lie below stages that hand elements on as they are. Left alone: values that something else
// needs as well, and components that are too small for a kernel to be worth its launch.
#pragma once

#include "engine/graph/dataset.h"
#include "stoker/device.h"

struct stk_deferred {
    struct stk_dataset *ds; // the pipeline to run, rewritten; NULL: there is nothing to leave
    int n;                  // tables, and components that they are for
    struct stoker_byte_table *tables;
};

// What is left of `ds` to the device. STOKER_ENOMEM and nothing else; *out is to be ended either
// way.
STK_MUST_CHECK enum stoker_status stk_device_defer(struct stk_deferred *out, struct stk_dataset *ds,
                                                   enum stk_on_error policy,
                                                   struct stoker_err *err);
void stk_deferred_end(struct stk_deferred *d);
