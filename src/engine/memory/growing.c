// SPDX-License-Identifier: Apache-2.0
// Each piece is as large as all before it, up to PIECE_MAX. See growing.h.
#include "engine/memory/growing.h"

#include <string.h>

#include "base/assert.h"

#define PIECE_MAX ((size_t)64 << 20)

void stk_growing_begin(struct stk_growing *g, struct stk_pool *pool, size_t first)
{
    *g = (struct stk_growing){.pool = pool, .first = first ? first : 1};
}

size_t stk_growing_size(const struct stk_growing *g)
{
    return g->filled + g->used;
}

uint8_t *stk_growing_room(struct stk_growing *g, size_t *room, size_t *wanted)
{
    struct stk_buf *last = g->count ? g->pieces[g->count - 1] : NULL;
    if (!last || g->used == last->size) {
        size_t size = stk_growing_size(g);
        *wanted = !last ? g->first : size < PIECE_MAX ? size : PIECE_MAX;
        last = g->count < STK_GROWING_PIECES ? stk_buf_get(g->pool, *wanted) : NULL;
        if (!last) {
            return NULL;
        }
        g->pieces[g->count++] = last;
        g->filled += g->used;
        g->used = 0;
    }
    *room = last->size - g->used;
    return last->data + g->used;
}

void stk_growing_took(struct stk_growing *g, size_t n)
{
    STK_ASSERT(g->count && n <= g->pieces[g->count - 1]->size - g->used);
    g->used += n;
}

struct stk_buf *stk_growing_end(struct stk_growing *g)
{
    struct stk_buf *all = g->count == 1 ? g->pieces[0] : stk_buf_get(g->pool, stk_growing_size(g));
    if (g->count == 1) {
        g->count = 0;
    }
    size_t at = 0;
    for (int i = 0; all && i < g->count; i++) {
        size_t n = i + 1 < g->count ? g->pieces[i]->size : g->used;
        memcpy(all->data + at, g->pieces[i]->data, n);
        at += n;
    }
    stk_growing_drop(g);
    return all;
}

void stk_growing_drop(struct stk_growing *g)
{
    for (int i = 0; i < g->count; i++) {
        stk_buf_drop(g->pieces[i]);
    }
    g->count = 0;
}
