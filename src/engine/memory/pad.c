// SPDX-License-Identifier: Apache-2.0
// Padding; see pad.h.
#include "engine/memory/pad.h"

#include <string.h>

#include "base/assert.h"

// The shape that holds all elements. False: element *bad does not fit.
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

// One element, from dimension `dim` on: rows are copied, what is beyond them filled.
static void put(uint8_t *to, const uint8_t *from, const struct stk_shape *out,
                const struct stk_shape *in, int dim, size_t each, const void *value)
{
    int64_t out_row = 1, in_row = 1;
    for (int d = dim + 1; d < out->rank; d++) {
        out_row *= out->dim[d];
        in_row *= in->dim[d];
    }
    if (dim == out->rank) {
        memcpy(to, from, each);
        return;
    }
    int64_t rows = in->dim[dim];
    if (out_row == in_row) { // the same from here on
        if (rows * in_row > 0) {
            memcpy(to, from, (size_t)(rows * in_row) * each);
        }
    } else {
        for (int64_t r = 0; r < rows; r++) {
            put(to + (size_t)(r * out_row) * each, from + (size_t)(r * in_row) * each, out, in,
                dim + 1, each, value);
        }
    }
    fill(to + (size_t)(rows * out_row) * each, (out->dim[dim] - rows) * out_row, each, value);
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
        if (stk_shape_count(&in) == 0) {
            fill(at, count, each, value);
        } else {
            put(at, stk_col_at(from, first + i), &shape, &in, 0, each, value);
        }
    }
    return true;
}
