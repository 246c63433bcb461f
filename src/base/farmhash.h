// SPDX-License-Identifier: Apache-2.0
// FarmHash's Fingerprint64 (G. Pike, 2014): a hash of bytes that never changes, used by
// TensorFlow's to_hash_bucket_fast.
#pragma once

#include <stddef.h>
#include <stdint.h>

uint64_t stk_farmhash64(const void *data, size_t n);
