// SPDX-License-Identifier: Apache-2.0
// Time accounts: each thread charges the time since its last change of stage to the stage it was
// in. CPU time is the wall time scaled by the thread's own share of CPU, which is measured every
// millisecond and after each piece of a worker, since reading the CPU clock for each block would
// cost more than small blocks do. What was charged too much or too little meanwhile is made good
// then, so that sums are right when other programs take the processors away.
// Limit: stages that run on one thread share that ratio.
#ifndef STK_DATA_ACCOUNT_H
#define STK_DATA_ACCOUNT_H

#include "data/run/iter.h"

// The thread works for `it` from now on; returns for whom it did before.
struct stk_iter *stk_account_enter(struct stk_iter *it);
// given: elements that go to who asked the stage for them; 0 where workers make them for its ring.
void stk_account_leave(struct stk_iter *before, int64_t given);
// What the thread charged becomes what it used; the difference is that stage's.
void stk_account_settle(struct stk_iter *it);
// CPU time that another thread used for the stage this thread works for.
void stk_account_add(uint64_t cpu_ns);
// Around a wait: gives the permit back meanwhile. The time counts as starve_ns of `it`, whose
// elements are waited for (NULL: none), and wait_ns of the stage the thread works for.
struct stk_wait {
    uint64_t since_ns;
    bool had_permit;
};
struct stk_wait stk_wait_begin(struct stk_run *run);
void stk_wait_end(struct stk_run *run, struct stk_wait w, struct stk_iter *it);

#endif
