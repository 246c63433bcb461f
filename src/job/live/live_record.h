// SPDX-License-Identifier: Apache-2.0
// The newest values of a sampler's record (machine.stk) that is still being written: the file is
// followed as it grows, and of each counter the last RING values are kept. Memory is bounded by
// what lives now, not by the record: processes that ended are forgotten.
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "profile/model/machine/machine.h"

struct stk_live_record;

// `fd` stays the caller's. is_own: nobody else reads the file, so what was read of it is given back
// (holes are punched), and a record in memory stays small.
STK_MUST_CHECK enum stoker_status stk_live_record_open(struct stk_live_record **out, int fd,
                                                       bool is_own, struct stoker_err *err);
void stk_live_record_close(struct stk_live_record *r); // takes NULL
// Reads what was written since. Damage is passed over and counted. An error: no memory.
STK_MUST_CHECK enum stoker_status stk_live_record_follow(struct stk_live_record *r,
                                                         struct stoker_err *err);

struct stk_live_record_state {
    bool is_record, has_ended; // it is one; its writer ended it
    int64_t newest_ns;         // of its values, on the writer's monotonic clock; 0: none
    uint64_t bytes, damaged, lost;
    double look_s; // between looks; 0: not known
};
struct stk_live_record_state stk_live_record_state(const struct stk_live_record *r);
// Why a source is not sampled: "nvml: no NVIDIA driver"; NULL beyond the last.
const char *stk_live_record_absent(const struct stk_live_record *r, size_t index);
// The last `window_ns` (at least five looks) as a record of its own, in `arena`, with the processes
// that live. Its names hold until the next stk_live_record_follow. NULL: no memory, or no looks
// yet.
struct stk_machine_view *stk_live_record_view(const struct stk_live_record *r, int64_t window_ns,
                                              struct stk_arena *arena);
