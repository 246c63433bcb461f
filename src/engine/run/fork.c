// SPDX-License-Identifier: Apache-2.0
// Forks, counted in the child by a handler; see fork.h.
#include "engine/run/fork.h"

#include <pthread.h>

#include "engine/memory/buf.h"

static unsigned forks;

static void count_fork(void)
{
    forks++;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

STK_HOT unsigned stk_fork_count(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    return forks;
}
