// SPDX-License-Identifier: Apache-2.0
// Collectives matched across ranks: who waits, and for whom.
#pragma once

#include "profile/model/summary.h"

// Matches the k-th collective of each name and group over the ranks of `run`, moves the waiting
// part of exposed communication to `collective_wait` (steps, devices), and fills run->straggler and
// run->rank_events_unequal. `device_base[r]` and `step_base[r]` are the offsets of rank r in the
// concatenated arrays. Does nothing with one rank.
STK_MUST_CHECK enum stoker_status
stk_collectives_match(struct stk_run_sum *run, const uint32_t *device_base,
                      const uint32_t *step_base, struct stk_arena *arena, struct stoker_err *err);

// Without class, ordinal and step. Longer times than it holds are cut.
void stk_collective_fill(struct stk_collective *c, int64_t start_ns, int64_t dur_ns,
                         int64_t exposed_ns);
