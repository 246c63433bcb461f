// SPDX-License-Identifier: Apache-2.0
// A Feistel network over pairs (l, r) with l < left, r < right and left * right just above n: each
// round adds a mixed value of one half to the other, modulo its size. Results of n or more go
// through again (cycle walking), which is rare because left * right - n < left + right.
#include "engine/graph/permute.h"

#include "base/assert.h"
#include "base/str.h"

#define ROUNDS 4 // an even number

static uint64_t root_above(uint64_t n)
{
    uint64_t r = 1;
    while (r < UINT32_MAX && r * r < n) {
        r = r < 1024 ? r + 1 : r + r / 1024;
    }
    return r;
}

void stk_permutation_open(struct stk_permutation *p, uint64_t n, uint64_t seed)
{
    p->n = n;
    p->left = n > 1 ? root_above(n) : 1;
    p->right = n > 1 ? (n - 1) / p->left + 1 : 1;
    for (int i = 0; i < ROUNDS; i++) {
        p->keys[i] = stk_hash_u64(seed + 0x9e3779b97f4a7c15u * (uint64_t)(i + 1));
    }
}

// A value below `size` from x and a key.
static inline uint64_t mix(uint64_t x, uint64_t key, uint64_t size)
{
    uint64_t h = (x ^ key) * 0xd6e8feb86659fd93u;
    h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93u;
    return (uint64_t)(((unsigned __int128)(h ^ (h >> 29)) * size) >> 64);
}

static inline uint64_t below(uint64_t x, uint64_t size) // x < 2 * size
{
    uint64_t less = x - size;
    return less + (size & (0 - (less >> 63)));
}

// One pass; the result may be n or more.
static inline uint64_t pass(const struct stk_permutation *p, uint64_t l, uint64_t r)
{
    for (int k = 0; k < ROUNDS; k += 2) {
        l = below(l + mix(r, p->keys[k], p->left), p->left);
        r = below(r + mix(l, p->keys[k + 1], p->right), p->right);
    }
    return l * p->right + r;
}

uint64_t stk_permutation_at(const struct stk_permutation *p, uint64_t i)
{
    STK_ASSERT(i < p->left * p->right);
    do {
        i = pass(p, i / p->right, i % p->right);
    } while (i >= p->n);
    return i;
}

void stk_permutation_range(const struct stk_permutation *p, uint64_t first, int64_t n, int64_t *out)
{
    STK_ASSERT(n >= 0 && first <= p->n && (uint64_t)n <= p->n - first);
    uint64_t l = first / p->right, r = first % p->right;
    for (int64_t i = 0; i < n; i++) {
        out[i] = (int64_t)pass(p, l, r);
        r++;
        l += r == p->right;
        r = r == p->right ? 0 : r;
    }
    for (int64_t i = 0; i < n; i++) {
        if ((uint64_t)out[i] >= p->n) {
            out[i] = (int64_t)stk_permutation_at(p, (uint64_t)out[i]);
        }
    }
}
