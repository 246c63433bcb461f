// SPDX-License-Identifier: Apache-2.0
// Sorting one track: shared by build_order.c, build_sort.c and build_nest.c.
#pragma once

#include "base/sort.h"
#include "profile/store/build_impl.h"

// Buffers that one worker reuses from track to track.
struct stk_order_scratch {
    struct {
        void *p;
        size_t size;
    } buffers[4];
    uint32_t long_from, long_to; // the current track's part of long_durs
};
// Duration of an event of the current track. Other workers write other parts of long_durs
// meanwhile, so the search stays inside the track's own.
static inline int64_t stk_order_dur(const struct stk_trace *t, const struct stk_order_scratch *x,
                                    uint32_t event)
{
    uint32_t low = x->long_from, high = x->long_to;
    if (t->dur_low[event] != UINT32_MAX) {
        return t->dur_low[event];
    }
    STK_BISECT(low, high, mid, t->long_durs[mid].event < event);
    return low < x->long_to ? t->long_durs[low].dur_ns : UINT32_MAX;
}
// Buffer `which` with room for n items, uninitialised, NULL without memory. Sorting uses 0 and 1,
// permuting 1 and 2, nesting 0 and 3.
void *stk_order_buffer(struct stk_order_scratch *x, int which, size_t n, size_t size);
void stk_order_scratch_free(struct stk_order_scratch *x);

// All three work on events [first, first + n); false: no memory.
bool stk_track_sort(struct stk_trace *t, uint32_t first, uint32_t n, struct stk_order_scratch *x);
// New event i is old event order[i] (relative to first).
bool stk_track_permute(struct stk_trace *t, uint32_t first, uint32_t n, const uint32_t *order,
                       bool depth_too, struct stk_order_scratch *x);
// Depths; events that overlap without nesting move to sub-rows after the track's own events.
bool stk_track_nest(struct stk_trace *t, uint32_t first, uint32_t n, struct stk_sub_rows *subs,
                    struct stk_order_scratch *x);
