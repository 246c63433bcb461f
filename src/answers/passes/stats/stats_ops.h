// SPDX-License-Identifier: Apache-2.0
// Data of `stoker stats ops` for one rank, in addition to the sums of its operations: kernels and
// copies by the operation that launched them (stats_op_work.c), and operations that ran on the host
// between two copies (stats_op_islands.c).
#pragma once

#include "answers/passes/sums.h"

struct stk_op_kernel {
    const char *op, *kernel;
    uint64_t count;
    int64_t total_ns, op_ns; // op_ns: of all kernels of the operation
};
struct stk_op_copy {
    const char *op; // NULL: launched outside of every operation, or its launch is not recorded
    uint32_t line;  // index into the rank's devices
    uint8_t dir;    // enum stk_dir
    uint64_t count, sized;
    int64_t bytes, total_ns, exposed_ns; // exposed: union of the row's copies, less kernels
};
struct stk_op_island {
    const char *op;
    uint64_t count, copies, sized;
    int64_t bytes, host_ns;    // time of the operations themselves
    int64_t total_ns, step_ns; // of the islands; what of it is in used steps
};

struct stk_op_details {
    const struct stk_op_sums *sums;
    struct stk_op_kernel *kernels;
    struct stk_op_copy *copies;
    struct stk_op_island *islands;
    size_t kernel_count, copy_count, island_count;
    int64_t kernel_ns, owned_ns; // of all kernels; of those with an operation around their launch
};

// owner: as stk_op_sums_make gives it. False: no memory.
bool stk_op_work_sum(const struct stk_analysis *view, const uint32_t *owner,
                     struct stk_arena *arena, struct stk_op_details *out);
bool stk_op_islands_find(const struct stk_analysis *view, const uint32_t *owner,
                         struct stk_arena *arena, struct stk_op_details *out);
