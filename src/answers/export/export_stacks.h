// SPDX-License-Identifier: Apache-2.0
// The time of a run by call stack, for the exports that have it instead of events (collapsed,
// speedscope, pprof).
#pragma once

#include "answers/export/export.h"

#define STK_STACK_DEPTH 512     // frames, including the row's
#define STK_STACK_ROW_BYTES 700 // of a row's name, with its end

// A stack: its innermost frame, and the time in which nothing was nested inside it. It comes after
// the enclosing stack.
struct stk_stack {
    uint32_t frame; // string id in `frames`
    uint32_t depth; // 0: a row (thread, stream), whose frame is its name
    // Of the thread, including waiting; of device work that the call launched, or of the work
    // itself in its innermost frame.
    int64_t host_ns, device_ns;
};

struct stk_stacks {
    struct stk_stack *stacks; // each after its enclosing one; rows come one after another
    size_t count;
    struct stk_strpool frames;
    int64_t first_ns, last_ns;  // the covered common time; first > last: none
    int64_t host_ns, device_ns; // sums
};

// Makes the stacks of x, and its counts. Call stk_stacks_deinit in any case.
STK_MUST_CHECK enum stoker_status stk_stacks_make(struct stk_export *x, struct stk_stacks *s,
                                                  struct stoker_err *err);
void stk_stacks_deinit(struct stk_stacks *s);

// The i-th stack, as indices into `stacks` from the outermost call inwards, without the row unless
// it is the only frame. Call it for i = 0, 1, ..., count - 1.
struct stk_stack_path {
    uint32_t at[STK_STACK_DEPTH];
};
// The number of frames; *first is the first.
uint32_t stk_stack_path_next(struct stk_stack_path *path, const struct stk_stacks *s, uint32_t i,
                             const uint32_t **first);

// The source of a frame, from its text: a Python function's name, file and line; otherwise the
// text, no file, and line 0.
struct stk_stack_source {
    struct stk_str name, file;
    int64_t line;
};
struct stk_stack_source stk_stack_source_of(const struct stk_stacks *s, uint32_t frame);
