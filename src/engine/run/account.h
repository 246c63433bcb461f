// SPDX-License-Identifier: Apache-2.0
// Time accounts: each thread charges the time since its last change of stage to the stage it was
// in. CPU time is the wall time scaled by the thread's own share of CPU, which is measured every
// millisecond and after each piece of a worker, since reading the CPU clock for each block would
// cost more than small blocks do. What was charged too much or too little meanwhile is made good
// then, so that sums are right when other programs take the processors away.
// Limit: stages that run on one thread share that ratio.
#pragma once

#include "engine/run/iter.h"

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
    struct stk_permits *had; // NULL: none
};
struct stk_wait stk_wait_begin(void);
void stk_wait_end(struct stk_wait w, struct stk_iter *it);

// A thread's account.
struct stk_account {
    struct stk_iter *stage, *before; // the latter as of the last change to a stage
    uint64_t since_ns;
    uint64_t worked_ns, cpu_ns; // wall time since the ratio was measured; the CPU clock then
    uint64_t charged_ns;        // of CPU since then
    uint64_t debt_ns;           // charged too much before
    uint32_t ratio;             // CPU per wall, of RATIO_ONE; 0: not measured yet
};
// Around the use of another pipeline by a function of the stage that this thread works for: to that
// stage it is as any other call, whose time and processor time are the stage's own; the other
// pipeline keeps an account beside.
struct stk_account stk_account_set_aside(void);
void stk_account_take_up(const struct stk_account *was);
