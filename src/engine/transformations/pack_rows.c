// SPDX-License-Identifier: Apache-2.0
// Rows that sequences are packed into; see pack_rows.h.
#include "engine/transformations/pack_rows.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

enum { VALUES, SEGMENTS, POSITIONS };

bool stk_pack_rows_open(struct stk_pack_rows *p, int n, const int64_t *lengths,
                        const struct stk_attr *pads, int64_t most)
{
    STK_ASSERT(n > 0 && most > 0 && most <= INT32_MAX);
    *p = (struct stk_pack_rows){.n = n, .lengths = lengths, .pads = pads, .most = most};
    p->used = stk_alloc_zero((size_t)most * (size_t)n, sizeof p->used[0]);
    p->segments = stk_alloc_zero((size_t)most, sizeof p->segments[0]);
    p->bytes = stk_alloc_zero((size_t)n, sizeof p->bytes[0]);
    p->trailing = stk_alloc_zero((size_t)n, sizeof p->trailing[0]);
    return p->used && p->segments && p->bytes && p->trailing;
}

void stk_pack_rows_free(struct stk_pack_rows *p)
{
    stk_free(p->used);
    stk_free(p->segments);
    stk_free(p->bytes);
    stk_free(p->trailing);
    stk_block_free(&p->block);
}

int64_t stk_pack_length(const struct stk_col *c, int64_t i)
{
    struct stk_shape s = stk_col_shape(c, i);
    return s.rank > 0 ? s.dim[0] : 1;
}

static struct stk_shape after_first(const struct stk_col *c, int64_t i)
{
    struct stk_shape s = stk_col_shape(c, i);
    if (s.rank > 0) {
        s.rank--;
        memmove(s.dim, s.dim + 1, (size_t)s.rank * sizeof s.dim[0]);
    }
    return s;
}

static bool make_columns(struct stk_pack_rows *p, struct stk_pool *pool, enum stk_dtype dtype,
                         int k)
{
    struct stk_shape flat = {1, {p->lengths[k]}}, shape = p->trailing[k];
    struct stk_col *c = &p->block.cols[STK_PACK_PARTS * k];
    return stk_shape_prepend(&shape, p->lengths[k]) &&
           stk_col_uniform(&c[VALUES], pool, dtype, &shape, p->rows) &&
           stk_col_uniform(&c[SEGMENTS], pool, STK_DT_I32, &flat, p->rows) &&
           stk_col_uniform(&c[POSITIONS], pool, STK_DT_I32, &flat, p->rows) &&
           (!p->pads || stk_keep_join(&c[VALUES].keep, p->pads->cols[k].keep));
}

bool stk_pack_rows_begin(struct stk_pack_rows *p, struct stk_pool *pool,
                         const struct stk_block *from, int64_t i, int64_t rows)
{
    STK_ASSERT(rows > 0 && rows <= p->most && from->count == p->n);
    bool ok = stk_block_reset(&p->block, STK_PACK_PARTS * p->n);
    p->rows = rows;
    p->begun = 0;
    for (int k = 0; ok && k < p->n; k++) {
        p->trailing[k] = after_first(&from->cols[k], i);
        int64_t each = stk_shape_count(&p->trailing[k]);
        p->bytes[k] = (size_t)(each < 0 ? 0 : each) * stk_dtype_bytes(from->cols[k].dtype);
        ok = each >= 0 && make_columns(p, pool, from->cols[k].dtype, k);
    }
    memset(p->used, 0, (size_t)rows * (size_t)p->n * sizeof p->used[0]);
    memset(p->segments, 0, (size_t)rows * sizeof p->segments[0]);
    if (!ok) {
        stk_block_clear(&p->block);
        p->rows = 0;
    }
    return ok;
}

int stk_pack_rows_differ(const struct stk_pack_rows *p, const struct stk_block *from, int64_t i)
{
    for (int k = 0; k < p->n; k++) {
        struct stk_shape s = after_first(&from->cols[k], i);
        if (!stk_shape_equal(&s, &p->trailing[k])) {
            return k;
        }
    }
    return -1;
}

static void number(struct stk_col *c, int64_t at, int64_t count, int32_t segment)
{
    int32_t *segments = (int32_t *)(void *)c[SEGMENTS].data + at;
    int32_t *positions = (int32_t *)(void *)c[POSITIONS].data + at;
    for (int64_t i = 0; i < count; i++) {
        segments[i] = segment;
        positions[i] = (int32_t)i;
    }
}

bool stk_pack_rows_add(struct stk_pack_rows *p, int64_t row, const struct stk_block *from,
                       int64_t i, const struct stk_pack_piece *pieces)
{
    STK_ASSERT(row >= 0 && row < p->rows && row <= p->begun);
    int32_t segment = (int32_t)++p->segments[row];
    p->begun = row == p->begun ? row + 1 : p->begun;
    for (int k = 0; k < p->n; k++) {
        const struct stk_col *in = &from->cols[k];
        struct stk_col *c = &p->block.cols[STK_PACK_PARTS * k];
        int64_t *used = &p->used[row * p->n + k], at = row * p->lengths[k] + *used;
        size_t each = p->bytes[k];
        STK_ASSERT(pieces[k].count >= 0 && pieces[k].count <= p->lengths[k] - *used);
        if (pieces[k].count > 0 && each > 0) {
            memcpy(c[VALUES].data + (size_t)at * each,
                   (const uint8_t *)stk_col_at(in, i) + (size_t)pieces[k].from * each,
                   (size_t)pieces[k].count * each);
        }
        number(c, at, pieces[k].count, segment);
        *used += pieces[k].count;
        if (in->dtype == STK_DT_STRING && !stk_keep_join(&c[VALUES].keep, in->keep)) {
            return false;
        }
    }
    return true;
}

static void pad(struct stk_pack_rows *p, int k, int64_t row)
{
    struct stk_col *c = &p->block.cols[STK_PACK_PARTS * k];
    int64_t at = row * p->lengths[k] + p->used[row * p->n + k];
    size_t free_places = (size_t)(p->lengths[k] - p->used[row * p->n + k]);
    size_t each = stk_dtype_bytes(c[VALUES].dtype), bytes = free_places * p->bytes[k];
    uint8_t *to = c[VALUES].data + (size_t)at * p->bytes[k];
    if (!p->pads) {
        memset(to, 0, bytes);
    }
    for (size_t i = 0; p->pads && i < bytes; i += each) {
        memcpy(to + i, stk_col_at(&p->pads->cols[k], 0), each);
    }
    memset(c[SEGMENTS].data + (size_t)at * sizeof(int32_t), 0, free_places * sizeof(int32_t));
    memset(c[POSITIONS].data + (size_t)at * sizeof(int32_t), 0, free_places * sizeof(int32_t));
}

bool stk_pack_rows_end(struct stk_pack_rows *p, const int64_t *outputs, struct stk_block *out)
{
    int count = STK_PACK_PARTS * p->n;
    for (int k = 0; k < p->n; k++) {
        for (int64_t row = 0; row < p->begun; row++) {
            pad(p, k, row);
        }
    }
    if (!stk_block_reset(out, count)) {
        return false;
    }
    for (int j = 0; j < count; j++) {
        stk_col_slice(&out->cols[j], &p->block.cols[outputs[j]], 0, p->begun);
    }
    out->n = p->begun;
    stk_block_clear(&p->block);
    p->rows = 0;
    return true;
}
