// SPDX-License-Identifier: Apache-2.0
// Eight bytes as a little-endian number, for any byte order and alignment.
#pragma once

#include <stdint.h>
#include <string.h>

static inline uint64_t stk_word_load8(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}
