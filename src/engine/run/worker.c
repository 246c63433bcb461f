// SPDX-License-Identifier: Apache-2.0
// A worker's thread and the scheduler; see worker.h.
#include "engine/run/worker.h"

#include <sched.h>
#include <stddef.h>
#include <sys/resource.h>

#include "engine/memory/process_limits.h"

bool stk_worker_start(pthread_t *thread, void *(*work)(void *arg), void *arg)
{
    if (!stk_limits_take_thread()) {
        return false;
    }
    bool is_started = pthread_create(thread, NULL, work, arg) == 0;
    if (!is_started) {
        stk_limits_give_thread();
    }
    return is_started;
}

void stk_worker_join(pthread_t thread)
{
    pthread_join(thread, NULL);
    stk_limits_give_thread();
}

void stk_worker_be_batch(void)
{
#ifdef SCHED_BATCH
    struct sched_param none = {0};
    (void)sched_setscheduler(0, SCHED_BATCH, &none); // this thread; if refused, it keeps its policy
#endif
}

long stk_worker_pauses(void)
{
#ifdef RUSAGE_THREAD
    struct rusage r;
    return getrusage(RUSAGE_THREAD, &r) == 0 ? r.ru_nvcsw : 0;
#else
    return 0;
#endif
}
