// SPDX-License-Identifier: Apache-2.0
// What the worker processes of a PyTorch DataLoader did, from the records that stoker.trace_worker
// writes. Such a record is no rank of the run: it goes with that of the process that trains.
#ifndef STK_MODEL_WORKERS_H
#define STK_MODEL_WORKERS_H

#include "base/arena.h"
#include "profile/store/trace.h"

struct stk_worker_sum {
    uint32_t workers; // records; 0: none
    uint64_t items, batches;
    int64_t batch_ns;   // making batches
    int64_t item_ns;    // of it, making items
    int64_t collate_ns; // of it, putting them together
    int64_t wall_ns;    // from the first batch to the last: what is not making batches is waiting
    const char *item; // what makes an item, by Python's frame: that with the most time; NULL: none
    int64_t most_ns;  // its time
};

// Is this such a record?
bool stk_workers_is_record(const struct stk_trace *t);
// What it says. False: no memory.
bool stk_workers_see(const struct stk_trace *t, struct stk_arena *arena,
                     struct stk_worker_sum *out);
void stk_workers_add(struct stk_worker_sum *into, const struct stk_worker_sum *from);

#endif
