// SPDX-License-Identifier: Apache-2.0
// All events of a host thread in the order of their starts, over its row and sub-rows (events
// that overlap without nesting are on a row of their own): longest first where they start together.
#pragma once

#include "profile/model/analysis.h"

struct stk_thread_events {
    const struct stk_analysis *a;
    struct stk_vec rows; // a heap of what is left of each row
};

void stk_thread_events_init(struct stk_thread_events *x, const struct stk_analysis *a);
void stk_thread_events_deinit(struct stk_thread_events *x);
// Start over with a thread, given by its root track. False: no memory.
bool stk_thread_events_begin(struct stk_thread_events *x, uint32_t root);
// The next event; STK_NONE: no more.
uint32_t stk_thread_events_next(struct stk_thread_events *x);
