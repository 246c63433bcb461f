// SPDX-License-Identifier: Apache-2.0
// Internals shared by the JPEG decoder's files.
#pragma once

#include "engine/image/jpeg.h"

#if defined(__x86_64__)
#define STK_JPEG_X86 1
#else
#define STK_JPEG_X86 0
#endif

// MCUs read at once.
#define STK_JPEG_MCUS 4
#define STK_JPEG_MCU_BLOCKS 6
// Zero bytes after unstuffed data: more than one batch of blocks can use (64 symbols of
// 31 bits each), so that overruns are checked once per batch.
#define STK_JPEG_PAD 6144
// Rows of samples have this much room on both sides for neighbors and wide loads.
#define STK_JPEG_MARGIN 64
// Coefficients from one block to the next: 64, a dummy slot, alignment.
#define STK_JPEG_BLOCK 96

// Index of the coefficient at each zigzag position: natural order, and the AVX2 kernels' order;
// beyond 63 the dummy slot. The alignment lets an address encode the position.
#define STK_JPEG_PLACE_ALIGN 512
extern const uint8_t stk_jpeg_zigzag[128], stk_jpeg_zigzag_paired[128];

// Added to `advance` of a look-up entry at an end of block, and `advance` itself if the table has
// no answer. So a position of 64, or one beyond STK_JPEG_END, means that the block has ended, and
// any other with bit 6 set that the last look-up must be repeated step by step.
enum { STK_JPEG_END = 128, STK_JPEG_SLOW = 64 };
// The most bits an entry drops: a DC value and two AC look-ups, or three AC look-ups, fit into a
// refill of 56 bits.
enum { STK_JPEG_MOST_DC = 20, STK_JPEG_MOST_AC = 18 };

// --- jpeg_huff.c
// Codes of `h` and its look-up table of 1 << bits entries; for AC, `pass` is the table that passes
// over coefficients. False if the counts are no prefix code.
bool stk_jpeg_build_huff(struct stk_jpeg_huff *h, struct stk_jpeg_look *look,
                         struct stk_jpeg_look *pass, int bits);

// --- jpeg_entropy.c
struct stk_jpeg_bits {
    uint64_t buf;        // next bits, from the top
    uint64_t count;      // how many of them are valid
    const uint8_t *next; // byte after those
    const uint8_t *base; // where the segment starts
    uint64_t total_bits; // of the segment, without its zero padding
};

struct stk_jpeg_block {
    const struct stk_jpeg_look *dc_look, *ac_look, *ac_pass;
    const uint8_t *place; // zigzag position to index into coef
    int16_t *coef;        // out: the first is the difference from the previous DC value
    const struct stk_jpeg_huff *dc, *ac;
    int component;
    int end; // out: one past the last zigzag position that may be nonzero
};

enum stk_jpeg_reading {
    STK_JPEG_READING, // some blocks are left
    STK_JPEG_READ,    // all of them are read
    STK_JPEG_WRONG    // a bad code, a coefficient out of its block or range, or too little data
};

struct stk_jpeg_reader { // reads one stream; may stop within a block
    struct stk_jpeg_bits bits;
    enum stk_jpeg_reading state;
    bool is_passed;              // only the coefficients at position 0 are needed
    const uint8_t *at;           // place of the next coefficient; NULL: `now` hasn't been started
    struct stk_jpeg_block *now;  // being read
    struct stk_jpeg_block *last; // one past the last to read
    struct stk_jpeg_block block[STK_JPEG_MCUS * STK_JPEG_MCU_BLOCKS]; // of MCUs in a row
};

