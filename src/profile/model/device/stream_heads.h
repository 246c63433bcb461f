// SPDX-License-Identifier: Apache-2.0
// Work launched before the recording began that ran after its begin: the head of a stream.
//
// A stream keeps its order: its head was launched earlier than the work after it. If all of that
// has a launch call, the head was launched before the recording began. A head of more than half of
// the work isn't a queue: calls were lost. If the input ends early, its last calls are missing, so
// only the work before those decides whether the head is a queue.
#pragma once

#include "profile/model/analysis.h"

// The work of a stream before its first operation with a launch call.
struct stk_stream_head {
    uint32_t count, linked; // linked: after it
    int64_t end_ns;         // of the last of it
    int64_t behind_ns;      // when the work after it begins
    bool is_torn;           // some work after it also lacks its call
};

// The track that stands for a stream; overlapping operations are in rows below it.
static inline uint32_t stk_stream_of(const struct stk_trace *t, uint32_t event)
{
    uint32_t track = stk_track_of(t, event);
    return t->tracks[track].parent != STK_NONE ? t->tracks[track].parent : track;
}

// line->queued and queued_end_ns. heads: as below.
void stk_line_find_queued(const struct stk_analysis *a, struct stk_device_line *line,
                          struct stk_stream_head *heads);
// heads: of all tracks, zero; those of the device's streams are filled.
void stk_stream_heads_find(const struct stk_analysis *a, const struct stk_device_line *line,
                           struct stk_stream_head *heads);

static inline bool stk_stream_head_is_queue(const struct stk_analysis *a,
                                            const struct stk_stream_head *h)
{
    uint32_t linked_least = a->whole_until_ns == INT64_MAX ? h->count + 1 : 1;
    return h->count > 0 && h->linked >= linked_least && !h->is_torn;
}
