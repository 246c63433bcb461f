// SPDX-License-Identifier: Apache-2.0
// The newest values of a sampler's record (machine.stk) that is still being written: follows the
// file as it grows, and keeps the last RING values of each counter. Memory depends on what lives
// now, not on the length of the record: ended processes are forgotten.
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "profile/model/machine/machine.h"

struct stk_live_record;

// The caller keeps `fd`. is_own: nobody else reads the file, so the read part is freed (by punching
// holes), and a record in memory stays small.
STK_MUST_CHECK enum stoker_status stk_live_record_open(struct stk_live_record **out, int fd,
                                                       bool is_own, struct stoker_err *err);
void stk_live_record_close(struct stk_live_record *r); // takes NULL
// Reads what was written since the last call. Skips and counts damage. An error: no memory.
STK_MUST_CHECK enum stoker_status stk_live_record_follow(struct stk_live_record *r,
                                                         struct stoker_err *err);

struct stk_live_record_state {
    bool is_record, has_ended; // the file is a record; its writer has ended it
    int64_t newest_ns;         // of its values, on the writer's monotonic clock; 0: none
    uint64_t bytes, damaged, lost;
    double look_s; // between looks; 0: unknown
};
struct stk_live_record_state stk_live_record_state(const struct stk_live_record *r);
// Why a source is not sampled: "nvml: no NVIDIA driver"; NULL after the last.
const char *stk_live_record_absent(const struct stk_live_record *r, size_t index);
// The last `window_ns` (at least five looks) as a separate record in `arena`, with the living
// processes. Its names are valid until the next stk_live_record_follow. NULL: no memory, or no
// looks yet.
struct stk_machine_view *stk_live_record_view(const struct stk_live_record *r, int64_t window_ns,
                                              struct stk_arena *arena);
