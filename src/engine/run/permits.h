// SPDX-License-Identifier: Apache-2.0
// Permits limit how many engine threads work at once, over all stages of a run. A thread takes one
// for each piece of work and returns it while it waits for another stage. The consumer's own thread
// needs none. If the process has a limit of cores (process_limits.h), a permit of the whole process
// comes with each.
#pragma once

#include <pthread.h>
#include <stdbool.h>

struct stk_permits {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    int permits, taken, most;
    const int *is_off; // atomic: all waits end
};

void stk_permits_open(struct stk_permits *g, int permits, const int *is_off);
void stk_permits_close(struct stk_permits *g);
// Blocks until a permit is free; a thread holds at most one. stk_permit_return returns it to the
// run it came from, even if the thread now works for another: a worker's function may pull from
// another pipeline. NULL: it had none.
void stk_permit_take(struct stk_permits *g);
struct stk_permits *stk_permit_return(void);
// Lends and takes back only the process's permit, if this thread has one.
bool stk_permit_lend_of_all(void);
void stk_permit_take_of_all(void);
void stk_permits_wake(void); // after a change of the process's limit, or a cancellation
// A permit for a thread that helps this one, if fewer than `limit` threads work, including this
// one; never waits. False: none. This thread must return it, too.
bool stk_permits_lend(struct stk_permits *g, int limit);
void stk_permits_give_back(struct stk_permits *g);
bool stk_permit_is_held(void);                            // by this thread, of any run
void stk_permits_set(struct stk_permits *g, int permits); // 0: unchanged, but waiters check again
