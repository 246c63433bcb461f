// SPDX-License-Identifier: Apache-2.0
// How much of a GPU a launch can fill: the blocks that fit an SM at once, and how the grid spreads
// over the device.
#pragma once

#include "profile/store/trace.h"

// Shares are 0..1; below 0: not known.
struct stk_occupancy {
    double share;      // theoretical: warps that fit an SM, of those it can hold
    double grid_share; // the same with no more blocks than the grid has
    double waves;      // grid / blocks that the device holds at once
    double sm_share;   // SMs that get a block
    double tail_share; // the share that the last of several waves leaves empty
    int32_t blocks;    // that fit an SM at once; -1 not known
    const char *limit; // what keeps it below 1: "registers", "shared memory", "blocks", "block
                       // size"; NULL: nothing, or not known
};
struct stk_occupancy stk_occupancy_of(const struct stk_device *device,
                                      const struct stk_launch_config *config);
