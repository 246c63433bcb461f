// SPDX-License-Identifier: Apache-2.0
// How a worker's thread deals with the scheduler.
#pragma once

#include <pthread.h>
#include <stdbool.h>

// False: the system gives no thread, or the process has reached its limit (process_limits.h).
bool stk_worker_start(pthread_t *thread, void *(*work)(void *arg), void *arg);
void stk_worker_join(pthread_t thread);
// When this thread wakes, it doesn't preempt the running thread, which is mostly the consumer that
// took an element and woke it.
void stk_worker_be_batch(void);
// How often this thread has given up its core. Unlike wall time, this doesn't grow when other
// programs, or other machines on the same core, take their share.
long stk_worker_pauses(void);
