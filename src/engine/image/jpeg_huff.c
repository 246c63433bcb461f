// SPDX-License-Identifier: Apache-2.0
// A JPEG's Huffman tables as a look-up that decodes the next bits of the stream.
//
// An entry of the look-up table covers the next `bits` bits (STK_JPEG_AC_BITS, _DC_BITS):
//   drop     how many bits its symbols and their values take; some may be after the `bits` seen
//   keep     64 - drop
//   value    the first value minus the `drop` bits read as a number: adding that number, whose
//            code bits are the same for all uses of the entry, gives the complete value
//   value2   the second value
//   skip     zigzag positions to skip before the first value
//   skip2    the same before the second, counted from the start
//   advance  positions passed in all; + STK_JPEG_END after an end of block; STK_JPEG_SLOW if the
//            table has no answer
// A second symbol is included if both fit whole. With one symbol, the second value is a zero that
// later values overwrite.
//
// The table for skipping coefficients has only drop and advance, for all symbols whose codes are
// within the bits, even if their values aren't.
#include "base/assert.h"
#include "engine/image/jpeg_impl.h"

#include <string.h>

_Alignas(STK_JPEG_PLACE_ALIGN) const uint8_t stk_jpeg_zigzag[128] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64};

struct step { // one symbol as seen through `bits` bits
    int drop, further, value, skip, advance;
};

static struct stk_jpeg_look pack(struct step s, int value2, int skip2, int index, int bits)
{
    int seen = s.drop <= bits ? index >> (bits - s.drop) : index << (s.drop - bits);
    return (struct stk_jpeg_look){.drop = (uint8_t)s.drop,
                                  .keep = (uint8_t)((64 - s.drop) & 63),
                                  .skip = (uint8_t)s.skip,
                                  .skip2 = (uint8_t)skip2,
                                  .advance = (uint8_t)s.advance,
                                  .value2 = (int8_t)value2,
                                  .value = (int16_t)(s.value - seen)};
}

// What `symbol`, with a code of `length` bits, does if the table sees the bits `index`.
static struct step take_symbol(int symbol, int length, int index, int bits, bool is_ac)
{
    STK_ASSERT(length > 0 && length <= 16);
    int skip = is_ac ? symbol >> 4 : 0, size = is_ac ? symbol & 15 : symbol;
    int seen = bits - length;
    if (size == 0 && is_ac) {
        return skip == 15 ? (struct step){length, 0, 0, 15, 16}
                          : (struct step){length, 0, 0, 0, STK_JPEG_END};
    }
    if (size == 0) {
        return (struct step){length, 0, 0, 0, 1};
    }
    if (seen < 1) {
        return (struct step){0, 0, 0, 0, STK_JPEG_SLOW}; // the sign is outside the bits seen
    }
    int rest = index & ((1 << seen) - 1);
    int further = size > seen ? size - seen : 0;
    int value = further ? rest * (1 << further) : rest >> (seen - size);
    if (!(rest >> (seen - 1))) {
        value -= (1 << size) - 1;
    }
    if (length + size > (is_ac ? STK_JPEG_MOST_AC : STK_JPEG_MOST_DC)) {
        return (struct step){0, 0, 0, 0, STK_JPEG_SLOW};
    }
    return (struct step){length + size, further, value, skip, skip + 1};
}

// The table `look`: the single steps, with a second symbol where both fit whole.
static void pair_steps(struct stk_jpeg_look *look, const struct step *single, int bits)
{
    int mask = (1 << bits) - 1;
    for (int index = 0; index <= mask; index++) {
        struct step a = single[index];
        look[index] = pack(a, 0, a.advance >= STK_JPEG_SLOW ? 0 : a.advance, index, bits);
        if (a.further || a.advance >= STK_JPEG_SLOW || a.drop >= bits) {
            continue;
        }
        struct step b = single[(index << a.drop) & mask];
        if (b.advance == STK_JPEG_SLOW || b.drop > bits - a.drop) {
            continue;
        }
        struct step both = {a.drop + b.drop, 0, a.value, a.skip, a.advance + b.advance};
        look[index] = pack(both, b.value, a.advance + b.skip, index, bits);
    }
}

