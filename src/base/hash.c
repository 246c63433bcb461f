// SPDX-License-Identifier: Apache-2.0
// Hashes bytes by folding the 128-bit product of two 64-bit words at a time (like wyhash and
// relatives), and reads the tail with overlapping words, so no byte is handled alone. Every word is
// combined with a part of the seed before it is multiplied. Not a cryptographic hash: an attacker
// who can measure a running process might still find collisions; one who only writes a file can't.
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#include "base/seed.h"

#define MUL_A 0x9e3779b97f4a7c15u // 2^64 / golden ratio
#define MUL_B 0xd6e8feb86659fd93u
#define MUL_C 0xa0761d6478bd642fu

uint64_t stk_hash_seeds[2];

// Before main(), so that no table must check for it.
__attribute__((constructor)) static void draw_seeds(void)
{
    const char *set = getenv("STOKER_HASH_SEED");
    uint64_t first = set ? strtoull(set, NULL, 10) : stk_seed_draw();
    stk_hash_seeds[0] = stk_hash_fold(first ^ MUL_A, MUL_B);
    stk_hash_seeds[1] = stk_hash_fold(set ? stk_hash_seeds[0] : stk_seed_draw(), MUL_C) | 1;
}

static uint64_t load64(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static uint64_t load32(const unsigned char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

uint64_t stk_hash_seeded(const void *bytes, size_t n, const uint64_t seeds[2])
{
    const unsigned char *p = bytes;
    uint64_t key = MUL_B ^ seeds[0], last_key = MUL_C ^ seeds[1];
    uint64_t h = MUL_A ^ stk_hash_fold(n ^ key, last_key);
    uint64_t a = 0, b = 0;
    if (n > 16) {
        size_t left = n;
        for (; left > 16; left -= 16, p += 16) {
            h = stk_hash_fold(load64(p) ^ key, load64(p + 8) ^ h);
        }
        a = load64(p + left - 16); // overlaps bytes already read
        b = load64(p + left - 8);
    } else if (n >= 8) {
        a = load64(p);
        b = load64(p + n - 8);
    } else if (n >= 4) {
        a = load32(p);
        b = load32(p + n - 4);
    } else if (n > 0) {
        a = (uint64_t)p[0] << 16 | (uint64_t)p[n / 2] << 8 | p[n - 1];
    }
    return stk_hash_fold(stk_hash_fold(a ^ last_key, b ^ h) ^ MUL_A, h ^ key);
}

uint64_t stk_hash_table_bytes(const void *p, size_t n)
{
    return stk_hash_seeded(p, n, stk_hash_seeds);
}
