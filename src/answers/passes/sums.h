// SPDX-License-Identifier: Apache-2.0
// Sums per name that several analyses use: kernels (kernel_sums.c) and operations (op_sums.c) of
// one rank, in the arena.
#pragma once

#include "profile/model/view.h"

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
    int64_t runtime_ns;              // of the runtime's internals outside all operations
    int64_t mode_ns[STK_MODE_COUNT]; // of device_ns
    uint64_t mode_ops[STK_MODE_COUNT];
};

// The innermost operator around the launch call of a device operation, as string id +
// STK_OWNER_FIRST; or these.
enum { STK_OWNER_UNSELECTED, STK_OWNER_NONE, STK_OWNER_FIRST };

// Operations grouped by a key other than their name. The events around an operation:
struct stk_op_around {
    const struct stk_analysis *view;
    const uint32_t *events; // on its thread, outermost first, of all kinds except runtime calls
    uint32_t count;
    uint8_t *memo;   // per string id, first 0: for a grouping's own use
    char text[1024]; // for a group's name that is not in the trace
};
// The name of a host operation's group. For a device operation, `around` is empty: the name from
// its own row, which has priority over the operation around its launch call. Empty: unknown.
typedef struct stk_str stk_op_group_fn(struct stk_op_around *around, uint32_t event);

struct stk_op_group {
    const char *name; // NULL: operations without a known group
    uint64_t ops, device_ops;
    int64_t total_ns, self_ns; // of the operations on the host, as in struct stk_op_row
    int64_t device_ns;         // of device work launched directly by its operations
};
struct stk_op_groups {
    struct stk_op_group *rows; // in order of first occurrence
    size_t count;
    struct stk_op_sums *sums; // totals; its rows are the groups' of each side
};

// *partial: struct stk_kernel_sums.
STK_MUST_CHECK enum stoker_status stk_kernel_sums_see(const struct stk_analysis *view,
                                                      struct stk_arena *arena, void **partial,
                                                      struct stoker_err *err);
// For the used steps only, or everything selected. *owner, unless NULL: STK_OWNER_... per event of
// the trace, 0 for host events; the caller frees it with stk_free.
STK_MUST_CHECK enum stoker_status stk_op_sums_make(const struct stk_analysis *view, bool used_only,
                                                   struct stk_arena *arena,
                                                   struct stk_op_sums **out, uint32_t **owner,
                                                   struct stoker_err *err);
// For everything selected.
STK_MUST_CHECK enum stoker_status
stk_op_groups_make(const struct stk_analysis *view, stk_op_group_fn *group, struct stk_arena *arena,
                   struct stk_op_groups **out, struct stoker_err *err);
// *partial: struct stk_op_sums.
STK_MUST_CHECK enum stoker_status stk_op_sums_see(const struct stk_analysis *view,
                                                  struct stk_arena *arena, void **partial,
                                                  struct stoker_err *err);

// The same for the used steps only; for everything selected if the rank has none. Host operations
// count in the host's steps.
STK_MUST_CHECK enum stoker_status stk_kernel_sums_see_used(const struct stk_analysis *view,
                                                           struct stk_arena *arena, void **partial,
                                                           struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_op_sums_see_used(const struct stk_analysis *view,
                                                       struct stk_arena *arena, void **partial,
                                                       struct stoker_err *err);
