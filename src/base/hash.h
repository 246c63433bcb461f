// SPDX-License-Identifier: Apache-2.0
// Hashes for the slots of hash tables, with a seed drawn by each process: no one can craft a file
// whose names or numbers fall into the same slot. Values differ between processes; output and sort
// order must use stk_hash_bytes or stk_hash_u64 (str.h). STOKER_HASH_SEED=NUMBER sets the seed, to
// repeat a run exactly.
#pragma once

#include <stddef.h>
#include <stdint.h>

extern uint64_t stk_hash_seeds[2]; // drawn before main(), then constant

// Folds both halves of the 128-bit product and the factors, so that a zero factor doesn't hide the
// other.
static inline uint64_t stk_hash_fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return a ^ b ^ (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t stk_hash_table_pair(uint64_t a, uint64_t b)
{
    uint64_t h = stk_hash_fold(a ^ stk_hash_seeds[0], 0x9e3779b97f4a7c15u);
    h = stk_hash_fold(b ^ h, stk_hash_seeds[1]);
    return h ^ h >> 32;
}

uint64_t stk_hash_table_bytes(const void *p, size_t n);
uint64_t stk_hash_seeded(const void *p, size_t n, const uint64_t seeds[2]);
