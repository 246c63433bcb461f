// SPDX-License-Identifier: Apache-2.0
// Huffman decoding of blocks: the hot loop of the JPEG decoder.
//
// The reader holds up to 63 bits, topped up without a branch from unstuffed data. Each look-up
// drops the bits of one or two symbols and stores both coefficients; only the shift by the number
// of bits is on the critical path. The one branch after it is taken once a block: at an end of
// block, or where the table has no answer (long codes) or a second symbol has crossed the block's
// end. Then the last look-up is undone and one symbol is decoded step by step.
// The end of a block costs as much as the symbols: a mispredicted branch, and the work before the
// next look-up. So that work is kept small: the blocks of several MCUs share an array, and DC
// predictions, range checks and the end of data are handled once per array.
// The critical path leaves most of the CPU core idle, so two streams can be read alternately.
// Unneeded blocks are read with a table whose entries skip as many symbols as they cover; only
// their DC values are stored.
#include "base/assert.h"
#include "engine/image/jpeg_impl.h"

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
        if (length == 0) {
            return false;
        }
    } else {
        int from = head < h->limit[STK_JPEG_DC_BITS - 1] ? 1 : STK_JPEG_DC_BITS;
        length = from;
        for (int i = from; i <= 16; i++) { // limits never fall, so counting needs no early exit
            length += head >= h->limit[i];
        }
        if (length > 16) {
            return false;
        }
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
    block->coef[block->place[k]] = 0; // an entry without an answer left a value there
    if (!read_careful(b, block->ac, true, &skip, &size, &value)) {
        return -1;
    }
    refill(b);
    if (size == 0 && skip != 15) {
        return k + STK_JPEG_END;
    }
    if (k + skip > 63) {
        return -1;
    }
    block->coef[block->place[k + skip]] = (int16_t)value;
    return k + skip + 1;
}

// The same for a DC difference, of which nothing has been dropped yet. False if the data are bad.
static __attribute__((noinline)) bool step_careful_dc(struct stk_jpeg_bits *b,
                                                      const struct stk_jpeg_block *block)
{
    int skip, size, diff = 0;
    bool ok = read_careful(b, block->dc, false, &skip, &size, &diff);
    block->coef[0] = (int16_t)diff;
    refill(b);
    return ok;
}

// Clears 64 aligned coefficients without a call.
static inline void clear_block(int16_t *coef)
{
    typedef int64_t four __attribute__((vector_size(32), may_alias));
    four *part = (four *)(void *)coef, zero = {0, 0, 0, 0};
    for (int i = 0; i < 4; i++) {
        part[i] = zero;
    }
}

void stk_jpeg_start_blocks(struct stk_jpeg_reader *r, int blocks, bool is_passed)
{
    STK_ASSERT(blocks > 0);
    r->state = STK_JPEG_READING;
    r->is_passed = is_passed;
    r->at = NULL;
    r->now = r->block;
    r->last = r->block + blocks;
    for (int i = 0; i < blocks && !is_passed; i++) {
        clear_block(r->block[i].coef);
    }
}

// The reader's fields that the loop keeps in registers.
struct lane {
    uint64_t buf, count;
    const uint8_t *next;
    const uint8_t *at; // its low bits are the zigzag position; see STK_JPEG_PLACE_ALIGN
    const struct stk_jpeg_look *look;
    int16_t *coef;
    struct stk_jpeg_block *now;
};

#if STOKER_ASSERTIONS // speed doesn't matter there, and a sanitizer build takes eight seconds to
                      // compile it
#define INLINE static inline
#else
#define INLINE static inline __attribute__((always_inline))
#endif

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

INLINE int16_t lane_value(const struct lane *l, const struct stk_jpeg_look *e)
{
    return (int16_t)((int)(l->buf >> (e->keep & 63)) + e->value);
}

// The position in a block, of at most 63 + 255.
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

INLINE void lane_aim(struct lane *l, bool is_passed)
{
    l->look = is_passed ? l->now->ac_pass : l->now->ac_look;
    l->coef = l->now->coef;
}

// The stream's data are bad; what was read of it no longer matters.
INLINE bool lane_fail(struct lane *l, struct stk_jpeg_reader *r)
{
    l->at = NULL;
    r->state = STK_JPEG_WRONG;
    return false;
}

// Reads a block's DC value and ensures there are bits for two look-ups. False if it is bad.
INLINE bool lane_begin(struct lane *l, struct stk_jpeg_reader *r, bool is_passed)
{
    lane_aim(l, is_passed);
    l->at = l->now->place + 1;
    lane_refill(l);
    const struct stk_jpeg_look *e = &l->now->dc_look[l->buf >> (64 - STK_JPEG_DC_BITS)];
    l->coef[0] = lane_value(l, e);
    lane_drop(l, e);
    if (__builtin_expect(e->drop != 0, 1)) {
        return true;
    }
    lane_save(l, r);
    bool ok = step_careful_dc(&r->bits, l->now);
    lane_load(l, r);
    return ok || lane_fail(l, r);
}

