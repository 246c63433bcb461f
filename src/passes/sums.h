// SPDX-License-Identifier: Apache-2.0
// Sums per name that more than one analysis is made of: kernels (kernel_sums.c) and operations
// (op_sums.c) of one rank, in the arena.
#ifndef STK_PASSES_SUMS_H
#define STK_PASSES_SUMS_H

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

// How device work, or an operator, was issued.
enum stk_op_mode {
    STK_MODE_UNKNOWN,
    STK_MODE_EAGER,    // one operator at a time
    STK_MODE_FUNCTION, // by TensorFlow's graph executor: tf.function, sessions
    STK_MODE_COMPILED, // by code of torch.compile
    STK_MODE_XLA,      // by an XLA executable: jit, jit_compile, TPU programs
    STK_MODE_GRAPH,    // by replaying a device graph
    STK_MODE_COUNT
};

struct stk_op_row {
    const char *name;
    uint64_t count;
    int64_t total_ns, self_ns, device_ns;
    bool on_device;
    uint8_t modes; // bit 1 << enum stk_op_mode of each that was seen
};
struct stk_op_sums {
    struct stk_op_row *rows;
    size_t count;
    int64_t host_ns, device_ns;      // sums of self time
    int64_t runtime_ns;              // of the runtime's internals outside of every operation
    int64_t mode_ns[STK_MODE_COUNT]; // of device_ns
    uint64_t mode_ops[STK_MODE_COUNT];
};

// The innermost operator around the launch call of a device operation, as string id +
// STK_OWNER_FIRST; or these.
enum { STK_OWNER_UNSELECTED, STK_OWNER_NONE, STK_OWNER_FIRST };

// *partial: struct stk_kernel_sums.
STK_MUST_CHECK enum stoker_status stk_kernel_sums_see(const struct stk_analysis *view,
                                                      struct stk_arena *arena, void **partial,
                                                      struct stoker_err *err);
// Of the used steps alone, or of everything selected. *owner, if asked for: STK_OWNER_... per event
// of the trace, 0 for those of the host; the caller frees it with stk_free.
STK_MUST_CHECK enum stoker_status stk_op_sums_make(const struct stk_analysis *view, bool used_only,
                                                   struct stk_arena *arena,
                                                   struct stk_op_sums **out, uint32_t **owner,
                                                   struct stoker_err *err);
// *partial: struct stk_op_sums.
STK_MUST_CHECK enum stoker_status stk_op_sums_see(const struct stk_analysis *view,
                                                  struct stk_arena *arena, void **partial,
                                                  struct stoker_err *err);

// The same of the used steps alone; of everything selected where the rank has none. Host operations
// count in the host's steps.
STK_MUST_CHECK enum stoker_status stk_kernel_sums_see_used(const struct stk_analysis *view,
                                                           struct stk_arena *arena, void **partial,
                                                           struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_op_sums_see_used(const struct stk_analysis *view,
                                                       struct stk_arena *arena, void **partial,
                                                       struct stoker_err *err);

#endif
