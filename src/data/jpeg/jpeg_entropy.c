// SPDX-License-Identifier: Apache-2.0
// Huffman decoding of one MCU: the hot loop of the JPEG decoder.
//
// The reader holds up to 63 bits, topped up without a branch from unstuffed data. Each look-up
// drops the bits of one or two symbols and stores both coefficients; only the shift by the number
// of bits is on the critical path. The loop has one exit, taken once a block: at an end of block,
// which is the usual case, or where the table cannot tell (long codes) or a second symbol may have
// crossed the block's end. Then the last look-up is undone and one symbol is taken the careful way.
#include "data/jpeg/jpeg_impl.h"

#include <string.h>

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
    b->next += (b->count ^ 63) >> 3;
    b->count |= 56;
}

// Reads a symbol and the value after it by code length. False if no code matches.
static inline __attribute__((always_inline)) bool read_careful(struct stk_jpeg_bits *b,
                                                               const struct stk_jpeg_huff *h,
                                                               bool is_ac, int *skip, int *size,
                                                               int *value)
{
    refill(b);
    uint32_t head = (uint32_t)(b->buf >> 48);
    int from = head < h->limit[STK_JPEG_DC_BITS - 1] ? 1 : STK_JPEG_DC_BITS, length = from;
    for (int i = from; i <= 16; i++) // limits never fall, so counting needs no early exit
        length += head >= h->limit[i];
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
// it, with STK_JPEG_END added at an end of block, or -1 if the data are bad.
static __attribute__((noinline)) int
step_careful(struct stk_jpeg_bits *b, const struct stk_jpeg_block *block, uint64_t drop, int k)
{
    int skip, size, value;
    if (drop) {
        uint64_t at = used_bits(b) - drop;
        b->next = b->base + at / 8;
        b->buf = load_be64(b->next) << (at & 7);
        b->next += 7;
        b->count = 56 - (at & 7);
    }
    block->coef[block->place[k]] = 0; // an entry that cannot tell has left something there
    if (!read_careful(b, block->ac, true, &skip, &size, &value))
        return -1;
    if (size == 0 && skip != 15)
        return k + STK_JPEG_END;
    if (k + skip > 63)
        return -1;
    block->coef[block->place[k + skip]] = (int16_t)value;
    return k + skip + 1;
}

// The same for a DC difference, of which nothing has been dropped yet. False if the data are bad.
static __attribute__((noinline)) bool step_careful_dc(struct stk_jpeg_bits *b,
                                                      const struct stk_jpeg_block *block, int *diff)
{
    int skip, size;
    bool ok = read_careful(b, block->dc, false, &skip, &size, diff);
    refill(b);
    return ok;
}

static inline __attribute__((always_inline)) void clear_block(int16_t *coef)
{
    typedef int64_t four __attribute__((vector_size(32), may_alias));
    four *part = (four *)(void *)coef, zero = {0, 0, 0, 0};
    for (int i = 0; i < 4; i++)
        part[i] = zero;
}

// The reader's fields as plain variables stay in registers; the careful ways get them through
// memory.
#define REFILL()                                                                                   \
    do {                                                                                           \
        buf |= load_be64(next) >> count;                                                           \
        next += (count ^ 63) >> 3;                                                                 \
        count |= 56;                                                                               \
    } while (0)

#define DROP(e)                                                                                    \
    do {                                                                                           \
        buf <<= (e)->drop & 63;                                                                    \
        count -= (e)->drop;                                                                        \
    } while (0)

#define LOOK()                                                                                     \
    do {                                                                                           \
        e = &look[buf >> (64 - STK_JPEG_AC_BITS)];                                                 \
        coef[place[k + e->skip]] = (int16_t)((int)(buf >> (e->keep & 63)) + e->value);             \
        coef[place[k + e->skip2]] = e->value2;                                                     \
        DROP(e);                                                                                   \
        k += e->advance;                                                                           \
    } while (0)

#define CAREFULLY(call)                                                                            \
    do {                                                                                           \
        state->buf = buf, state->count = count, state->next = next;                                \
        call;                                                                                      \
        buf = state->buf, count = state->count, next = state->next;                                \
    } while (0)

static inline __attribute__((always_inline)) bool decode_mcu(struct stk_jpeg_bits *state,
                                                             struct stk_jpeg_mcu *mcu)
{
    uint64_t buf = state->buf, count = state->count;
    const uint8_t *next = state->next;
    for (struct stk_jpeg_block *block = mcu->block; block < mcu->block + mcu->blocks; block++) {
        const struct stk_jpeg_look *look = block->ac_look, *e;
        const uint8_t *place = block->place;
        int16_t *coef = block->coef;
        size_t k = 1;
        clear_block(coef);
        REFILL();
        e = &block->dc_look[buf >> (64 - STK_JPEG_DC_BITS)];
        int diff = (int16_t)((int)(buf >> (e->keep & 63)) + e->value);
        DROP(e);
        if (__builtin_expect(e->drop == 0, 0)) {
            bool ok;
            CAREFULLY(ok = step_careful_dc(state, block, &diff));
            if (!ok)
                return false;
        }
        int32_t dc = mcu->dc[block->component] + diff, limit = mcu->dc_limit[block->component];
        mcu->dc[block->component] = dc;
        coef[0] = (int16_t)dc;
        if (dc > limit || dc < -limit)
            return false;
        LOOK();
        if (k < 64)
            LOOK();
        for (;;) {
            while (k < 64) {
                REFILL();
                LOOK();
                if (k >= 64)
                    break;
                LOOK();
                if (k >= 64)
                    break;
                LOOK();
            }
            if (__builtin_expect(k - STK_JPEG_END - 1 < 63, 1))
                break;
            int after;
            CAREFULLY(after = step_careful(state, block, e->drop, (int)(k - e->advance)));
            if (after < 0)
                return false;
            k = (size_t)after;
            if (k >= 64)
                break;
        }
        block->end = (int)(k & 127);
    }
    state->buf = buf, state->count = count, state->next = next;
    return used_bits(state) <= state->total_bits;
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
