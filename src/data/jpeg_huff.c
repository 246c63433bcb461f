// SPDX-License-Identifier: Apache-2.0
// Huffman tables of a JPEG, turned into one look-up that yields what follows in the bit stream.
//
// An entry of the look-up table covers the next `bits` bits (STK_JPEG_AC_BITS, STK_JPEG_DC_BITS):
//   bits 0-7    how many bits to drop
//   bits 8-15   63 less the number of value bits beyond those looked at
//   bits 16-31  first value, without those further bits (signed)
//   bits 32-39  second value (signed)
//   bits 40-47  zigzag positions to skip before the first value
//   bits 48-55  the same before the second, counted from the start
//   bits 56-63  positions passed in all; +END after an end of block; SLOW if the table cannot tell
// A second symbol is included where both fit whole. With one symbol the second value is a zero that
// later values overwrite.
#include "data/jpeg_impl.h"

#include <string.h>

const uint8_t stk_jpeg_zigzag[128] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64};

enum { END = 128, SLOW = 240 };

struct step { // one symbol as seen through `bits` bits
    int drop, further, value, skip, advance;
};

static uint64_t pack(struct step s, int value2, int skip2)
{
    return (uint64_t)s.drop | (uint64_t)(63 - s.further) << 8 | (uint64_t)(uint16_t)s.value << 16 |
           (uint64_t)(uint8_t)value2 << 32 | (uint64_t)s.skip << 40 | (uint64_t)skip2 << 48 |
           (uint64_t)s.advance << 56;
}

static struct step unpack(uint64_t e)
{
    return (struct step){(int)(e & 255), 63 - (int)(e >> 8 & 255), (int16_t)(e >> 16),
                         (int)(e >> 40 & 255), (int)(e >> 56)};
}

// What `symbol`, of a code of `length` bits, does when the table sees the bits `index`.
static struct step take_symbol(int symbol, int length, int index, int bits, bool is_ac)
{
    int skip = is_ac ? symbol >> 4 : 0, size = is_ac ? symbol & 15 : symbol;
    int seen = bits - length;
    if (size == 0 && is_ac)
        return skip == 15 ? (struct step){length, 0, 0, 15, 16}
                          : (struct step){length, 0, 0, 0, END};
    if (size == 0)
        return (struct step){length, 0, 0, 0, 1};
    if (seen < 1)
        return (struct step){0, 0, 0, 0, SLOW}; // the sign lies outside
    int rest = index & ((1 << seen) - 1);
    int further = size > seen ? size - seen : 0;
    int value = further ? rest * (1 << further) : rest >> (seen - size);
    if (!(rest >> (seen - 1)))
        value -= (1 << size) - 1;
    return (struct step){length + size, further, value, skip, skip + 1};
}

// The table `look`: the single steps, with a second symbol where both fit whole.
static void pair_steps(uint64_t *look, const uint64_t *single, int bits)
{
    int mask = (1 << bits) - 1;
    for (int index = 0; index <= mask; index++) {
        struct step a = unpack(single[index]);
        look[index] = single[index];
        if (a.further || a.advance >= END || a.drop >= bits)
            continue;
        struct step b = unpack(single[(index << a.drop) & mask]);
        if (b.advance == SLOW || b.further || b.drop > bits - a.drop)
            continue;
        int skip2 = a.advance + b.skip;
        struct step both = {a.drop + b.drop, 0, a.value, a.skip, a.advance + b.advance};
        look[index] = pack(both, b.value, skip2);
    }
}

bool stk_jpeg_build_huff(struct stk_jpeg_huff *h, uint64_t *look, int bits, bool is_ac)
{
    if (h->is_built)
        return true;
    uint64_t single[1 << STK_JPEG_AC_BITS];
    for (int i = 0; i < 1 << bits; i++)
        single[i] = pack((struct step){0, 0, 0, 0, SLOW}, 0, 0);
    uint32_t code = 0;
    int symbols = 0;
    for (int length = 1; length <= 16; length++) {
        h->offset[length] = symbols - (int32_t)code;
        for (int i = 0; i < h->counts[length]; i++, code++, symbols++) {
            int symbol = h->symbols[symbols];
            if (code >= 1u << length || (!is_ac && symbol > 15))
                return false;
            if (length > bits)
                continue;
            int first = (int)(code << (bits - length));
            for (int index = first; index < first + (1 << (bits - length)); index++) {
                struct step s = take_symbol(symbol, length, index, bits, is_ac);
                single[index] = pack(s, 0, s.advance >= END ? 0 : s.advance);
            }
        }
        h->limit[length] = code << (16 - length);
        if (code > 1u << length)
            return false;
        code <<= 1;
    }
    if (is_ac)
        pair_steps(look, single, bits);
    else
        memcpy(look, single, sizeof *look << bits);
    h->is_built = true;
    return true;
}
