// SPDX-License-Identifier: Apache-2.0
// Permits to work; see permits.h.
#include "data/run/permits.h"

#include "base/assert.h"

static _Thread_local bool is_held;

void stk_permits_open(struct stk_permits *g, int permits, const int *is_off)
{
    STK_ASSERT(permits > 0);
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->freed, NULL);
    g->permits = permits;
    g->is_off = is_off;
}

void stk_permits_close(struct stk_permits *g)
{
    STK_ASSERT(g->taken == 0); // all threads of the run are gone
    pthread_cond_destroy(&g->freed);
    pthread_mutex_destroy(&g->lock);
}

void stk_permit_take(struct stk_permits *g)
{
    STK_ASSERT(!is_held);
    pthread_mutex_lock(&g->lock);
    while (g->taken >= g->permits && !__atomic_load_n(g->is_off, __ATOMIC_ACQUIRE)) {
        pthread_cond_wait(&g->freed, &g->lock);
    }
    g->taken++;
    g->most = g->taken > g->most ? g->taken : g->most;
    pthread_mutex_unlock(&g->lock);
    is_held = true;
}

void stk_permit_return(struct stk_permits *g)
{
    STK_ASSERT(is_held);
    pthread_mutex_lock(&g->lock);
    STK_ASSERT(g->taken > 0);
    g->taken--;
    pthread_cond_signal(&g->freed);
    pthread_mutex_unlock(&g->lock);
    is_held = false;
}

bool stk_permit_is_held(void)
{
    return is_held;
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
