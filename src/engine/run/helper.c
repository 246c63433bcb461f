// SPDX-License-Identifier: Apache-2.0
// Help with large copies; see helper.h. Both threads take parts by adding to one counter. The
// caller closes the work when the counter is past its end, and waits for a part still in progress.
#include "engine/run/helper.h"

#include <signal.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/thread.h"
#include "engine/memory/split.h"
#include "engine/run/account.h"
#include "engine/run/fork.h"
#include "engine/run/worker.h"

struct stk_helper {
    struct stk_run *run;    // outlives the helper
    pthread_mutex_t asking; // held by the thread being helped
    pthread_mutex_t lock;   // guards the following fields except `next`
    pthread_cond_t has_work, is_out;
    pthread_t thread;
    bool is_started, is_stopping, is_inside;
    const struct stk_split *work; // NULL: none, or closed
    int64_t next;                 // first unit not taken; atomic
    uint64_t cpu_ns;              // CPU time of the helper's thread for the work
};

struct stk_helper *stk_helper_open(struct stk_run *run)
{
    struct stk_helper *h = stk_alloc_zero(1, sizeof *h);
    if (h) {
        h->run = run;
        pthread_mutex_init(&h->asking, NULL);
        pthread_mutex_init(&h->lock, NULL);
        pthread_cond_init(&h->has_work, NULL);
        pthread_cond_init(&h->is_out, NULL);
    }
    return h;
}

void stk_helper_close(struct stk_helper *h)
{
    if (!h) {
        return;
    }
    if (h->is_started && h->run->forks == stk_fork_count()) {
        pthread_mutex_lock(&h->lock);
        h->is_stopping = true;
        pthread_cond_signal(&h->has_work);
        pthread_mutex_unlock(&h->lock);
        stk_worker_join(h->thread);
    }
    pthread_cond_destroy(&h->is_out);
    pthread_cond_destroy(&h->has_work);
    pthread_mutex_destroy(&h->lock);
    pthread_mutex_destroy(&h->asking);
    stk_free(h);
}

static void take_parts(struct stk_helper *h, const struct stk_split *w)
{
    for (;;) {
        int64_t first = __atomic_fetch_add(&h->next, w->each, __ATOMIC_RELAXED);
        if (first >= w->count) {
            return;
        }
        int64_t left = w->count - first;
        w->part(w->arg, first, left < w->each ? left : w->each);
    }
}

static void *help(void *arg)
{
    struct stk_helper *h = arg;
    stk_worker_be_batch();
    pthread_mutex_lock(&h->lock);
    while (!h->is_stopping) {
        const struct stk_split *w = h->work;
        if (!w) {
            pthread_cond_wait(&h->has_work, &h->lock);
            continue;
        }
        h->work = NULL; // take each work once
        h->is_inside = true;
        pthread_mutex_unlock(&h->lock);
        uint64_t start_ns = stk_clock_of(CLOCK_THREAD_CPUTIME_ID);
        take_parts(h, w);
        uint64_t cpu_ns = stk_clock_of(CLOCK_THREAD_CPUTIME_ID) - start_ns;
        pthread_mutex_lock(&h->lock);
        h->cpu_ns = cpu_ns;
        h->is_inside = false;
        pthread_cond_signal(&h->is_out);
    }
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

// Caller holds `asking`, so it is the only one here.
static bool start(struct stk_helper *h)
{
    if (h->is_started) {
        return true;
    }
    sigset_t before;
    bool masked = stk_thread_block_signals(&before);
    h->is_started = stk_worker_start(&h->thread, help, h);
    if (masked) {
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    return h->is_started;
}

static void offer(struct stk_helper *h, const struct stk_split *work)
{
    pthread_mutex_lock(&h->lock);
    h->next = 0;
    h->cpu_ns = 0;
    h->work = work;
    pthread_cond_signal(&h->has_work);
    pthread_mutex_unlock(&h->lock);
}

// After this, no thread works on it.
static void close_work(struct stk_helper *h)
{
    pthread_mutex_lock(&h->lock);
    h->work = NULL;
    while (h->is_inside) {
        pthread_cond_wait(&h->is_out, &h->lock);
    }
    uint64_t cpu_ns = h->cpu_ns;
    pthread_mutex_unlock(&h->lock);
    stk_account_add(cpu_ns);
}

bool stk_helper_split(void *helper, const struct stk_split *work)
{
    struct stk_helper *h = helper;
    STK_ASSERT(work->count > 0 && work->each > 0);
    if (h->run->forks != stk_fork_count() || pthread_mutex_trylock(&h->asking)) {
        return false;
    }
    bool is_shared = stk_permits_lend(&h->run->permits, h->run->options.threads);
    if (is_shared && start(h)) {
        offer(h, work);
        take_parts(h, work);
        close_work(h);
        stk_permits_give_back(&h->run->permits);
    } else if (is_shared) {
        stk_permits_give_back(&h->run->permits);
        is_shared = false;
    }
    pthread_mutex_unlock(&h->asking);
    return is_shared;
}
