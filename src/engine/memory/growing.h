// SPDX-License-Identifier: Apache-2.0
// Bytes whose number shows only as they come: in pieces out of a pool, which become one buffer at
// the end. Nothing is copied before the last byte is there, so what is refused for its size never
// takes more than the bytes that came. Bytes that fit the first piece are never copied.
#pragma once

#include "engine/memory/buf.h"

enum { STK_GROWING_PIECES = 48 };

struct stk_growing {
    struct stk_pool *pool;
    struct stk_buf *pieces[STK_GROWING_PIECES];
    int count;
    size_t first, used, filled; // bytes of the first piece; of the last; of those before it
};

// first: bytes that are likely. Nothing is allocated yet.
void stk_growing_begin(struct stk_growing *g, struct stk_pool *pool, size_t first);
// Where the next bytes go, and how many have room there, one at least. NULL: no memory; *wanted
// says how many bytes.
uint8_t *stk_growing_room(struct stk_growing *g, size_t *room, size_t *wanted);
void stk_growing_took(struct stk_growing *g, size_t n); // so many were written there
size_t stk_growing_size(const struct stk_growing *g);
// All of them in one buffer, which is the caller's; the pieces are let go. NULL: no memory.
struct stk_buf *stk_growing_end(struct stk_growing *g);
void stk_growing_drop(struct stk_growing *g); // without a result
