// SPDX-License-Identifier: Apache-2.0
// What threads of a run share: permits to work, time accounts, and a list of those who wait.
//
// Permits cap how many of the engine's threads work at once, over all stages. A thread takes one
// for each piece of work and lends it out while it waits for another stage. The consumer's own
// thread needs none.
//
// Time accounts: each thread charges the time since its last change of stage to the stage it was
// in. CPU time is the wall time scaled by the thread's own share of CPU, which is measured every
// millisecond and after each piece of a worker, since reading the CPU clock for each block would
// cost more than small blocks do. What was charged too much or too little meanwhile is made good
// then, so that sums are right when other programs take the processors away.
// Limit: stages that run on one thread share that ratio.
#ifndef STK_DATA_GATE_H
#define STK_DATA_GATE_H

#include "data/graph/dataset.h"

uint64_t stk_clock_ns(void); // monotonic

// The thread works for `it` from now on; returns for whom it did before.
struct stk_iter *stk_account_enter(struct stk_iter *it);
// given: elements that go to who asked the stage for them; 0 where workers make them for its ring.
void stk_account_leave(struct stk_iter *before, int64_t given);
// What the thread charged becomes what it used; the difference is that stage's.
void stk_account_settle(struct stk_iter *it);
// Around a wait: gives the permit back meanwhile. The time counts as starve_ns of `it`, whose
// elements are waited for (NULL: none), and wait_ns of the stage the thread works for.
struct stk_wait {
    uint64_t since_ns;
    bool had_permit;
};
struct stk_wait stk_wait_begin(struct stk_run *run);
void stk_wait_end(struct stk_run *run, struct stk_wait w, struct stk_iter *it);

// Blocks until a permit is free; taken at most once by a thread. stk_permit_return takes it back.
void stk_permit_take(struct stk_run *run);
void stk_permit_return(struct stk_run *run);
void stk_permits_set(struct stk_run *run, int permits); // 0: as they are, but waits look again
// Of a worker's thread: when it is woken, it does not take the processor away from whoever runs
// there, which is mostly the consumer that took an element and has just woken it.
void stk_thread_set_batch(void);

// How often this thread gave its processor up so far. Unlike wall time, that does not grow when
// other programs, or other machines on the same processor, take their share.
long stk_thread_switches(void);

// Forks: threads of the parent are not there in the child, so its iterators cannot go on.
unsigned stk_fork_count(void);

#endif
