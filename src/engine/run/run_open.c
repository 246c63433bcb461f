// SPDX-License-Identifier: Apache-2.0
// Runs; see run_open.h. A run ends with its last reference: iterators, and the opener.
#include "engine/run/run_open.h"

#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/cgroup.h"
#include "base/seed.h"
#include "base/thread.h"
#include "engine/memory/process_limits.h"
#include "engine/run/fork.h"
#include "engine/run/helper.h"
#include "engine/run/memory_wait.h"
#include "engine/run/ring.h"
#include "engine/run/tuner.h"

#define RAM_FLOOR ((size_t)64 << 20)

// Half of what the machine, the container or the process's limit leaves free.
static size_t half_of_memory(void)
{
    long pages = sysconf(_SC_AVPHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    size_t half = pages > 0 && size > 0 ? (size_t)pages / 2 * (size_t)size : RAM_FLOOR;
    uint64_t group = stk_cgroup_memory_left() / 2;
    half = group < half ? (size_t)group : half;
    return half < RAM_FLOOR ? RAM_FLOOR : half;
}

enum stoker_status stk_run_open(struct stk_run **out, const struct stk_run_options *options,
                                struct stoker_err *err)
{
    *out = NULL;
    if (stk_limits_check(err) != STOKER_OK) {
        return STOKER_EINVAL;
    }
    struct stk_run *run = stk_alloc_zero(1, sizeof *run);
    if (!run) {
        return stk_err_nomem(err);
    }
    run->refs = 1;
    if (options) {
        run->options = *options;
    }
    int cpus = stk_limits_now().cpus;
    run->has_cap = run->options.threads > 0 || cpus > 0;
    if (run->options.threads <= 0) {
        run->options.threads = stk_thread_count();
    }
    run->options.threads = cpus > 0 && cpus < run->options.threads ? cpus : run->options.threads;
    run->seed = run->options.has_seed ? run->options.seed : stk_seed_draw();
    run->pool = stk_pool_open_in(run->options.ram_bytes ? run->options.ram_bytes : half_of_memory(),
                                 run->options.memory);
    if (!run->pool) {
        stk_free(run);
        return stk_err_nomem(err);
    }
    stk_pool_set_wait(run->pool, stk_memory_wait_once, run);
    stk_permits_open(&run->permits, run->options.threads, &run->is_cancelled);
    pthread_mutex_init(&run->short_lock, NULL);
    pthread_mutex_init(&run->rings_lock, NULL);
    pthread_mutex_init(&run->tree_lock, NULL);
    run->forks = stk_fork_count();
    run->helper = run->options.threads > 1 ? stk_helper_open(run) : NULL;
    stk_pool_set_split(run->pool, run->helper ? stk_helper_split : NULL, run->helper);
    *out = run;
    return STOKER_OK;
}

void stk_run_drop(struct stk_run *run)
{
    STK_ASSERT(!run || __atomic_load_n(&run->refs, __ATOMIC_RELAXED) > 0);
    if (run && __atomic_sub_fetch(&run->refs, 1, __ATOMIC_ACQ_REL) == 0) {
        STK_ASSERT(!run->rings && !run->root); // they hold references
        stk_tuner_close(run->tuner);
        if (run->helper) { // the helper belongs to the run; the pool may outlive it with its
                           // buffers
            stk_pool_set_split(run->pool, NULL, NULL);
            stk_helper_close(run->helper);
        }
        stk_pool_drop(run->pool);
        pthread_mutex_destroy(&run->tree_lock);
        pthread_mutex_destroy(&run->rings_lock);
        pthread_mutex_destroy(&run->short_lock);
        stk_permits_close(&run->permits);
        stk_free(run);
    }
}

void stk_run_cancel(struct stk_run *run)
{
    __atomic_store_n(&run->is_cancelled, 1, __ATOMIC_RELEASE);
    if (run->forks != stk_fork_count()) {
        return; // none of our threads wait in this process
    }
    stk_permits_set(&run->permits, 0);
    stk_permits_wake();
    pthread_mutex_lock(&run->rings_lock);
    for (struct stk_ring *r = run->rings; r; r = r->next) {
        stk_ring_wake(r);
    }
    pthread_mutex_unlock(&run->rings_lock);
}
