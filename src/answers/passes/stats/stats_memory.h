// SPDX-License-Identifier: Apache-2.0
// Results from the allocator events of one rank: the memory of each allocator over time, and the
// live memory at its peak (stats_memory_events.c), for the tables (stats_memory.c).
#pragma once

#include "profile/model/view.h"

#define STK_MEMORY_POINTS 500 // of a time line: the largest value of each of as many bins
#define STK_MEMORY_NAMED 8    // operations named at each of them

struct stk_memory_point {
    int64_t t_ns, bytes, reserved_bytes; // reserved: -1 not known
    uint32_t event;                      // of those in order of time
    uint32_t live_first, live_count;     // in the sums' `live`: those with the most memory
};
enum stk_memory_origin {
    STK_MEMORY_BLOCKS, // blocks allocated by an operation
    STK_MEMORY_OLDER,  // allocated before the profile began
    STK_MEMORY_PROGRAM // outside the heap, for a running program (XLA's "stack")
};
struct stk_memory_live {
    enum stk_memory_origin origin;
    const char *op; // NULL: not known
    int64_t bytes;
    uint64_t blocks;
};
// The memory of one allocator on one device, or on the host.
struct stk_memory_pool {
    int64_t device;        // ordinal, -1 the host
    const char *allocator; // NULL: not named
    bool is_absolute;      // levels are recorded; else they are counted from the profile's start
    bool has_addresses;    // frees can be matched with allocations
    uint64_t allocations, frees;
    int64_t peak_ns, peak_bytes;     // in the selected time; peak_bytes -1: nothing there
    int64_t reserved_bytes;          // at the peak, -1 not known
    int64_t capacity_bytes;          // of the device, 0 not known
    double fragmentation_share;      // at the peak, below 0 not known
    struct stk_memory_live *live;    // at the peak, by op
    struct stk_memory_point *points; // by time
    uint32_t live_count, point_count;
};
// One used step: device memory, or the host's if no device's is recorded.
struct stk_memory_step {
    int64_t number, allocated_bytes, freed_bytes, peak_bytes, end_bytes;
    uint64_t allocations;
};
struct stk_memory_sums {
    struct stk_memory_pool *pools;
    struct stk_memory_step *steps;
    struct stk_memory_live *live; // at the points of all pools
    uint32_t pool_count, step_count;
    bool steps_on_host; // no device's memory is recorded
    int64_t base_ns;    // of the trace, when this was made
};

// *partial: struct stk_memory_sums, NULL where the rank has no allocator event.
STK_MUST_CHECK enum stoker_status stk_memory_sums_see(const struct stk_analysis *view,
                                                      struct stk_arena *arena, void **partial,
                                                      struct stoker_err *err);
