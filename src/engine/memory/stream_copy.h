// SPDX-License-Identifier: Apache-2.0
// Copies whose result is larger than what caches hold: written past them, which spares reading the
// lines that are overwritten, a third of the traffic.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

// Is it worth it, for pieces of so many bytes that make `total` together?
static inline bool stk_copy_is_streamed(size_t piece, size_t total)
{
    return piece >= ((size_t)16 << 10) && total >= ((size_t)16 << 20);
}
// As memcpy. Other threads see the bytes as they see those of memcpy.
void stk_copy_streamed(void *to, const void *from, size_t n);
// A piece of `total` bytes, whichever way is better.
static inline void stk_copy_part(void *to, const void *from, size_t n, size_t total)
{
    if (stk_copy_is_streamed(n, total)) {
        stk_copy_streamed(to, from, n);
    } else {
        memcpy(to, from, n);
    }
}
