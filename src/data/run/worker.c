// SPDX-License-Identifier: Apache-2.0
// A worker's thread and the scheduler; see worker.h.
#include "data/run/worker.h"

#include <sched.h>
#include <stddef.h>
#include <sys/resource.h>

void stk_worker_be_batch(void)
{
#ifdef SCHED_BATCH
    struct sched_param none = {0};
    (void)sched_setscheduler(0, SCHED_BATCH, &none); // of this thread; refused: it stays as it is
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
