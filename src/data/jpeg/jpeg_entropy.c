// SPDX-License-Identifier: Apache-2.0
// Huffman decoding of MCUs: the hot loop of the JPEG decoder.
//
// The reader holds up to 63 bits, topped up without a branch from unstuffed data. Each look-up
// drops the bits of one or two symbols and stores both coefficients; only the shift by the number
// of bits is on the critical path. The loop has one exit, taken once a block: at an end of block,
// which is the usual case, or where the table cannot tell (long codes) or a second symbol may have
// crossed the block's end. Then the last look-up is undone and one symbol is taken the careful way.
//
// The critical path leaves most of the processor idle, so two streams can be read in turn. Blocks
// that nobody wants are read with a table whose entries pass over as many symbols as they see: what
// it stores means nothing.
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
    int length, symbol;
    if (head >= 0xfc00) {
        length = h->tail[head - 0xfc00] >> 8;
        symbol = h->tail[head - 0xfc00] & 255;
        if (length == 0)
            return false;
    } else {
        int from = head < h->limit[STK_JPEG_DC_BITS - 1] ? 1 : STK_JPEG_DC_BITS;
        length = from;
        for (int i = from; i <= 16; i++) // limits never fall, so counting needs no early exit
            length += head >= h->limit[i];
        if (length > 16)
            return false;
        symbol = h->symbols[((int32_t)(head >> (16 - length)) + h->offset[length]) & 255];
    }
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

// A reader's fields that the loop wants in registers.
struct lane {
    uint64_t buf, count;
    const uint8_t *next;
    const uint8_t *at; // its low bits are the zigzag position; see STK_JPEG_PLACE_ALIGN
    const struct stk_jpeg_look *look, *entry;
    int16_t *coef;
};

#define INLINE static inline __attribute__((always_inline))

INLINE void lane_refill(struct lane *l)
{
    l->buf |= load_be64(l->next) >> l->count;
    l->next += (l->count ^ 63) >> 3;
    l->count |= 56;
}

INLINE void lane_drop(struct lane *l, const struct stk_jpeg_look *e)
{
    l->buf <<= e->drop & 63;
    l->count -= e->drop;
}

INLINE int lane_value(const struct lane *l, const struct stk_jpeg_look *e)
{
    return (int16_t)((int)(l->buf >> (e->keep & 63)) + e->value);
}

INLINE void lane_look(struct lane *l)
{
    const struct stk_jpeg_look *e = &l->look[l->buf >> (64 - STK_JPEG_AC_BITS)];
    l->coef[l->at[e->skip]] = (int16_t)lane_value(l, e);
    l->coef[l->at[e->skip2]] = e->value2;
    lane_drop(l, e);
    l->at += e->advance;
    l->entry = e;
}

// The position in a block, of at most 64 + 255.
INLINE size_t lane_position(const struct lane *l)
{
    return (uintptr_t)l->at & (STK_JPEG_PLACE_ALIGN - 1);
}

INLINE void lane_load(struct lane *l, const struct stk_jpeg_reader *r)
{
    l->buf = r->bits.buf, l->count = r->bits.count, l->next = r->bits.next;
}

INLINE void lane_save(const struct lane *l, struct stk_jpeg_reader *r)
{
    r->bits.buf = l->buf, r->bits.count = l->count, r->bits.next = l->next;
}

INLINE void lane_aim(struct lane *l, const struct stk_jpeg_reader *r)
{
    const struct stk_jpeg_block *block = &r->mcu.block[r->block];
    l->look = r->mcu.is_passed ? block->ac_pass : block->ac_look;
    l->coef = block->coef;
}

// Reads the DC value of the reader's block. The position is at its first AC value then.
INLINE void lane_begin(struct lane *l, struct stk_jpeg_reader *r)
{
    struct stk_jpeg_block *block = &r->mcu.block[r->block];
    lane_aim(l, r);
    if (!r->mcu.is_passed)
        clear_block(l->coef);
    l->at = block->place + 1;
    lane_refill(l);
    const struct stk_jpeg_look *e = &block->dc_look[l->buf >> (64 - STK_JPEG_DC_BITS)];
    int diff = lane_value(l, e);
    lane_drop(l, e);
    if (__builtin_expect(e->drop == 0, 0)) {
        lane_save(l, r);
        if (!step_careful_dc(&r->bits, block, &diff))
            r->state = STK_JPEG_WRONG;
        lane_load(l, r);
    }
    int32_t *dc = &r->mcu.dc[block->component], limit = r->mcu.dc_limit[block->component];
    *dc += diff;
    l->coef[0] = (int16_t)*dc;
    if (*dc > limit || *dc < -limit)
        r->state = STK_JPEG_WRONG;
}

