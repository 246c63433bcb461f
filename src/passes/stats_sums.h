// SPDX-License-Identifier: Apache-2.0
// Sums per name that more than one analysis is made of: kernels (stats_kernels.c) and operations
// (stats_ops.c) of one rank, in the arena.
#ifndef STK_PASSES_STATS_SUMS_H
#define STK_PASSES_STATS_SUMS_H

#include "model/view.h"

struct stk_kernel_row {
    const char *name;
    uint32_t id;   // string id of the trace, while it is there
    uint32_t line; // index into the rank's devices; rows come in its order
    uint64_t count;
    int64_t total_ns, min_ns, max_ns;
};
struct stk_kernel_sums {
    struct stk_kernel_row *rows;
    uint32_t row_count;
    uint64_t count, short_count;
    int64_t kernel_ns, total_ns, short_ns; // union over the streams of a device; sums
};

struct stk_op_row {
    const char *name;
    uint64_t count;
    int64_t total_ns, self_ns, device_ns;
    bool on_device;
};
struct stk_op_sums {
    struct stk_op_row *rows;
    size_t count;
    int64_t host_ns, device_ns; // sums of self time
};

// *partial: struct stk_kernel_sums.
STK_MUST_CHECK enum stk_status stk_kernel_sums_see(const struct stk_analysis *view,
                                                   struct stk_arena *arena, void **partial,
                                                   struct stk_err *err);
// *partial: struct stk_op_sums.
STK_MUST_CHECK enum stk_status stk_op_sums_see(const struct stk_analysis *view,
                                               struct stk_arena *arena, void **partial,
                                               struct stk_err *err);

// The same of the used steps alone; of everything selected where the rank has none. Host operations
// count in the host's steps.
STK_MUST_CHECK enum stk_status stk_kernel_sums_see_used(const struct stk_analysis *view,
                                                        struct stk_arena *arena, void **partial,
                                                        struct stk_err *err);
STK_MUST_CHECK enum stk_status stk_op_sums_see_used(const struct stk_analysis *view,
                                                    struct stk_arena *arena, void **partial,
                                                    struct stk_err *err);

#endif
