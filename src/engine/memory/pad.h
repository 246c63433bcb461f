// SPDX-License-Identifier: Apache-2.0
// Pads elements of different shapes to one shape.
#pragma once

#include "engine/memory/col.h"

// Joins n elements of `from`, starting at `first`, to one of shape (n, ...). `target`: the shape of
// an element; an unknown dimension becomes the largest. value: the padding; NULL: zero, or the
// empty string. False with *bad < 0: no memory; otherwise element *bad doesn't fit the target.
bool stk_col_pad(struct stk_col *to, struct stk_pool *pool, const struct stk_col *from,
                 int64_t first, int64_t n, const struct stk_shape *target, const void *value,
                 int64_t *bad);

// Pads one element of shape `in` to `out` (of the same rank). before: padding before it in each
// dimension; NULL: none. each: bytes of a value.
void stk_pad_put(uint8_t *to, const uint8_t *from, const struct stk_shape *out,
                 const struct stk_shape *in, const int64_t *before, size_t each, const void *value);
