// SPDX-License-Identifier: Apache-2.0
// Copies so large that two threads are faster than one: split into parts, some of which the pool's
// owner may give to another thread. Smaller copies run on the caller's thread.
#pragma once

#include "engine/memory/buf.h"

struct stk_split {
    int64_t count, each;                               // units, and units per part
    void (*part)(void *arg, int64_t first, int64_t n); // called on any thread, in any order
    void *arg;
};

// Does `count` units that write `bytes` in total; done on return. pool: NULL: no helper.
void stk_split_run(struct stk_pool *pool, size_t bytes, int64_t count,
                   void (*part)(void *arg, int64_t first, int64_t n), void *arg);
// As memcpy.
void stk_split_copy(struct stk_pool *pool, void *to, const void *from, size_t n);
