// SPDX-License-Identifier: Apache-2.0
// Data of stats_kernels.c in addition to the sums of answers/passes/sums.h: how kernels were
// launched, and what limits them (stats_kernel_launch.c, stats_kernel_cost.c).
#pragma once

#include "profile/model/device/device_rates.h"
#include "profile/model/device/kernel_names.h"
#include "profile/model/device/occupancy.h"
#include "answers/passes/sums.h"

// Of one row of the sums.
struct stk_kernel_facts {
    struct stk_kernel_traits traits;
    struct stk_launch_config config; // the way of launching it that took most time
    struct stk_occupancy occupancy;  // of that one
    bool has_config;
    double flops, bytes;           // of the runs whose cost is known
    int64_t flops_ns, bytes_ns;    // their time; 0: of none
    double peak_flops, peak_bytes; // per second, 0 not known
};

// One way of launching a kernel.
struct stk_kernel_way {
    uint32_t row; // of the sums
    struct stk_launch_config config;
    struct stk_occupancy occupancy;
    uint64_t count;
    int64_t total_ns;
};

struct stk_kernel_partial {
    struct stk_kernel_sums *sums;
    struct stk_kernel_facts *facts; // per row of the sums
    struct stk_kernel_way *ways;    // of the rows that take most time, by row
    uint32_t way_count;
    int64_t latency_ns; // from a launch call to its kernel on an idle device, -1 not known
    uint64_t below_count;
    int64_t below_ns; // kernels shorter than that
};

// *partial: struct stk_kernel_partial. Needs STK_WANT_LAUNCHES for all but the sums.
STK_MUST_CHECK enum stoker_status stk_kernel_launch_see(const struct stk_analysis *view,
                                                        struct stk_arena *arena, void **partial,
                                                        struct stoker_err *err);

// Adds the costs of host operators to the kernels that they launched. row_of: per string id and
// device, rows of the sums plus one, by key (string id, device); chosen: bits of the events that
// count. owner: as stk_op_sums_make gives it, where rows are of operations; NULL: of kernels.
// False: no memory.
struct stk_map;
bool stk_kernel_cost_add(const struct stk_analysis *view, const struct stk_map *row_of,
                         const uint32_t *owner, const uint8_t *chosen,
                         struct stk_kernel_facts *facts);
// Whether the cost in a kernel's own row belongs to this kernel: if an operation of TensorFlow
// launches several, only those that compute a product get its operations.
static inline bool stk_kernel_bears_flops(const struct stk_launch_config *c,
                                          struct stk_kernel_traits traits)
{
    return !c->grid[0] || traits.tensor_core != STK_TENSOR_NO;
}
// String id that names a kernel's row: of the operation that owns it, or its own.
uint32_t stk_kernel_row_id(const struct stk_trace *t, const uint32_t *owner, uint32_t event);
// Whether host operators have the costs of their kernels.
bool stk_kernel_has_host_costs(const struct stk_trace *t);

// "compute", "memory", "latency" (neither is near its limit), "unknown"; *roof_share: of the limit
// that is nearer, -1 not known.
const char *stk_kernel_bound(const struct stk_kernel_facts *facts, double *roof_share);
