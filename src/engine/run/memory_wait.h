// SPDX-License-Identifier: Apache-2.0
// Waiting for memory. If a run's budget is used up, a worker that reads or collects elements may
// wait until the consumer releases some, instead of failing; so whether a pipeline fits doesn't
// depend on who runs first. The consumer's own thread never waits, because nothing would wake it;
// nor does a worker inside a function over elements, which is run again instead (async.h).
//
// A worker that reads ahead of need (is_ahead) gets only a part of the budget, and waits beyond
// that. When the elements are needed, its is_over calls stk_pool_set_ahead(false).
//
// Limit: memory counts as never becoming free if the consumer waited for a second while none did.
#pragma once

#include <stdbool.h>

#define STK_MEMORY_WAIT_MS 2      // between checks for memory
#define STK_MEMORY_WAIT_TRIES 500 // checks without progress while the consumer waits

struct stk_memory_wait {
    bool (*is_over)(void *arg); // until when; NULL: never waits
    void *arg;
    bool is_ahead;
};

// Sets how this thread waits for memory; returns the previous way.
struct stk_memory_wait stk_memory_wait_set(struct stk_memory_wait how);
// For a run's pool, which calls it when memory runs short; `run` is a struct stk_run. Waits for one
// check; *idle, 0 at first, counts checks without progress. False: give up.
bool stk_memory_wait_once(void *run, int *idle);
