// SPDX-License-Identifier: Apache-2.0
// Waiting for memory; see memory_wait.h.
#include "engine/run/memory_wait.h"

#include <unistd.h>

#include "engine/memory/process_limits.h"
#include "engine/run/account.h"

static _Thread_local struct stk_memory_wait memory_wait;

struct stk_memory_wait stk_memory_wait_set(struct stk_memory_wait how)
{
    struct stk_memory_wait before = memory_wait;
    before.is_ahead = stk_pool_is_ahead();
    memory_wait = how;
    stk_pool_set_ahead(how.is_ahead);
    return before;
}

bool stk_memory_wait_once(void *arg, int *idle)
{
    struct stk_run *run = arg;
    if (!memory_wait.is_over || memory_wait.is_over(memory_wait.arg)) {
        return false;
    }
    uint64_t used = stk_pool_stats_of(run->pool).in_use_bytes;
    uint64_t all_used = stk_limits_use().ram_bytes;
    __atomic_add_fetch(&run->memory_waits, 1, __ATOMIC_RELAXED);
    struct stk_wait w = stk_wait_begin();
    usleep(STK_MEMORY_WAIT_MS * 1000);
    stk_wait_end(w, NULL);
    bool is_freed =
        stk_pool_stats_of(run->pool).in_use_bytes < used || stk_limits_use().ram_bytes < all_used;
    bool is_awaited = __atomic_load_n(&run->root_waits, __ATOMIC_RELAXED) != 0;
    *idle = is_freed || stk_pool_is_ahead() ? 0 : *idle + is_awaited;
    return *idle < STK_MEMORY_WAIT_TRIES;
}
