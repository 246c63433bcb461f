// SPDX-License-Identifier: Apache-2.0
// Copies larger than the caches: written past them, which avoids reading the lines that are
// overwritten, a third of the traffic.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// Does it pay off for pieces of this size that make `total` bytes?
static inline bool stk_copy_is_streamed(size_t piece, size_t total)
{
    return piece >= ((size_t)16 << 10) && total >= ((size_t)16 << 20);
}
// Like memcpy, with the same visibility to other threads.
void stk_copy_streamed(void *to, const void *from, size_t n);
// Copies a piece of `total` bytes, in the faster way.
static inline void stk_copy_part(void *to, const void *from, size_t n, size_t total)
{
    if (stk_copy_is_streamed(n, total)) {
        stk_copy_streamed(to, from, n);
    } else {
        memcpy(to, from, n);
    }
}
