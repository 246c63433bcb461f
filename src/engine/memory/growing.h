// SPDX-License-Identifier: Apache-2.0
// Collects bytes of unknown number: in pieces from a pool, joined into one buffer at the end.
// Nothing is copied before the last byte has arrived, so data refused for its size never takes more
// than the bytes that arrived. Bytes that fit the first piece are never copied.
#pragma once

#include "engine/memory/buf.h"

enum { STK_GROWING_PIECES = 48 };

struct stk_growing {
    struct stk_pool *pool;
    struct stk_buf *pieces[STK_GROWING_PIECES];
    int count;
    size_t first, used, filled; // bytes: first piece, last piece, pieces before the last
};

// first: expected bytes. Allocates nothing yet.
void stk_growing_begin(struct stk_growing *g, struct stk_pool *pool, size_t first);
// Where to write the next bytes, and room for how many (at least 1). NULL: no memory; *wanted says
// how many bytes.
uint8_t *stk_growing_room(struct stk_growing *g, size_t *room, size_t *wanted);
void stk_growing_took(struct stk_growing *g, size_t n); // this many bytes were written there
size_t stk_growing_size(const struct stk_growing *g);
// Returns all bytes in one buffer, owned by the caller; drops the pieces. NULL: no memory.
struct stk_buf *stk_growing_end(struct stk_growing *g);
void stk_growing_drop(struct stk_growing *g); // drops everything
