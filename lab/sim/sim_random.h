// SPDX-License-Identifier: Apache-2.0
// Random numbers keyed by what they are for, not by the order of drawing: a job and the same job
// with a fix see the same kernel, call and batch at the same speed (common random numbers), so
// their difference is only the fix. Only integer arithmetic, sums and products: the same on every
// machine.
#ifndef SIM_RANDOM_H
#define SIM_RANDOM_H

#include <stdint.h>

// The finaliser of splitmix64: every bit of the result depends on every bit of x.
static inline uint64_t sim_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline uint64_t sim_key(uint64_t seed, uint64_t a, uint64_t b)
{
    return sim_mix(sim_mix(seed ^ sim_mix(a)) ^ b);
}

// In [0, 1).
static inline double sim_unit(uint64_t key)
{
    return (double)(key >> 11) * 0x1p-53;
}

// Mean 0, deviation 1, within 3.47: the sum of four uniform numbers of 16 bits.
static inline double sim_spread(uint64_t key)
{
    uint64_t sum = (key & 0xffff) + (key >> 16 & 0xffff) + (key >> 32 & 0xffff) + (key >> 48);
    return ((double)sum / 65536 - 2) * 1.7320508075688772;
}

// A factor with mean 1 and this deviation, at least 0.2.
static inline double sim_jitter(uint64_t key, double deviation)
{
    double factor = 1 + deviation * sim_spread(key);
    return factor < 0.2 ? 0.2 : factor;
}

#endif
