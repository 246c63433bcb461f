// SPDX-License-Identifier: Apache-2.0
// Defers arithmetic to the device. If the pipeline's last map ends by converting bytes to floats (a
// cast, a chain of sums and products with constants, planes of pixels), the bytes are batched and
// copied, and a table maps each byte to its float: see struct stoker_byte_table.
//
// The operation itself fills the table, so the results match the pipeline's bit for bit. Stages
// above the map may only pass elements on. Not deferred: values that something else also needs, and
// components too small to be worth a kernel launch.
#pragma once

#include "engine/graph/dataset.h"
#include "stoker/device.h"

struct stk_deferred {
    struct stk_dataset *ds; // the pipeline to run, rewritten; NULL: nothing to defer
    int n;                  // number of tables, and of their components
    struct stoker_byte_table *tables;
};

// What to defer of `ds`. STOKER_ENOMEM is the only error; call stk_deferred_end(out) in any case.
STK_MUST_CHECK enum stoker_status stk_device_defer(struct stk_deferred *out, struct stk_dataset *ds,
                                                   enum stk_on_error policy,
                                                   struct stoker_err *err);
void stk_deferred_end(struct stk_deferred *d);
