// SPDX-License-Identifier: Apache-2.0
// Padding; see pad.h.
#include "engine/memory/pad.h"

#include <string.h>

#include "base/assert.h"

// The smallest shape that fits all elements. False: element *bad doesn't fit.
static bool find_shape(const struct stk_col *from, int64_t first, int64_t n,
                       const struct stk_shape *target, struct stk_shape *shape, int64_t *bad)
{
    *shape = *target;
    for (int64_t i = 0; i < n; i++) {
        struct stk_shape s = stk_col_shape(from, first + i);
        if (shape->rank < 0) {
            *shape = s;
        }
        bool fits = s.rank == shape->rank;
        for (int d = 0; fits && d < s.rank; d++) {
            bool is_free = target->rank < 0 || target->dim[d] < 0;
            fits = is_free || s.dim[d] <= target->dim[d];
            shape->dim[d] = is_free && s.dim[d] > shape->dim[d] ? s.dim[d] : shape->dim[d];
        }
        if (!fits) {
            *bad = i;
            return false;
        }
    }
    for (int d = 0; d < shape->rank; d++) {
        shape->dim[d] = shape->dim[d] < 0 ? 0 : shape->dim[d];
    }
    return true;
}

static void fill(uint8_t *to, int64_t count, size_t each, const void *value)
{
    static const uint8_t zero[16];
    if (!value || memcmp(value, zero, each) == 0) {
        memset(to, 0, (size_t)count * each);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        memcpy(to + (size_t)i * each, value, each);
    }
}

struct padding {
    const struct stk_shape *out, *in;
    const int64_t *before; // padding before the values; NULL: none
    size_t each;
    const void *value;
};

// Copies one element from dimension `dim` on, and fills around it.
static void put(const struct padding *p, uint8_t *to, const uint8_t *from, int dim)
{
    if (dim == p->out->rank) {
        memcpy(to, from, p->each);
        return;
    }
    int64_t out_row = 1, in_row = 1;
    for (int d = dim + 1; d < p->out->rank; d++) {
        out_row *= p->out->dim[d];
        in_row *= p->in->dim[d];
    }
    int64_t rows = p->in->dim[dim], ahead = p->before ? p->before[dim] : 0;
    STK_ASSERT(ahead >= 0 && rows >= 0 && ahead + rows <= p->out->dim[dim]);
    fill(to, ahead * out_row, p->each, p->value);
    to += (size_t)(ahead * out_row) * p->each;
    if (out_row == in_row) { // the rest is contiguous in both
        if (rows * in_row > 0) {
            memcpy(to, from, (size_t)(rows * in_row) * p->each);
        }
    } else {
        for (int64_t r = 0; r < rows; r++) {
            put(p, to + (size_t)(r * out_row) * p->each, from + (size_t)(r * in_row) * p->each,
                dim + 1);
        }
    }
    fill(to + (size_t)(rows * out_row) * p->each, (p->out->dim[dim] - ahead - rows) * out_row,
         p->each, p->value);
}

void stk_pad_put(uint8_t *to, const uint8_t *from, const struct stk_shape *out,
                 const struct stk_shape *in, const int64_t *before, size_t each, const void *value)
{
    STK_ASSERT(out->rank == in->rank);
    if (stk_shape_count(in) == 0) {
        fill(to, stk_shape_count(out), each, value);
    } else {
        put(&(struct padding){out, in, before, each, value}, to, from, 0);
    }
}

bool stk_col_pad(struct stk_col *to, struct stk_pool *pool, const struct stk_col *from,
                 int64_t first, int64_t n, const struct stk_shape *target, const void *value,
                 int64_t *bad)
{
    STK_ASSERT(first >= 0 && n > 0 && first <= from->n - n);
    struct stk_shape shape, batch;
    *bad = -1;
    *to = (struct stk_col){0};
    if (!find_shape(from, first, n, target, &shape, bad)) {
        return false;
    }
    batch = shape;
    if (!stk_shape_prepend(&batch, n) || !stk_col_uniform(to, pool, from->dtype, &batch, 1) ||
        !stk_keep_join(&to->keep, from->keep)) {
        stk_col_clear(to);
        return false;
    }
    size_t each = stk_dtype_bytes(from->dtype);
    int64_t count = stk_shape_count(&shape);
    for (int64_t i = 0; i < n; i++) {
        struct stk_shape in = stk_col_shape(from, first + i);
        uint8_t *at = to->data + (size_t)(i * count) * each;
        stk_pad_put(at, stk_col_at(from, first + i), &shape, &in, NULL, each, value);
    }
    return true;
}
