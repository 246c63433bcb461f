// SPDX-License-Identifier: Apache-2.0
// Order statistics by selection: O(n) on average, no sorting.
#pragma once

#include <stddef.h>
#include <stdint.h>

// The k-th smallest of n > k values, from 0; reorders them.
int64_t stk_nth_value(int64_t *v, size_t n, size_t k);
// Lower median of n > 0 values; reorders them.
static inline int64_t stk_median_low(int64_t *v, size_t n)
{
    return stk_nth_value(v, n, (n - 1) / 2);
}
