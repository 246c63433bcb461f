// SPDX-License-Identifier: Apache-2.0
// MurmurHash64A and SipHash-2-4, on little-endian words as defined.
#include "base/texthash.h"

#include "base/word.h"

// The last n < 8 bytes as a word.
static uint64_t tail(const uint8_t *p, size_t n)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) {
        v |= (uint64_t)p[i] << (8 * i);
    }
    return v;
}

uint64_t stk_murmur64(const void *data, size_t n, uint64_t seed)
{
    const uint64_t m = 0xc6a4a7935bd1e995u;
    const uint8_t *p = data;
    uint64_t h = seed ^ (n * m);
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t k = stk_word_load8(p) * m;
        h = (h ^ (k ^ k >> 47) * m) * m;
    }
    if (n) {
        h = (h ^ tail(p, n)) * m;
    }
    h = (h ^ h >> 47) * m;
    return h ^ h >> 47;
}

static uint64_t turn(uint64_t v, int n)
{
    return v << n | v >> (64 - n);
}

static void sip_rounds(uint64_t v[4], int rounds)
{
    for (; rounds > 0; rounds--) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = turn(v[1], 13) ^ v[0];
        v[3] = turn(v[3], 16) ^ v[2];
        v[0] = turn(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = turn(v[1], 17) ^ v[2];
        v[3] = turn(v[3], 21) ^ v[0];
        v[2] = turn(v[2], 32);
    }
}

static void sip_word(uint64_t v[4], uint64_t m)
{
    v[3] ^= m;
    sip_rounds(v, 2);
    v[0] ^= m;
}

uint64_t stk_siphash(const void *data, size_t n, const uint64_t key[2])
{
    const uint8_t *p = data;
    uint64_t last = (uint64_t)n << 56;
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
                     key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
    for (; n >= 8; n -= 8, p += 8) {
        sip_word(v, stk_word_load8(p));
    }
    sip_word(v, last | tail(p, n));
    v[2] ^= 0xff;
    sip_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