// The bits to drop when skipping `symbol`; `further` of them are its code.
static struct step pass_symbol(int symbol, int length)
{
    int skip = symbol >> 4, size = symbol & 15;
    if (length + size > STK_JPEG_MOST_AC) {
        return (struct step){0, 0, 0, 0, STK_JPEG_SLOW};
    }
    bool is_end = size == 0 && skip != 15;
    return (struct step){length + size, length, 0, 0, is_end ? STK_JPEG_END : skip + 1};
}

// The table `pass`, from single steps of pass_symbol. The positions passed stay below 64, so that
// an end of block differs from other ways to leave it.
static void join_steps(struct stk_jpeg_look *pass, const struct step *single, int bits)
{
    int mask = (1 << bits) - 1;
    for (int index = 0; index <= mask; index++) {
        struct step all = single[index];
        while (all.drop < bits && all.advance < 64) {
            struct step s = single[(index << all.drop) & mask];
            if (s.advance == STK_JPEG_SLOW || s.further > bits - all.drop ||
                all.drop + s.drop > STK_JPEG_MOST_AC || all.advance + s.advance % 128 > 63) {
                break;
            }
            all.drop += s.drop;
            all.advance += s.advance;
        }
        pass[index] =
            (struct stk_jpeg_look){.drop = (uint8_t)all.drop, .advance = (uint8_t)all.advance};
    }
}

static void fill_tail(struct stk_jpeg_huff *h, uint32_t code, int length, int symbol)
{
    STK_ASSERT(length > 0 && length <= 16);
    uint32_t first = code << (16 - length), end = first + (1u << (16 - length));
    for (uint32_t head = first < 0xfc00 ? 0xfc00 : first; head < end; head++) {
        h->tail[head - 0xfc00] = (uint16_t)(length << 8 | symbol);
    }
}

bool stk_jpeg_build_huff(struct stk_jpeg_huff *h, struct stk_jpeg_look *look,
                         struct stk_jpeg_look *pass, int bits)
{
    STK_ASSERT(bits > 0 && bits <= 16);
    if (h->is_built) {
        return true;
    }
    bool is_ac = pass != NULL;
    struct step single[1 << STK_JPEG_AC_BITS], passed[1 << STK_JPEG_AC_BITS];
    for (int i = 0; i < 1 << bits; i++) {
        single[i] = passed[i] = (struct step){0, 0, 0, 0, STK_JPEG_SLOW};
    }
    uint32_t code = 0;
    int symbols = 0;
    memset(h->tail, 0, sizeof h->tail);
    for (int length = 1; length <= 16; length++) {
        h->offset[length] = symbols - (int32_t)code;
        for (int i = 0; i < h->counts[length]; i++, code++, symbols++) {
            int symbol = h->symbols[symbols];
            if (code >= 1u << length || (!is_ac && symbol > 15)) {
                return false;
            }
            fill_tail(h, code, length, symbol);
            if (length > bits) {
                continue;
            }
            int first = (int)(code << (bits - length));
            for (int index = first; index < first + (1 << (bits - length)); index++) {
                single[index] = take_symbol(symbol, length, index, bits, is_ac);
            }
            struct step step = pass_symbol(symbol, length);
            for (int index = first; is_ac && index < first + (1 << (bits - length)); index++) {
                passed[index] = step;
            }
        }
        h->limit[length] = code << (16 - length);
        code <<= 1;
    }
    if (is_ac) {
        pair_steps(look, single, bits);
        join_steps(pass, passed, bits);
    } else {
        for (int i = 0; i < 1 << bits; i++) {
            look[i] = pack(single[i], 0, 0, i, bits);
        }
    }
    h->is_built = true;
    return true;
}
