// SPDX-License-Identifier: Apache-2.0
// Collects blocks and joins them once; see blocks.h.
#include "engine/memory/blocks.h"

#include "base/alloc.h"
#include "base/assert.h"

void stk_blocks_init(struct stk_blocks *b, size_t blocks_max)
{
    stk_vec_init(&b->list, sizeof(struct stk_block), blocks_max);
    b->n = 0;
}

bool stk_blocks_add(struct stk_blocks *b, struct stk_block *more)
{
    struct stk_block *part = stk_vec_push(&b->list);
    if (!part) {
        return false;
    }
    b->n += more->n;
    stk_block_move(part, more);
    return true;
}

bool stk_blocks_join(struct stk_blocks *b, struct stk_pool *pool, struct stk_block *to)
{
    size_t count = b->list.count;
    if (count == 1) {
        stk_block_move(to, stk_vec_at(&b->list, 0));
        stk_blocks_clear(b);
        return true;
    }
    const struct stk_block **list = stk_alloc_array(count, sizeof list[0]);
    for (size_t i = 0; list && i < count; i++) {
        list[i] = stk_vec_at(&b->list, i);
    }
    bool ok = list && stk_block_concat(to, pool, list, (int)count);
    STK_ASSERT(!ok || to->n == b->n);
    stk_free(list);
    stk_blocks_clear(b);
    return ok;
}

void stk_blocks_clear(struct stk_blocks *b)
{
    for (size_t i = 0; i < b->list.count; i++) {
        stk_block_free(stk_vec_at(&b->list, i));
    }
    b->list.count = 0;
    b->n = 0;
}

void stk_blocks_free(struct stk_blocks *b)
{
    stk_blocks_clear(b);
    stk_vec_deinit(&b->list);
}
