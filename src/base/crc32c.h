// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli polynomial, RFC 3720 section 12.1), and its masked form in TFRecord files.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Continues a checksum over n more bytes; start with 0. p may have any alignment.
typedef uint32_t stk_crc32c_fn(uint32_t crc, const void *p, size_t n);

enum stk_crc32c_kind {
    STK_CRC32C_PLAIN, // tables, everywhere
    STK_CRC32C_X86,   // SSE4.2 and PCLMUL, if the CPU has both
    STK_CRC32C_WIDE,  // also AVX-512 and VPCLMULQDQ
    STK_CRC32C_ARM,   // ARMv8 CRC instructions, if compiled for them
    STK_CRC32C_KINDS
};

// The fastest one that runs here; keep the pointer for many short checksums.
stk_crc32c_fn *stk_crc32c_best(void);
// NULL if this machine or build doesn't have it.
stk_crc32c_fn *stk_crc32c_of_kind(enum stk_crc32c_kind kind);
uint32_t stk_crc32c(uint32_t crc, const void *p, size_t n);

// A checksum stored next to its data is masked, so that checksums of checksums stay good.
static inline uint32_t stk_crc32c_mask(uint32_t crc)
{
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static inline uint32_t stk_crc32c_unmask(uint32_t masked)
{
    uint32_t crc = masked - 0xa282ead8u;
    return crc >> 17 | crc << 15;
}
