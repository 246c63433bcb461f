// SPDX-License-Identifier: Apache-2.0
// Permits to work; see permits.h.
#include "engine/run/permits.h"

#include "base/assert.h"
#include "engine/memory/process_limits.h"

static _Thread_local struct stk_permits *held; // whose permit this thread holds; NULL: none
static _Thread_local bool is_one_of_all;       // it also holds one of the process's
static _Thread_local bool has_lent_of_all;     // it lent one of the process's to a helper

static struct { // for all runs
    pthread_mutex_t lock;
    pthread_cond_t freed;
    int taken;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER, .freed = PTHREAD_COND_INITIALIZER};

static void lock_all(void)
{
    pthread_mutex_lock(&all.lock);
}

static void unlock_all(void)
{
    pthread_mutex_unlock(&all.lock);
}

static void forget_all(void) // in a forked child, which doesn't have those threads
{
    all.taken = 0;
    pthread_cond_init(&all.freed, NULL);
    unlock_all();
}

static void watch_forks(void)
{
    pthread_atfork(lock_all, unlock_all, forget_all);
}

static void take_of_all(const int *is_off)
{
    if (stk_limits_now().cpus == 0) {
        return;
    }
    lock_all();
    for (int most; (most = stk_limits_now().cpus) != 0 && all.taken >= most &&
                   !__atomic_load_n(is_off, __ATOMIC_ACQUIRE);) {
        pthread_cond_wait(&all.freed, &all.lock);
    }
    all.taken++;
    unlock_all();
    is_one_of_all = true;
}

static void give_back_of_all(void)
{
    lock_all();
    STK_ASSERT(all.taken > 0);
    all.taken--;
    pthread_cond_signal(&all.freed);
    unlock_all();
}

static void return_of_all(void)
{
    if (is_one_of_all) {
        give_back_of_all();
        is_one_of_all = false;
    }
}

// Takes one of the process's permits for a helper, if one is free besides this thread's.
static bool lend_of_all(void)
{
    int most = stk_limits_now().cpus;
    if (most == 0) {
        return true;
    }
    lock_all();
    has_lent_of_all = all.taken + !is_one_of_all < most;
    all.taken += has_lent_of_all;
    unlock_all();
    return has_lent_of_all;
}

bool stk_permit_lend_of_all(void)
{
    bool was_one = is_one_of_all;
    return_of_all();
    return was_one;
}

void stk_permit_take_of_all(void)
{
    static const int is_never_off;
    take_of_all(&is_never_off);
}

void stk_permits_wake(void)
{
    lock_all();
    pthread_cond_broadcast(&all.freed);
    unlock_all();
}

void stk_permits_open(struct stk_permits *g, int permits, const int *is_off)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    STK_ASSERT(permits > 0);
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->freed, NULL);
    g->permits = permits;
    g->is_off = is_off;
}

void stk_permits_close(struct stk_permits *g)
{
    STK_ASSERT(g->taken == 0); // all threads of the run have ended
    pthread_cond_destroy(&g->freed);
    pthread_mutex_destroy(&g->lock);
}

void stk_permit_take(struct stk_permits *g)
{
    STK_ASSERT(!held);
    pthread_mutex_lock(&g->lock);
    while (g->taken >= g->permits && !__atomic_load_n(g->is_off, __ATOMIC_ACQUIRE)) {
        pthread_cond_wait(&g->freed, &g->lock);
    }
    g->taken++;
    g->most = g->taken > g->most ? g->taken : g->most;
    pthread_mutex_unlock(&g->lock);
    take_of_all(g->is_off);
    held = g;
}

static void give_back(struct stk_permits *g)
{
    pthread_mutex_lock(&g->lock);
    STK_ASSERT(g->taken > 0);
    g->taken--;
    pthread_cond_signal(&g->freed);
    pthread_mutex_unlock(&g->lock);
}

bool stk_permits_lend(struct stk_permits *g, int limit)
{
    pthread_mutex_lock(&g->lock);
    int working = g->taken + (held != g); // the consumer's own thread isn't among those taken
    bool is_free = working < limit && g->taken < g->permits;
    g->taken += is_free;
    g->most = g->taken > g->most ? g->taken : g->most;
    pthread_mutex_unlock(&g->lock);
    if (is_free && !lend_of_all()) {
        give_back(g);
        return false;
    }
    return is_free;
}

void stk_permits_give_back(struct stk_permits *g)
{
    if (has_lent_of_all) {
        give_back_of_all();
        has_lent_of_all = false;
    }
    give_back(g);
}

struct stk_permits *stk_permit_return(void)
{
    struct stk_permits *g = held;
    if (g) {
        return_of_all();
        give_back(g);
        held = NULL;
    }
    return g;
}

bool stk_permit_is_held(void)
{
    return held != NULL;
}

void stk_permits_set(struct stk_permits *g, int permits)
{
    pthread_mutex_lock(&g->lock);
    if (permits == g->permits) {
        pthread_mutex_unlock(&g->lock);
        return;
    }
    g->permits = permits > 0 ? permits : g->permits;
    pthread_cond_broadcast(&g->freed);
    pthread_mutex_unlock(&g->lock);
}
