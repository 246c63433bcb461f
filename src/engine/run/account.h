// SPDX-License-Identifier: Apache-2.0
// Time accounts: each thread charges the time since its last change of stage to the stage it was
// in. CPU time is wall time scaled by the thread's own share of CPU. That share is measured every
// millisecond and after each of a worker's pieces, because reading the CPU clock for each block
// would cost more than small blocks do. Each measurement corrects earlier over- and undercharges,
// so sums are right even if other programs take the CPU.
// Limit: stages that run on the same thread share that ratio.
#pragma once

#include "engine/run/iter.h"

// The thread works for `it` from now on; returns the stage it worked for before.
struct stk_iter *stk_account_enter(struct stk_iter *it);
// given: elements returned to the stage's caller; 0 if workers make them for its ring.
void stk_account_leave(struct stk_iter *before, int64_t given);
// Measures now, and charges the stage the difference between CPU time used and charged.
void stk_account_settle(struct stk_iter *it);
// Adds CPU time that another thread used for this thread's stage.
void stk_account_add(uint64_t cpu_ns);
// Around a wait: returns the permit meanwhile. The time counts as starve_ns of `it`, whose elements
// are waited for (NULL: none), and as wait_ns of the stage the thread works for.
struct stk_wait {
    uint64_t since_ns;
    struct stk_permits *had; // NULL: none
};
struct stk_wait stk_wait_begin(void);
void stk_wait_end(struct stk_wait w, struct stk_iter *it);

// A thread's account.
struct stk_account {
    struct stk_iter *stage, *before; // before: the stage before the last change
    uint64_t since_ns;
    uint64_t worked_ns, cpu_ns; // wall time since the ratio was measured; CPU clock at that time
    uint64_t charged_ns;        // CPU time charged since then
    uint64_t debt_ns;           // overcharged before, still to subtract
    uint32_t ratio;             // CPU per wall time, in RATIO_ONE; 0: not measured yet
};
// Around a call from a stage's function into another pipeline. To that stage it is like any other
// call, whose wall and CPU time are the stage's own; the other pipeline keeps its own account.
struct stk_account stk_account_set_aside(void);
void stk_account_take_up(const struct stk_account *was);
