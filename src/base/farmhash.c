// SPDX-License-Identifier: Apache-2.0
// FarmHash's Fingerprint64, on little-endian words as defined: one mix for each range of lengths,
// and blocks of 64 bytes above.
#include "base/farmhash.h"

#include "base/word.h"

#define K0 0xc3a5c85c97cb3127u
#define K1 0xb492b66fbe98f273u
#define K2 0x9ae16a3b2f90404fu

struct pair {
    uint64_t a, b;
};

static uint64_t half_word(const uint8_t *p)
{
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24;
}

static uint64_t turn(uint64_t v, int n)
{
    return v >> n | v << (64 - n);
}

static uint64_t fold(uint64_t v)
{
    return v ^ v >> 47;
}

static uint64_t mix(uint64_t u, uint64_t v, uint64_t mul)
{
    uint64_t a = fold((u ^ v) * mul);
    return fold((v ^ a) * mul) * mul;
}

static uint64_t up_to_16(const uint8_t *s, size_t n)
{
    uint64_t mul = K2 + n * 2;
    if (n >= 8) {
        uint64_t a = stk_word_load8(s) + K2, b = stk_word_load8(s + n - 8);
        return mix(turn(b, 37) * mul + a, (turn(a, 25) + b) * mul, mul);
    }
    if (n >= 4) {
        return mix(n + (half_word(s) << 3), half_word(s + n - 4), mul);
    }
    if (n == 0) {
        return K2;
    }
    uint32_t y = s[0] + ((uint32_t)s[n >> 1] << 8), z = (uint32_t)n + ((uint32_t)s[n - 1] << 2);
    return fold(y * K2 ^ z * K0) * K2;
}

static uint64_t up_to_32(const uint8_t *s, size_t n)
{
    uint64_t mul = K2 + n * 2, a = stk_word_load8(s) * K1, b = stk_word_load8(s + 8),
             c = stk_word_load8(s + n - 8) * mul, d = stk_word_load8(s + n - 16) * K2;
    return mix(turn(a + b, 43) + turn(c, 30) + d, a + turn(b + K2, 18) + c, mul);
}

static uint64_t up_to_64(const uint8_t *s, size_t n)
{
    uint64_t mul = K2 + n * 2, a = stk_word_load8(s) * K2, b = stk_word_load8(s + 8),
             c = stk_word_load8(s + n - 8) * mul, d = stk_word_load8(s + n - 16) * K2;
    uint64_t y = turn(a + b, 43) + turn(c, 30) + d, z = mix(y, a + turn(b + K2, 18) + c, mul);
    uint64_t e = stk_word_load8(s + 16) * mul, f = stk_word_load8(s + 24),
             g = (y + stk_word_load8(s + n - 32)) * mul, h = (z + stk_word_load8(s + n - 24)) * mul;
    return mix(turn(e + f, 43) + turn(g, 30) + h, e + turn(f + a, 18) + g, mul);
}

static struct pair weak(const uint8_t *s, uint64_t a, uint64_t b)
{
    uint64_t w = stk_word_load8(s), x = stk_word_load8(s + 8), y = stk_word_load8(s + 16),
             z = stk_word_load8(s + 24);
    a += w;
    b = turn(b + a + z, 21);
    uint64_t c = a;
    a += x + y;
    return (struct pair){a + z, b + turn(a, 44) + c};
}

struct state {
    uint64_t x, y, z;
    struct pair v, w;
};

// One block; the last one has another multiplier, and two of its additions are times `nine`.
static void block(struct state *h, const uint8_t *s, uint64_t mul, uint64_t nine)
{
    h->x = turn(h->x + h->y + h->v.a + stk_word_load8(s + 8), 37) * mul;
    h->y = turn(h->y + h->v.b + stk_word_load8(s + 48), 42) * mul;
    h->x ^= h->w.b * nine;
    h->y += h->v.a * nine + stk_word_load8(s + 40);
    h->z = turn(h->z + h->w.a, 33) * mul;
    h->v = weak(s, h->v.b * mul, h->x + h->w.a);
    h->w = weak(s + 32, h->z + h->w.b, h->y + stk_word_load8(s + 16));
    uint64_t z = h->z;
    h->z = h->x;
    h->x = z;
}

uint64_t stk_farmhash64(const void *data, size_t n)
{
    const uint8_t *s = data;
    if (n <= 64) {
        return n <= 16 ? up_to_16(s, n) : n <= 32 ? up_to_32(s, n) : up_to_64(s, n);
    }
    const uint64_t seed = 81;
    struct state h = {.y = seed * K1 + 113};
    h.z = fold(h.y * K2 + 113) * K2;
    h.x = seed * K2 + stk_word_load8(s);
    const uint8_t *end = s + (n - 1) / 64 * 64, *last = s + n - 64;
    for (; s != end; s += 64) {
        block(&h, s, K1, 1);
    }
    uint64_t mul = K1 + ((h.z & 0xff) << 1);
    h.w.a += (n - 1) & 63;
    h.v.a += h.w.a;
    h.w.a += h.v.a;
    block(&h, last, mul, 9);
    return mix(mix(h.v.a, h.w.a, mul) + fold(h.y) * K0 + h.z, mix(h.v.b, h.w.b, mul) + h.x, mul);
}