// Beyond position 63: the block has ended, and the next begins unless the MCU is complete; or the
// last look-up has to be repeated with care.
INLINE void lane_turn(struct lane *l, struct stk_jpeg_reader *r)
{
    struct stk_jpeg_block *block = &r->mcu.block[r->block];
    size_t k = lane_position(l);
    if (__builtin_expect(k - STK_JPEG_END - 1 >= 63, 0)) {
        lane_save(l, r);
        int after = step_careful(&r->bits, block, l->entry->drop, (int)(k - l->entry->advance));
        lane_load(l, r);
        k = after < 0 ? 64 : (size_t)after;
        l->at = block->place + k;
        if (after < 0)
            r->state = STK_JPEG_WRONG;
        if (k < 64)
            return;
    }
    block->end = (int)(k & 127);
    if (++r->block < r->mcu.blocks) {
        lane_begin(l, r);
        return;
    }
    lane_save(l, r);
    r->block = 0;
    l->at = NULL;
    if (r->state == STK_JPEG_READING)
        r->state = used_bits(&r->bits) <= r->bits.total_bits ? STK_JPEG_READ : STK_JPEG_WRONG;
}

INLINE void lane_enter(struct lane *l, struct stk_jpeg_reader *r)
{
    lane_load(l, r);
    l->at = r->at;
    l->entry = NULL;
    if (l->at)
        lane_aim(l, r);
    else
        lane_begin(l, r);
}

INLINE void lane_leave(const struct lane *l, struct stk_jpeg_reader *r)
{
    lane_save(l, r);
    r->at = l->at;
}

INLINE void read_mcu(struct stk_jpeg_reader *r)
{
    struct lane l;
    lane_enter(&l, r);
    while (r->state == STK_JPEG_READING) {
        for (;;) {
            lane_refill(&l);
            lane_look(&l);
            if (lane_position(&l) >= 64)
                break;
            lane_look(&l);
            if (lane_position(&l) >= 64)
                break;
            lane_look(&l);
            if (lane_position(&l) >= 64)
                break;
        }
        lane_turn(&l, r);
    }
    lane_leave(&l, r);
}

INLINE bool is_either_over(const struct lane *a, const struct lane *b)
{
    return (((uintptr_t)a->at | (uintptr_t)b->at) & (STK_JPEG_PLACE_ALIGN - 64)) != 0;
}

INLINE void read_two(struct stk_jpeg_reader *ra, struct stk_jpeg_reader *rb)
{
    struct lane a, b;
    lane_enter(&a, ra);
    lane_enter(&b, rb);
    while (ra->state == STK_JPEG_READING && rb->state == STK_JPEG_READING) {
        for (;;) {
            lane_refill(&a);
            lane_refill(&b);
            lane_look(&a);
            lane_look(&b);
            if (is_either_over(&a, &b))
                break;
            lane_look(&a);
            lane_look(&b);
            if (is_either_over(&a, &b))
                break;
            lane_look(&a);
            lane_look(&b);
            if (is_either_over(&a, &b))
                break;
        }
        if (lane_position(&a) >= 64)
            lane_turn(&a, ra);
        if (lane_position(&b) >= 64)
            lane_turn(&b, rb);
    }
    lane_leave(&a, ra);
    lane_leave(&b, rb);
}

void stk_jpeg_read_mcu(struct stk_jpeg_reader *r)
{
    read_mcu(r);
}

void stk_jpeg_read_two(struct stk_jpeg_reader *a, struct stk_jpeg_reader *b)
{
    read_two(a, b);
}

#if STK_JPEG_X86
#define BMI2 __attribute__((target("avx2,bmi,bmi2")))

BMI2 void stk_jpeg_read_mcu_bmi2(struct stk_jpeg_reader *r)
{
    read_mcu(r);
}

BMI2 void stk_jpeg_read_two_bmi2(struct stk_jpeg_reader *a, struct stk_jpeg_reader *b)
{
    read_two(a, b);
}
#endif
