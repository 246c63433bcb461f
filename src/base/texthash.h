// SPDX-License-Identifier: Apache-2.0
// Hashes of bytes that never change, as used by TensorFlow's hash buckets: MurmurHash64A (A.
// Appleby) for to_hash_bucket, SipHash-2-4 (J.-P. Aumasson, D. J. Bernstein, 2012) for
// to_hash_bucket_strong. to_hash_bucket_fast: farmhash.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

uint64_t stk_murmur64(const void *data, size_t n, uint64_t seed);
uint64_t stk_siphash(const void *data, size_t n, const uint64_t key[2]);
