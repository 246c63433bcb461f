// SPDX-License-Identifier: Apache-2.0
// Protocol Buffers varints: seven bits a byte, the lowest first, and a continuation bit
// (https://protobuf.dev/programming-guides/encoding). Up to 10 bytes; bits past 64 are dropped,
// like in every decoder.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/word.h"

#define STK_VARINT_MAX 10 // bytes

// The byte after the varint at p. NULL: the buffer ends within it (fewer than STK_VARINT_MAX bytes
// are left), or it never ends.
const uint8_t *stk_varint_get_slow(const uint8_t *p, const uint8_t *end, uint64_t *v);

// The same, fast if most have one or two bytes.
static inline const uint8_t *stk_varint_get(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
    if (p < end && p[0] < 0x80) {
        *v = *p;
        return p + 1;
    }
    if (end - p >= 2 && p[1] < 0x80) {
        *v = (p[0] & 0x7fu) | (uint64_t)p[1] << 7;
        return p + 2;
    }
    return stk_varint_get_slow(p, end, v);
}

// Varint of up to 8 bytes without a loop or a branch on its length: finds the first byte without a
// continuation bit, then closes the gaps between the groups of seven bits. Reads 8 bytes. Returns
// the byte after it, or NULL if it is longer.
static inline const uint8_t *stk_varint_get8(const uint8_t *p, uint64_t *out)
{
    uint64_t w = stk_word_load8(p), stops = ~w & 0x8080808080808080u;
    if (!stops) {
        return NULL;
    }
    uint64_t last = stops & (0 - stops); // lowest stop bit
    w &= (last << 1) - 1;                // drops everything above the last byte; 0 - 1 keeps all
                                         // eight
    w = (w & 0x007f007f007f007fu) | (w & 0x7f007f007f007f00u) >> 1;
    w = (w & 0x00003fff00003fffu) | (w & 0x3fff00003fff0000u) >> 2;
    *out = (w & 0x000000000fffffffu) | (w & 0x0fffffff00000000u) >> 4;
    return p + (unsigned)__builtin_ctzll(last) / 8 + 1;
}

// The same with the CPU's instruction for closing gaps, if it has STK_CPU_PEXT.
#if defined(__x86_64__) && defined(__GNUC__)
#define STK_VARINT_PEXT __attribute__((target("bmi,bmi2")))
STK_VARINT_PEXT static inline const uint8_t *stk_varint_get8_pext(const uint8_t *p, uint64_t *out)
{
    uint64_t w = stk_word_load8(p), stops = ~w & 0x8080808080808080u;
    if (!stops) {
        return NULL;
    }
    *out = __builtin_ia32_pext_di(w & (stops ^ (stops - 1)), 0x7f7f7f7f7f7f7f7fu);
    return p + (unsigned)__builtin_ctzll(stops) / 8 + 1;
}
#else
#define STK_VARINT_PEXT
static inline const uint8_t *stk_varint_get8_pext(const uint8_t *p, uint64_t *out)
{
    return stk_varint_get8(p, out);
}
#endif

// Writes up to STK_VARINT_MAX bytes; returns the byte after them.
static inline uint8_t *stk_varint_put(uint8_t *p, uint64_t v)
{
    while (v >= 0x80) {
        *p++ = (uint8_t)v | 0x80;
        v >>= 7;
    }
    *p++ = (uint8_t)v;
    return p;
}

static inline unsigned stk_varint_size(uint64_t v)
{
    return (unsigned)(70 - __builtin_clzll(v | 1)) / 7;
}
