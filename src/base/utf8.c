// SPDX-License-Identifier: Apache-2.0
// Tolerant UTF-8 decoding, as in the Unicode Standard, table 3-7 (well-formed byte sequences).
#include "base/utf8.h"

#include "base/assert.h"

uint32_t stk_utf8_next(const char *text, size_t *length)
{
    return stk_utf8_next_of(text, STK_UTF8_MAX,
                            length); // a NUL continues nothing, so the text ends there
}

uint32_t stk_utf8_next_of(const char *text, size_t left, size_t *length)
{
    STK_ASSERT(left > 0);
    const unsigned char *p = (const unsigned char *)text;
    *length = 1;
    if (p[0] < 0x80) {
        return p[0];
    }
    int more = p[0] >= 0xf0 ? 3 : p[0] >= 0xe0 ? 2 : 1;
    if (p[0] < 0xc2 || p[0] > 0xf4) {
        return STK_UTF8_INVALID;
    }
    uint32_t code = p[0] & (0x3fu >> more);
    for (int i = 1; i <= more; i++) {
        if ((size_t)i >= left || (p[i] & 0xc0) != 0x80) {
            return STK_UTF8_INVALID;
        }
        code = code << 6 | (p[i] & 0x3fu);
    }
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
        return STK_UTF8_INVALID;
    }
    *length = (size_t)more + 1;
    return code;
}
