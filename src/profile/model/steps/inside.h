// SPDX-License-Identifier: Apache-2.0
// What the events inside of a function of one row come to.
#pragma once

#include "profile/model/analysis.h"

struct stk_inside {
    const struct stk_trace *t;
    uint32_t first, count; // events of the row
    // Up to each event of the row, itself not; one more at the end.
    uint32_t *works, *brings, *takes, *calls;
    int64_t *work_ns, *data_ns; // of the outermost ones
};

// `work`: classes of names that count as work. False: no memory; closed either way.
bool stk_inside_open(struct stk_inside *in, const struct stk_analysis *a, uint32_t row,
                     uint32_t work);
void stk_inside_close(struct stk_inside *in);

struct stk_inside_sum {
    // Events that are work; calls that make arrays (stk_feed_brings), and that read results back.
    uint32_t works, brings, takes;
    int64_t work_ns;
    // In calls that show that data are at hand: a library's of arrays or files, one that makes
    // arrays or hands them over, the framework's work, and what blocks.
    int64_t data_ns;
};
// Of the events inside of one of the row.
struct stk_inside_sum stk_inside_of(const struct stk_inside *in, uint32_t function);
// Is an event of the row one that data_ns counts?
bool stk_inside_is_data(const struct stk_inside *in, uint32_t event);
// data_ns of a row's events from `first` to before `end`.
int64_t stk_inside_data_ns(const struct stk_inside *in, uint32_t first, uint32_t end);
// Calls of JAX's compiled code among them, but for those that make keys of random numbers.
uint32_t stk_inside_calls(const struct stk_inside *in, uint32_t first, uint32_t end);
