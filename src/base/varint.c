// SPDX-License-Identifier: Apache-2.0
// Varints byte by byte: long ones, and those near the end of the buffer.
#include "base/varint.h"

const uint8_t *stk_varint_get_slow(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 7 * STK_VARINT_MAX && p < end; shift += 7) {
        uint8_t b = *p++;
        value |= shift < 64 ? (uint64_t)(b & 0x7f) << shift : 0;
        if (b < 0x80) {
            *v = value;
            return p;
        }
    }
    return NULL;
}