// Position 64 or beyond, by look-up `e`. False if there is no more to read.
INLINE bool lane_turn(struct lane *l, struct stk_jpeg_reader *r, const struct stk_jpeg_look *e,
                      bool is_passed)
{
    size_t k = lane_position(l);
    if (__builtin_expect((k & 64) && k != 64, 0)) {
        lane_save(l, r);
        int after = step_careful(&r->bits, l->now, e->drop, (int)(k - e->advance));
        lane_load(l, r);
        if (after < 0) {
            return lane_fail(l, r);
        }
        k = (size_t)after;
        l->at = l->now->place + k;
        if (k < 64) {
            return true;
        }
    }
    if (!is_passed) {
        l->now->end = (int)(k & 127);
    }
    if (++l->now < r->last) {
        return lane_begin(l, r, is_passed);
    }
    lane_save(l, r);
    l->at = NULL;
    r->state = used_bits(&r->bits) <= r->bits.total_bits ? STK_JPEG_READ : STK_JPEG_WRONG;
    return false;
}

// One look-up and what follows from it. False if there is no more to read.
INLINE bool lane_step(struct lane *l, struct stk_jpeg_reader *r, bool is_passed)
{
    const struct stk_jpeg_look *e = &l->look[l->buf >> (64 - STK_JPEG_AC_BITS)];
    if (!is_passed) {
        l->coef[l->at[e->skip]] = lane_value(l, e);
        l->coef[l->at[e->skip2]] = e->value2;
    }
    lane_drop(l, e);
    l->at += e->advance;
    return __builtin_expect(lane_position(l) < 64, 1) || lane_turn(l, r, e, is_passed);
}

INLINE bool lane_enter(struct lane *l, struct stk_jpeg_reader *r, bool is_passed)
{
    lane_load(l, r);
    l->at = r->at;
    l->now = r->now;
    if (!l->at) {
        return lane_begin(l, r, is_passed);
    }
    lane_aim(l, is_passed);
    return true;
}

INLINE void lane_leave(const struct lane *l, struct stk_jpeg_reader *r)
{
    lane_save(l, r);
    r->at = l->at;
    r->now = l->now;
}

INLINE void read_blocks(struct stk_jpeg_reader *r, bool is_passed)
{
    struct lane l;
    for (bool more = lane_enter(&l, r, is_passed); more;) {
        lane_refill(&l);
        more = lane_step(&l, r, is_passed) && lane_step(&l, r, is_passed) &&
               lane_step(&l, r, is_passed);
    }
    lane_leave(&l, r);
}

INLINE void read_both(struct stk_jpeg_reader *ra, bool is_a_passed, struct stk_jpeg_reader *rb,
                      bool is_b_passed)
{
    struct lane a, b;
    bool more = lane_enter(&a, ra, is_a_passed);
    more = lane_enter(&b, rb, is_b_passed) && more;
    while (more) {
        lane_refill(&a);
        lane_refill(&b);
        more = lane_step(&a, ra, is_a_passed) && lane_step(&b, rb, is_b_passed) &&
               lane_step(&a, ra, is_a_passed) && lane_step(&b, rb, is_b_passed) &&
               lane_step(&a, ra, is_a_passed) && lane_step(&b, rb, is_b_passed);
    }
    lane_leave(&a, ra);
    lane_leave(&b, rb);
}

INLINE void read_one(struct stk_jpeg_reader *r)
{
    if (r->is_passed) {
        read_blocks(r, true);
    } else {
        read_blocks(r, false);
    }
}

INLINE void read_two(struct stk_jpeg_reader *a, struct stk_jpeg_reader *b)
{
    if (a->is_passed && b->is_passed) {
        read_both(a, true, b, true);
    } else if (a->is_passed) {
        read_both(a, true, b, false);
    } else if (b->is_passed) {
        read_both(b, true, a, false);
    } else {
        read_both(a, false, b, false);
    }
}

void stk_jpeg_read_one(struct stk_jpeg_reader *r)
{
    read_one(r);
}

void stk_jpeg_read_two(struct stk_jpeg_reader *a, struct stk_jpeg_reader *b)
{
    read_two(a, b);
}

#if STK_JPEG_X86
#define BMI2 __attribute__((target("avx2,bmi,bmi2")))

BMI2 void stk_jpeg_read_one_bmi2(struct stk_jpeg_reader *r)
{
    read_one(r);
}

BMI2 void stk_jpeg_read_two_bmi2(struct stk_jpeg_reader *a, struct stk_jpeg_reader *b)
{
    read_two(a, b);
}
#endif
