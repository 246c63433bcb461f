// SPDX-License-Identifier: Apache-2.0
// Permits cap how many of the engine's threads work at once, over all stages of a run. A thread
// takes one for each piece of work and lends it out while it waits for another stage. The
// consumer's own thread needs none. Where the process has a limit of processors (process_limits.h),
// one of those of all runs goes with it.
#pragma once

#include <pthread.h>
#include <stdbool.h>

struct stk_permits {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    int permits, taken, most;
    const int *is_off; // atomic: nobody waits any more
};

void stk_permits_open(struct stk_permits *g, int permits, const int *is_off);
void stk_permits_close(struct stk_permits *g);
// Blocks until a permit is free; a thread has one at most. stk_permit_return gives it back to the
// run that it is of, whichever run the thread works for just now: a worker's function may pull from
// another pipeline. NULL: it had none.
void stk_permit_take(struct stk_permits *g);
struct stk_permits *stk_permit_return(void);
// The process' alone, where this thread has one.
bool stk_permit_lend_of_all(void);
void stk_permit_take_of_all(void);
void stk_permits_wake(void); // the process' limit is another, or a run is canceled
// One for a thread that helps this one, if fewer than `limit` threads work, this one counted; never
// waits. False: none. It is given back by this thread, too.
bool stk_permits_lend(struct stk_permits *g, int limit);
void stk_permits_give_back(struct stk_permits *g);
bool stk_permit_is_held(void);                            // by this thread, of any run
void stk_permits_set(struct stk_permits *g, int permits); // 0: as they are, but waits look again
