// SPDX-License-Identifier: Apache-2.0
// Huffman decoding of one MCU: the hot loop of the JPEG decoder.
//
// The reader holds up to 63 bits, topped up without a branch from unstuffed data. Each look-up
// drops the bits of one or two symbols and stores both coefficients; only the shift by the number
// of bits is on the critical path. The loop has one exit, taken once a block: at an end of block,
// which is the usual case, or where the table cannot tell (long codes) or a second symbol may have
// crossed the block's end. Then the last look-up is undone and one symbol is taken the careful way.
#include "data/jpeg_impl.h"

#include <string.h>

enum { END = 128 };

static inline uint64_t load_be64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

void stk_jpeg_start_bits(struct stk_jpeg_bits *b, const uint8_t *base, uint64_t total_bits)
{
    *b = (struct stk_jpeg_bits){0, 0, base, base, total_bits};
}

static inline uint64_t used_bits(const struct stk_jpeg_bits *b)
{
    return (uint64_t)(b->next - b->base) * 8 - b->count;
}

int64_t stk_jpeg_bits_left(const struct stk_jpeg_bits *b)
{
    return (int64_t)b->total_bits - (int64_t)used_bits(b);
}

static inline __attribute__((always_inline)) void refill(struct stk_jpeg_bits *b)
{
    b->buf |= load_be64(b->next) >> b->count;
    b->next += (63 - b->count) >> 3;
    b->count |= 56;
}

// Reads a symbol and the value after it by code length. False if no code matches.
static bool read_careful(struct stk_jpeg_bits *b, const struct stk_jpeg_huff *h, bool is_ac,
                         int *skip, int *size, int *value)
{
    refill(b);
    uint32_t head = (uint32_t)(b->buf >> 48);
    int length = 1;
    while (length <= 16 && head >= h->limit[length])
        length++;
    if (length > 16)
        return false;
    int symbol = h->symbols[((int32_t)(head >> (16 - length)) + h->offset[length]) & 255];
    b->buf <<= length;
    b->count -= (uint64_t)length;
    *skip = is_ac ? symbol >> 4 : 0;
    *size = symbol & 15;
    *value = 0;
    if (*size) {
        int bits = (int)(b->buf >> (64 - *size));
        *value = bits >> (*size - 1) ? bits : bits - (1 << *size) + 1;
        b->buf <<= *size;
        b->count -= (uint64_t)*size;
    }
    return true;
}

// Undoes `drop` bits, then takes one AC symbol at zigzag position k. Returns the position after
// it, with END added at an end of block, or -1 if the data are bad.
static __attribute__((noinline)) int
step_careful(struct stk_jpeg_bits *b, const struct stk_jpeg_block *block, uint64_t drop, int k)
{
    uint64_t at = used_bits(b) - drop;
    b->next = b->base + at / 8;
    b->buf = load_be64(b->next) << (at & 7);
    b->next += 7;
    b->count = 56 - (at & 7);
    int skip, size, value;
    if (!read_careful(b, block->ac, true, &skip, &size, &value))
        return -1;
    if (size == 0 && skip != 15)
        return k + END;
    if (k + skip > 63)
        return -1;
    block->coef[block->place[k + skip]] = (int16_t)value;
    return k + skip + 1;
}

static inline __attribute__((always_inline)) bool
decode_dc(struct stk_jpeg_bits *b, struct stk_jpeg_mcu *mcu, const struct stk_jpeg_block *block)
{
    refill(b);
    uint64_t e = block->dc_look[b->buf >> (64 - STK_JPEG_DC_BITS)];
    int diff = (int16_t)(e >> 16) + (int)(((b->buf << STK_JPEG_DC_BITS) >> 1) >> (e >> 8 & 63));
    uint64_t drop = e & 255;
    b->buf <<= drop;
    b->count -= drop;
    if (__builtin_expect(drop == 0, 0)) {
        int skip, size;
        if (!read_careful(b, block->dc, false, &skip, &size, &diff))
            return false;
        refill(b);
    }
    int32_t dc = mcu->dc[block->component] + diff, limit = mcu->dc_limit[block->component];
    mcu->dc[block->component] = dc;
    block->coef[0] = (int16_t)dc;
    return dc <= limit && dc >= -limit;
}

#define LOOK()                                                                                     \
    do {                                                                                           \
        e = look[b.buf >> (64 - STK_JPEG_AC_BITS)];                                                \
        int further = (int)(((b.buf << STK_JPEG_AC_BITS) >> 1) >> (e >> 8 & 63));                  \
        coef[place[k + (int)(e >> 40 & 255)]] = (int16_t)((int)(e >> 16) + further);               \
        coef[place[k + (int)(e >> 48 & 255)]] = (int8_t)(e >> 32);                                 \
        k += (int)(e >> 56);                                                                       \
        b.buf <<= e & 63;                                                                          \
        b.count -= e & 63;                                                                         \
    } while (0)

static inline __attribute__((always_inline)) bool decode_mcu(struct stk_jpeg_bits *state,
                                                             struct stk_jpeg_mcu *mcu)
{
    struct stk_jpeg_bits b = *state;
    for (int i = 0; i < mcu->blocks; i++) {
        struct stk_jpeg_block *block = &mcu->block[i];
        const uint64_t *look = block->ac_look;
        const uint8_t *place = block->place;
        int16_t *coef = block->coef;
        uint64_t e;
        int k = 1;
        memset(coef, 0, 64 * sizeof *coef);
        if (!decode_dc(&b, mcu, block))
            return false;
        LOOK(); // a DC value and this take 24 + 26 of at least 56 bits
        for (;;) {
            while (k < 64) {
                refill(&b);
                LOOK();
                if (k >= 64)
                    break;
                LOOK();
            }
            if (__builtin_expect((unsigned)(k - END - 1) < 63, 1))
                break;
            struct stk_jpeg_bits copy = b; // keeps b in registers
            k = step_careful(&copy, block, e & 63, k - (int)(e >> 56));
            b = copy;
            if (k < 0)
                return false;
            if (k >= 64)
                break;
        }
        block->end = k & 127;
    }
    *state = b;
    return used_bits(&b) <= b.total_bits;
}

bool stk_jpeg_decode_mcu(struct stk_jpeg_bits *b, struct stk_jpeg_mcu *mcu)
{
    return decode_mcu(b, mcu);
}

#if STK_JPEG_X86
__attribute__((target("avx2,bmi,bmi2"))) bool stk_jpeg_decode_mcu_bmi2(struct stk_jpeg_bits *b,
                                                                       struct stk_jpeg_mcu *mcu)
{
    return decode_mcu(b, mcu);
}
#endif
