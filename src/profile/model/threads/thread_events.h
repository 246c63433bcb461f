// SPDX-License-Identifier: Apache-2.0
// All events of a host thread in the order of their starts, over its row and sub-rows (events
// that overlap without nesting are on a row of their own): longest first where they start together.
#pragma once

#include "profile/model/analysis.h"

struct stk_thread_row {
    int64_t start_ns, end_ns; // of the next event
    uint32_t next, end;       // events
};
struct stk_thread_events {
    const struct stk_analysis *a;
    struct stk_vec rows; // struct stk_thread_row: a heap of each row's remaining events
    int64_t others_ns;   // when the first event of the rows but the heap's first begins
};

void stk_thread_events_init(struct stk_thread_events *x, const struct stk_analysis *a);
void stk_thread_events_deinit(struct stk_thread_events *x);
// Start over with a thread, given by its root track; takes: per track, whether the row counts,
// NULL: all do. False: no memory.
bool stk_thread_events_begin(struct stk_thread_events *x, uint32_t root, const uint8_t *takes);
// Skips events that begin at or before t_ns.
void stk_thread_events_skip(struct stk_thread_events *x, int64_t t_ns);
// The next event; STK_NONE: no more.
uint32_t stk_thread_events_merge(struct stk_thread_events *x); // of several rows
static inline uint32_t stk_thread_events_next(struct stk_thread_events *x)
{
    struct stk_thread_row *first = x->rows.items;
    // While a row's events come before those of the others, only `next` moves.
    if (x->rows.count && first->next + 1 < first->end &&
        x->a->t->start_ns[first->next + 1] < x->others_ns) {
        return first->next++;
    }
    return stk_thread_events_merge(x);
}