void stk_jpeg_start_bits(struct stk_jpeg_bits *b, const uint8_t *base, uint64_t total_bits);
// Bits left; negative if the data ended too early.
int64_t stk_jpeg_bits_left(const struct stk_jpeg_bits *b);
// Sets the reader to read its first `blocks` blocks, at least 1.
void stk_jpeg_start_blocks(struct stk_jpeg_reader *r, int blocks, bool is_passed);
// Reads all blocks: STK_JPEG_READ or STK_JPEG_WRONG then.
typedef void stk_jpeg_read_fn(struct stk_jpeg_reader *r);
// Reads two streams alternately until one is no longer STK_JPEG_READING. Each mostly waits for its
// own look-ups, so the second costs little more.
typedef void stk_jpeg_read2_fn(struct stk_jpeg_reader *a, struct stk_jpeg_reader *b);
stk_jpeg_read_fn stk_jpeg_read_one, stk_jpeg_read_one_bmi2;
stk_jpeg_read2_fn stk_jpeg_read_two, stk_jpeg_read_two_bmi2;

// --- jpeg_stuff.c
// Copies entropy-coded bytes up to the next marker, dropping the zero after each 0xFF. `out` needs
// room for `size` + STK_JPEG_PAD + 64 bytes; the padding is zeroed. Returns the bytes written and
// sets *marker to the position of the marker's code byte, or to `size` without a marker.
size_t stk_jpeg_unstuff(const uint8_t *in, size_t size, uint8_t *out, size_t *marker);
size_t stk_jpeg_unstuff_avx2(const uint8_t *in, size_t size, uint8_t *out, size_t *marker);
// The same without copying.
size_t stk_jpeg_find_marker(const uint8_t *in, size_t size);

// --- jpeg_idct*.c
// Coefficients and quantizers in the order of their `place` table; writes size x size samples.
typedef void stk_jpeg_idct_fn(const int16_t *coef, const int16_t *quant, uint8_t *out,
                              ptrdiff_t stride);
stk_jpeg_idct_fn stk_jpeg_idct_islow, stk_jpeg_idct_ifast, stk_jpeg_idct_4x4, stk_jpeg_idct_2x2,
    stk_jpeg_idct_1x1;
stk_jpeg_idct_fn stk_jpeg_idct_ifast_avx2;
// Two neighboring blocks with the same quantizer.
typedef void stk_jpeg_idct2_fn(const int16_t *left, const int16_t *right, const int16_t *quant,
                               uint8_t *out, ptrdiff_t stride);
stk_jpeg_idct2_fn stk_jpeg_idct2_ifast_avx2;
// These take coefficients in the order of stk_jpeg_paired.
stk_jpeg_idct_fn stk_jpeg_idct_islow_avx2, stk_jpeg_idct_4x4_avx2;
extern const uint8_t stk_jpeg_paired[64]; // natural position to the AVX2 kernel's
// The quantizer table for the fast DCT: scaled by the AA&N factors.
void stk_jpeg_scale_ifast(const uint16_t *quant, int16_t *scaled);

// --- jpeg_pixels*.c
// Twice as wide by 3:1 weights; in[-1] and in[n] must hold the neighbors (the edge again at an
// edge). Reads and writes up to 64 samples too many.
typedef void stk_jpeg_h2v1_fn(const uint8_t *in, uint8_t *out, size_t n);
// The same between two rows, `near` weighing 3. `sums` holds n + 2 + 64 values.
typedef void stk_jpeg_h2v2_fn(const uint8_t *near, const uint8_t *far, uint8_t *out, size_t n,
                              uint16_t *sums);
// Exactly 3 * n bytes are written; reads up to 64 samples too many.
typedef void stk_jpeg_color_fn(const uint8_t *y, const uint8_t *cb, const uint8_t *cr, uint8_t *out,
                               size_t n);
stk_jpeg_h2v1_fn stk_jpeg_h2v1, stk_jpeg_h2v1_avx2, stk_jpeg_h2v1_avx512;
stk_jpeg_h2v2_fn stk_jpeg_h2v2, stk_jpeg_h2v2_avx2, stk_jpeg_h2v2_avx512;
stk_jpeg_color_fn stk_jpeg_color, stk_jpeg_color_avx2, stk_jpeg_color_avx512;
void stk_jpeg_h1v2(const uint8_t *near, const uint8_t *far, uint8_t *out, size_t n, int bias);
void stk_jpeg_double(const uint8_t *in, uint8_t *out, size_t n);
void stk_jpeg_grey_to_rgb(const uint8_t *y, uint8_t *out, size_t n);
