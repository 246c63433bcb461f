// SPDX-License-Identifier: Apache-2.0
// Batches that the loop makes itself, without a function for it.
#pragma once

#include "profile/model/analysis.h"
#include "profile/model/steps/inside.h"
#include "profile/model/threads/thread_walk.h"

// Finds calls that make a framework's array from host data, once per name.
struct stk_hands {
    const struct stk_trace *t;
    uint8_t *by_name;
};

// False: no memory; closed either way.
bool stk_hands_open(struct stk_hands *h, const struct stk_trace *t);
void stk_hands_close(struct stk_hands *h);
bool stk_hands_over(struct stk_hands *h, uint32_t event);

// A step of a row: its start, and the start of its first work (INT64_MAX without work).
struct stk_own_step {
    int64_t start_ns, work_ns;
};
struct stk_own_batches {
    struct stk_vec *marks;           // struct stk_mark: the function around them
    const struct stk_inside *inside; // of the row
    uint32_t steps;                  // that have any
    int64_t handing_ns;              // in calls that hand data over
    int64_t data_ns;                 // of the marks, in calls that show that data is processed
};
// The least share of a preparation's time in such calls: plain Python may compute a rate or a
// metric.
#define STK_DATA_LEAST 0.05
// Marks the time in `row` from each step's start to the last call that hands data over before the
// step's work. `cursor` is scratch. False: no memory.
bool stk_own_batches_find(const struct stk_analysis *a, uint32_t row, struct stk_hands *hands,
                          const struct stk_own_step *of_step, struct stk_thread_cursor *cursor,
                          struct stk_own_batches *out);
