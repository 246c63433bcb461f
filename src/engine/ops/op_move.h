// SPDX-License-Identifier: Apache-2.0
// Moves values by a rule that is linear in their coordinates: transposing, slicing, reversing.
#pragma once

#include <string.h>

#include "base/assert.h"
#include "engine/ops/op_util.h"

// Copies n values to adjacent places, from places `step` values apart.
static inline void stk_op_move_row(uint8_t *to, const uint8_t *from, int64_t n, int64_t step,
                                   size_t size)
{
#define STK_OP_MOVE_ROW(SIZE)                                                                      \
    case SIZE:                                                                                     \
        for (int64_t i = 0; i < n; i++) {                                                          \
            memcpy(to + i * SIZE, from + i * step * SIZE, SIZE);                                   \
        }                                                                                          \
        break
    switch (size) {
        STK_OP_MOVE_ROW(1);
        STK_OP_MOVE_ROW(2);
        STK_OP_MOVE_ROW(4);
        STK_OP_MOVE_ROW(8);
    default:
        for (int64_t i = 0; i < n; i++) {
            memcpy(to + (size_t)i * size, from + i * step * (int64_t)size, size);
        }
    }
#undef STK_OP_MOVE_ROW
}

// Fills a result of `shape`: the value at coordinates (c0, c1, ...) is the one `base` + c0 *
// step[0] + c1 * step[1] + ... values after `from`. Adjacent runs are copied as one.
static inline void stk_op_move(void *to, const struct stk_shape *shape, const void *from,
                               int64_t base, const int64_t *step, size_t size)
{
    int inner = shape->rank;
    int64_t run = 1, count = stk_shape_count(shape);
    STK_ASSERT(size > 0 && shape->rank >= 0 && shape->rank <= STK_RANK_MAX && count >= 0);
    while (inner > 0 && step[inner - 1] == run) {
        run *= shape->dim[--inner];
    }
    int64_t at[STK_RANK_MAX] = {0}, offset = base;
    uint8_t *out = to;
    bool is_row = run == 1 && inner > 0;
    inner -= is_row;
    int64_t row_step = is_row ? step[inner] : 1;
    run = is_row ? shape->dim[inner] : run;
    size_t bytes = (size_t)run * size;
    for (int64_t k = 0; k < count; k += run, out += bytes) {
        if (is_row) {
            stk_op_move_row(out, (const uint8_t *)from + offset * (int64_t)size, run, row_step,
                            size);
        } else {
            memcpy(out, (const uint8_t *)from + (size_t)offset * size, bytes);
        }
        for (int i = inner - 1; i >= 0; i--) {
            offset += step[i];
            if (++at[i] < shape->dim[i]) {
                break;
            }
            offset -= step[i] * shape->dim[i];
            at[i] = 0;
        }
    }
}

// How many values one step along each axis spans.
static inline void stk_op_steps(const struct stk_shape *s, int64_t *step)
{
    int64_t n = 1;
    STK_ASSERT(s->rank >= 0 && s->rank <= STK_RANK_MAX);
    for (int i = s->rank - 1; i >= 0; i--) {
        step[i] = n;
        n *= s->dim[i];
    }
}

// If the block has one element, a contiguous part of a large value can be shared as the result
// instead of copied. Not if that would keep mostly unused memory alive. False: it must be copied.
static inline bool stk_op_share_run(struct stk_op_run *r, const struct stk_shape *shape,
                                    int64_t base, const int64_t *step)
{
    enum { LARGE = 16 * 1024 };
    const struct stk_col *in = r->in[0];
    size_t size = stk_dtype_bytes(in->dtype), bytes = (size_t)stk_shape_count(shape) * size;
    int64_t run = 1;
    if (r->n != 1 || r->out[0].is_bound || in->is_varied || bytes < LARGE ||
        2 * bytes < stk_col_bytes_each(in)) {
        return false;
    }
    for (int i = shape->rank - 1; i >= 0; i--) {
        if (shape->dim[i] > 1 && step[i] != run) {
            return false;
        }
        run *= shape->dim[i];
    }
    struct stk_col *c = &r->out[0];
    stk_col_clear(c);
    stk_col_share(c, in);
    c->n = 1;
    c->shape = *shape;
    c->data += (size_t)base * size;
    c->stride = bytes;
    return true;
}
