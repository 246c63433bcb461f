// SPDX-License-Identifier: Apache-2.0
// Splits copies; see split.h.
#include "engine/memory/split.h"

#include "base/assert.h"
#include "engine/memory/stream_copy.h"

// Waking a thread takes tens of microseconds. A part takes about as long, so splitting pays off for
// copies of milliseconds, and the faster thread waits little for the other.
#define SPLIT_BYTES_MIN ((size_t)16 << 20)
#define PART_BYTES ((size_t)512 << 10)

void stk_split_run(struct stk_pool *pool, size_t bytes, int64_t count,
                   void (*part)(void *arg, int64_t first, int64_t n), void *arg)
{
    STK_ASSERT(count >= 0);
    if (bytes < SPLIT_BYTES_MIN || count < 2 || !pool) {
        part(arg, 0, count);
        return;
    }
    int64_t each = (int64_t)(PART_BYTES / (bytes / (size_t)count + 1));
    struct stk_split s = {count, each < 1 ? 1 : each, part, arg};
    if (!stk_pool_split(pool, &s)) {
        part(arg, 0, count);
    }
}

struct span {
    uint8_t *to;
    const uint8_t *from;
    size_t n;
};

// One unit is one part.
static void copy_part(void *arg, int64_t first, int64_t n)
{
    const struct span *s = arg;
    size_t at = (size_t)first * PART_BYTES, end = at + (size_t)n * PART_BYTES;
    end = end < s->n ? end : s->n;
    stk_copy_part(s->to + at, s->from + at, end - at, s->n);
}

void stk_split_copy(struct stk_pool *pool, void *to, const void *from, size_t n)
{
    struct span s = {to, from, n};
    stk_split_run(pool, n, (int64_t)((n + PART_BYTES - 1) / PART_BYTES), copy_part, &s);
}
