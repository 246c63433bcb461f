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
