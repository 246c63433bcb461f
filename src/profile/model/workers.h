// SPDX-License-Identifier: Apache-2.0
// What the worker processes of a PyTorch DataLoader did, from the records that stoker.trace_worker
// writes. Such a record isn't a rank of the run: it belongs to that of the training process.
#pragma once

#include "base/arena.h"
#include "profile/store/trace.h"

struct stk_worker_sum; // profile/model/summed.def

// Is this such a record?
bool stk_workers_is_record(const struct stk_trace *t);
// Its sums. False: no memory.
bool stk_workers_see(const struct stk_trace *t, struct stk_arena *arena,
                     struct stk_worker_sum *out);
