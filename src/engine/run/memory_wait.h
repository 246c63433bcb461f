// SPDX-License-Identifier: Apache-2.0
// Waiting for memory. Where a run's budget is used up, a worker that reads or collects elements may
// wait until the consumer has let go of some, instead of failing; so that whether a pipeline fits
// does not depend on who runs first. Not the consumer's own thread, which nobody would wake, and
// not a worker in a function over elements, which is run again instead (async.h).
//
// A worker that reads what nobody waits for yet (is_ahead) has a part of the budget only, and waits
// for as long as that is so; its is_over says by stk_pool_set_ahead(false) when it no longer is.
//
// Limit: that memory will never become free is concluded from the consumer's waiting for a second
// while none did.
#pragma once

#include <stdbool.h>

#define STK_MEMORY_WAIT_MS 2      // between looks for memory
#define STK_MEMORY_WAIT_TRIES 500 // while nothing is freed and the consumer waits

struct stk_memory_wait {
    bool (*is_over)(void *arg); // until when; NULL: it does not wait
    void *arg;
    bool is_ahead;
};

// How this thread waits for memory from now on; returns how it did.
struct stk_memory_wait stk_memory_wait_set(struct stk_memory_wait how);
// Of a run's pool, which asks it when there is too little; `run` is a struct stk_run. A look later;
// *idle, 0 at first, counts unsuccessful looks between calls. False: do without.
bool stk_memory_wait_once(void *run, int *idle);
