// SPDX-License-Identifier: Apache-2.0
// The time of a run by stack of calls, for the exports that hold that instead of events
// (collapsed, speedscope, pprof).
#pragma once

#include "answers/export/export.h"

#define STK_STACK_DEPTH 512     // frames, the row's own among them
#define STK_STACK_ROW_BYTES 700 // of a row's name, with its end

// A stack: its innermost frame, and the time in which nothing was nested inside it. What is around
// it stands before it.
struct stk_stack {
    uint32_t frame; // string id in `frames`
    uint32_t depth; // 0: a row (thread, stream), whose frame is its name
    // Of the thread, waiting included; of device work that the call launched, or of the work itself
    // in its innermost frame.
    int64_t host_ns, device_ns;
};

struct stk_stacks {
    struct stk_stack *stacks; // each after its enclosing one; rows come one after another
    size_t count;
    struct stk_strpool frames;
    int64_t first_ns, last_ns;  // common time that was looked at; first > last: none
    int64_t host_ns, device_ns; // sums
};

// Makes the stacks of x, and its counts. Needs stk_stacks_deinit in any case.
STK_MUST_CHECK enum stoker_status stk_stacks_make(struct stk_export *x, struct stk_stacks *s,
                                                  struct stoker_err *err);
void stk_stacks_deinit(struct stk_stacks *s);

// The stack that is i-th, as places in `stacks` from the outermost call on, the row left out unless
// it is all there is: goes along with i = 0, 1, ..., count - 1.
struct stk_stack_path {
    uint32_t at[STK_STACK_DEPTH];
};
// How many frames; *first is the first of them.
uint32_t stk_stack_path_next(struct stk_stack_path *path, const struct stk_stacks *s, uint32_t i,
                             const uint32_t **first);

// What a frame's text says of its place: of a Python function its name, file and line; else the
// text, no file, and line 0.
struct stk_stack_source {
    struct stk_str name, file;
    int64_t line;
};
struct stk_stack_source stk_stack_source_of(const struct stk_stacks *s, uint32_t frame);
