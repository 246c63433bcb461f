// SPDX-License-Identifier: Apache-2.0
// Blocks: columns that go together.
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "engine/memory/col.h"

#define PARTS_FEW 64 // blocks that are joined without an allocation

STK_HOT bool stk_block_reset(struct stk_block *b, int count)
{
    STK_ASSERT(count >= 0);
    stk_block_clear(b);
    if (count > b->capacity) {
        struct stk_col *cols = stk_realloc_array(b->cols, (size_t)count, sizeof cols[0]);
        if (!cols) {
            return false;
        }
        memset(cols + b->capacity, 0, (size_t)(count - b->capacity) * sizeof cols[0]);
        b->cols = cols;
        b->capacity = count;
    }
    b->count = count;
    return true;
}

STK_HOT void stk_block_clear(struct stk_block *b)
{
    STK_ASSERT(b->count == 0 || b->cols);
    for (int k = 0; k < b->count; k++) {
        stk_col_clear(&b->cols[k]);
    }
    b->count = 0;
    b->n = 0;
}

void stk_block_free(struct stk_block *b)
{
    stk_block_clear(b);
    stk_free(b->cols);
    *b = (struct stk_block){0};
}

bool stk_block_share(struct stk_block *to, const struct stk_block *from)
{
    return stk_block_slice(to, from, 0, from->n);
}

STK_HOT bool stk_block_slice(struct stk_block *to, const struct stk_block *from, int64_t first,
                             int64_t n)
{
    STK_ASSERT(to != from && first >= 0 && n >= 0);
    if (!stk_block_reset(to, from->count)) {
        return false;
    }
    for (int k = 0; k < from->count; k++) {
        stk_col_slice(&to->cols[k], &from->cols[k], first, n);
    }
    to->n = n;
    return true;
}

bool stk_block_gather(struct stk_block *to, struct stk_pool *pool, const struct stk_block *from,
                      const int64_t *index, int64_t n)
{
    STK_ASSERT(to != from && n >= 0);
    if (!stk_block_reset(to, from->count)) {
        return false;
    }
    for (int k = 0; k < from->count; k++) {
        if (!stk_col_gather(&to->cols[k], pool, &from->cols[k], index, n)) {
            stk_block_clear(to);
            return false;
        }
    }
    to->n = n;
    return true;
}

bool stk_block_concat(struct stk_block *to, struct stk_pool *pool,
                      const struct stk_block *const *parts, int count)
{
    STK_ASSERT(count > 0);
    const struct stk_col *few[PARTS_FEW];
    const struct stk_col **cols =
        count > PARTS_FEW ? stk_alloc_array((size_t)count, sizeof cols[0]) : few;
    bool ok = cols && stk_block_reset(to, parts[0]->count);
    for (int k = 0; ok && k < parts[0]->count; k++) {
        for (int p = 0; p < count; p++) {
            STK_ASSERT(parts[p] != to && parts[p]->count == parts[0]->count);
            cols[p] = &parts[p]->cols[k];
        }
        ok = stk_col_concat(&to->cols[k], pool, cols, count);
    }
    if (cols != few) {
        stk_free(cols);
    }
    if (!ok) {
        stk_block_clear(to);
        return false;
    }
    for (int p = 0; p < count; p++) {
        to->n += parts[p]->n;
    }
    return true;
}

void stk_block_move(struct stk_block *to, struct stk_block *from)
{
    STK_ASSERT(to != from);
    stk_block_clear(to);
    struct stk_block old = *to;
    *to = *from;
    *from = old;
}

STK_HOT static uint64_t col_bytes(const struct stk_col *c)
{
    int64_t values = c->is_varied ? c->offsets[c->n] - c->offsets[0]
                     : c->stride  ? c->n * stk_shape_count(&c->shape)
                                  : stk_shape_count(&c->shape);
    uint64_t bytes = (uint64_t)values * stk_dtype_bytes(c->dtype);
    if (c->dtype == STK_DT_STRING && c->n) {
        const struct stk_bytes *s = stk_col_at(c, 0);
        for (int64_t i = 0; i < values; i++) {
            bytes += s[i].size;
        }
    }
    return bytes;
}

STK_HOT uint64_t stk_block_bytes(const struct stk_block *b)
{
    uint64_t bytes = 0;
    for (int k = 0; k < b->count; k++) {
        bytes += col_bytes(&b->cols[k]);
    }
    return bytes;
}
