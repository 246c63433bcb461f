// SPDX-License-Identifier: Apache-2.0
// Threads: how many to use, and run-to-completion helpers.
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

// Cores this process may use (respecting affinity and STOKER_THREADS), at least 1, at most 64.
int stk_thread_count(void);
// Run fn(arg, index) on `n` threads (the caller is one of them) and wait for all. If threads cannot
// be created, or STOKER_THREADS allows fewer, the remaining indices run on the caller: the work is
// always done.
void stk_thread_run(int n, void (*fn)(void *arg, int index), void *arg);
// The same for `count` tasks: up to `threads` threads take them in order, each the next one not
// taken.
void stk_thread_each(int threads, size_t count, void (*fn)(void *arg, size_t task), void *arg);
// Blocks signals, except faults, for threads started until pthread_sigmask(SIG_SETMASK, before,
// NULL). False: that failed.
bool stk_thread_block_signals(sigset_t *before);
