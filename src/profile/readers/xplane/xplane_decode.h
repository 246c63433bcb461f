// SPDX-License-Identifier: Apache-2.0
// Decoding the events of many lines with several workers.
//
// The lines, in file order, are cut into tasks of about equal size. Each task fills its own shard,
// so rows are in file order for any number of workers, and equal input gives equal traces. A line
// larger than a task is cut between two events. Where an event begins is guessed from the bytes
// there. The guess is right if decoding the bytes before arrives at it. If one is wrong, everything
// is decoded again with cuts found by hopping over the lengths of all events.
#pragma once

#include "profile/readers/reader.h"
#include "profile/readers/xplane/xplane_event.h"

struct stk_xp_decode_job {
    struct stk_build *build;
    struct stk_pb_source source;
    const struct stk_xp_plane *planes;
    size_t plane_count;
    const struct stk_xp_line *lines;
    size_t line_count;
    int threads;
    uint32_t wants;                      // bits STK_WANT_...
    const struct stk_progress *progress; // may be NULL; called on the caller's thread only
    uint64_t done_bytes, total_bytes;    // for progress; done_bytes is counted up
    bool truncated;                      // out: the source ended before a line did
};
STK_MUST_CHECK enum stoker_status stk_xp_decode_lines(struct stk_xp_decode_job *job,
                                                      struct stoker_err *err);
