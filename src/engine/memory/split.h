// SPDX-License-Identifier: Apache-2.0
// Copies so large that two threads make them in less time than one: cut into parts that whoever
// owns the pool may have done by another thread, too. Smaller ones are done at once, by the caller.
#pragma once

#include "engine/memory/buf.h"

struct stk_split {
    int64_t count, each;                               // units, and how many of them are a part
    void (*part)(void *arg, int64_t first, int64_t n); // on any thread, in any order
    void *arg;
};

// Work on `count` units that write `bytes` together; done when it returns. pool: NULL has nobody.
void stk_split_run(struct stk_pool *pool, size_t bytes, int64_t count,
                   void (*part)(void *arg, int64_t first, int64_t n), void *arg);
// As memcpy.
void stk_split_copy(struct stk_pool *pool, void *to, const void *from, size_t n);
