// SPDX-License-Identifier: Apache-2.0
// Computed permutations of 0 .. n - 1: no memory, any position in constant time.
#pragma once

#include <stdint.h>

struct stk_permutation {
    uint64_t n, left, right; // left * right >= n
    uint64_t keys[8];
};

void stk_permutation_open(struct stk_permutation *p, uint64_t n, uint64_t seed);
// Where position i maps to; i < n.
uint64_t stk_permutation_at(const struct stk_permutation *p, uint64_t i);
// Where positions first .. first + n - 1 map to.
void stk_permutation_range(const struct stk_permutation *p, uint64_t first, int64_t n,
                           int64_t *out);
