// SPDX-License-Identifier: Apache-2.0
// What a worker's thread tells the scheduler, and asks it.
#pragma once

#include <pthread.h>
#include <stdbool.h>

// False: the system gives no thread, or the process has as many as it may (process_limits.h).
bool stk_worker_start(pthread_t *thread, void *(*work)(void *arg), void *arg);
void stk_worker_join(pthread_t thread);
// When it wakes up, it doesn't preempt the thread that runs there, which is mostly the consumer
// that took an element and has just woken it.
void stk_worker_be_batch(void);
// How often this thread gave its processor up so far. Unlike wall time, that does not grow when
// other programs, or other machines on the same processor, take their share.
long stk_worker_pauses(void);
