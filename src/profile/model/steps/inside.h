// SPDX-License-Identifier: Apache-2.0
// Totals of the events inside a function of one row.
#pragma once

#include "base/vec.h"
#include "profile/model/analysis.h"

struct stk_inside {
    const struct stk_trace *t;
    uint32_t first, count; // events of the row
    struct stk_vec totals; // of struct total, where they change
};

// `notes`: the row's (notable.h). False: no memory; closed either way.
bool stk_inside_open(struct stk_inside *in, const struct stk_analysis *a, uint32_t row,
                     const struct stk_vec *notes);
void stk_inside_close(struct stk_inside *in);

struct stk_inside_sum {
    // Events that are work; calls that make arrays (stk_feed_brings), and that read results back;
    // calls of JAX's compiled code, except those that make random keys.
    uint32_t works, brings, takes, calls;
    int64_t work_ns; // of the outermost ones
    // In the outermost calls that show that data is processed: of a library of arrays or files,
    // calls that make arrays or hand them over, the framework's work, and blocking calls.
    int64_t data_ns;
};
// Of the events inside of one of the row.
struct stk_inside_sum stk_inside_of(const struct stk_inside *in, uint32_t function);
// Of the row's events from `first` to before `end`.
struct stk_inside_sum stk_inside_between(const struct stk_inside *in, uint32_t first, uint32_t end);
// Is an event of the row one that data_ns counts?
bool stk_inside_is_data(const struct stk_inside *in, uint32_t event);
