// SPDX-License-Identifier: Apache-2.0
// Elements of different shapes as one, filled up with a value.
#pragma once

#include "engine/memory/col.h"

// n elements of `from`, beginning with `first`, as one of shape (n, ...). `target`: the shape of
// an element, with unknown dimensions where the largest counts. value: of the padding; NULL: zero,
// or the empty string. False with *bad < 0: no memory; else element *bad does not fit the target.
bool stk_col_pad(struct stk_col *to, struct stk_pool *pool, const struct stk_col *from,
                 int64_t first, int64_t n, const struct stk_shape *target, const void *value,
                 int64_t *bad);

// One element of shape `in` within `out` (of the same rank), filled up around it. before: places
// ahead of it in each dimension; NULL: none. each: bytes of a value.
void stk_pad_put(uint8_t *to, const uint8_t *from, const struct stk_shape *out,
                 const struct stk_shape *in, const int64_t *before, size_t each, const void *value);
