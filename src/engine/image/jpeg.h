// SPDX-License-Identifier: Apache-2.0
// Baseline JPEG decoder: the same pixels as libjpeg-turbo, faster, for the files training sets
// hold.
//
// Accepts SOF0, and SOF1 with 8 bits, Huffman coded: gray, or YCbCr at 4:4:4, 4:2:2, 4:2:0 and
// 4:4:0, in one scan, with or without restart markers. Anything else that may be a good JPEG
// (progressive, arithmetic, 12 bits, RGB, CMYK, several scans, other sampling, standard tables left
// out) is STK_JPEG_NOT_MINE: hand it to a general decoder.
//
// Equivalence: with all options zero, pixels equal libjpeg-turbo's default (accurate integer DCT,
// fancy upsampling), as in Pillow and in TensorFlow's decode_jpeg with dct_method INTEGER_ACCURATE;
// its dct_method "" is STK_JPEG_IFAST. A crop equals the crop of the whole image exactly; libjpeg's
// own jpeg_crop_scanline may differ in the chroma of border columns.
//
// Damage: STK_JPEG_OK after decoding a whole image means that libjpeg would have decoded it without
// a single warning. If libjpeg would warn and carry on (bad code, missing or extra bytes, missing
// end marker), or a coefficient leaves its block or range, the result is STK_JPEG_BAD and the rows
// written so far are invalid. Rows below a crop aren't read, nor, with restart markers, most of
// those above it, so damage there goes unnoticed.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stk_jpeg_status {
    STK_JPEG_OK = 0,
    STK_JPEG_NOT_MINE, // may be good: try another decoder
    STK_JPEG_BAD,      // damaged, or not a JPEG
    STK_JPEG_LIMIT,    // larger than max_pixels
    STK_JPEG_USAGE     // invalid options, or a scratch buffer too small
};

enum stk_jpeg_output { STK_JPEG_RGB = 0, STK_JPEG_GREY };
enum stk_jpeg_dct { STK_JPEG_ISLOW = 0, STK_JPEG_IFAST };
enum stk_jpeg_upsampling { STK_JPEG_FANCY = 0, STK_JPEG_BOX };
enum stk_jpeg_cpu {
    STK_JPEG_PLAIN = 0,
    STK_JPEG_AVX2,
    STK_JPEG_AVX512
}; // each level includes the previous ones

// All zero: the whole image, RGB, as libjpeg decodes by default.
struct stk_jpeg_options {
    uint32_t crop_x, crop_y; // in pixels of the scaled image
    uint32_t crop_w, crop_h; // both 0: the whole image
    uint32_t scale_denom;    // 1, 2, 4 or 8; 0 is 1
    enum stk_jpeg_output output;
    enum stk_jpeg_dct dct;
    enum stk_jpeg_upsampling upsampling;
    bool is_checked; // also reads outside the crop, to detect damage there
    // The crop's columns as libjpeg-turbo's jpeg_crop_scanline gives them: at its right end, and at
    // a left end where an MCU begins, chroma is as at the ends of an image. Else the crop's pixels
    // are the whole image's.
    bool has_ends;
};

#define STK_JPEG_AC_BITS 10 // bits used by one look-up
#define STK_JPEG_DC_BITS 9

// What the next bits of the stream mean: see jpeg_huff.c.
struct stk_jpeg_look {
    uint8_t drop, keep, skip, skip2, advance;
    int8_t value2;
    int16_t value;
};

// A Huffman table as in the file, and the data to decode its long codes.
struct stk_jpeg_huff {
    uint8_t counts[17]; // codes by length, from 1
    uint8_t symbols[256];
    bool is_built;      // the look-up table matches these counts and symbols
    uint32_t limit[17]; // first 16-bit prefix after the codes of this length
    int32_t offset[17]; // from code to index into symbols
    // Codes that start with six ones, like all long ones; indexed by the next 16 bits minus 0xfc00:
    // symbol and length << 8; 0: no code.
    uint16_t tail[1024];
};

struct stk_jpeg_component {
    uint8_t id, h, v;              // sampling factors
    uint8_t quant, dc_tab, ac_tab; // tables used
};

// About 80 KB, one per thread; kept from image to image, to avoid rebuilding identical tables.
// Fields may be read after stk_jpeg_open.
struct stk_jpeg {
    uint32_t width, height;
    uint32_t components; // 1 or 3
    uint32_t h_max, v_max;
    uint32_t restart_interval; // in MCUs, 0 if none
    uint32_t orientation;      // of EXIF, 1 to 8; 0 if not given. Never applied here.
    const char *reason;        // why the last call did not return STK_JPEG_OK; never NULL
    uint64_t max_pixels;       // set after stk_jpeg_init to change the cap
    enum stk_jpeg_cpu cpu;     // likewise, to force the plain code

    const uint8_t *data; // borrowed from stk_jpeg_open to the last stk_jpeg_decode
    size_t size;
    size_t scan; // where entropy-coded data start
    struct stk_jpeg_component component[3];
    uint16_t quant[4][64];                 // in natural order
    uint32_t quant_seen, dc_seen, ac_seen; // bit sets: defined in this file
    bool has_frame, has_jfif, has_adobe;
    uint8_t adobe_transform;
    struct stk_jpeg_huff dc[4], ac[4];
    struct stk_jpeg_look dc_look[4][1 << STK_JPEG_DC_BITS];
    struct stk_jpeg_look ac_look[4][1 << STK_JPEG_AC_BITS];
    struct stk_jpeg_look ac_pass[4][1 << STK_JPEG_AC_BITS];
};

// Once per struct. No clean-up is needed.
void stk_jpeg_init(struct stk_jpeg *j);
// Reads the headers only. The data must stay until the last decode.
enum stk_jpeg_status stk_jpeg_open(struct stk_jpeg *j, const uint8_t *data, size_t size);
// Width and height of what stk_jpeg_decode writes.
enum stk_jpeg_status stk_jpeg_output_size(struct stk_jpeg *j, const struct stk_jpeg_options *opt,
                                          uint32_t *width, uint32_t *height);
// Bytes of scratch that stk_jpeg_decode needs: the compressed size and a few rows. 0: invalid
// options.
size_t stk_jpeg_scratch_size(const struct stk_jpeg *j, const struct stk_jpeg_options *opt);
// Decodes into `out`, rows `stride` bytes apart, 3 bytes a pixel (1 for gray output). Allocates
// nothing. `scratch` may have any alignment. May be called again with other options.
enum stk_jpeg_status stk_jpeg_decode(struct stk_jpeg *j, const struct stk_jpeg_options *opt,
                                     uint8_t *out, size_t stride, void *scratch,
                                     size_t scratch_size);

struct stk_jpeg_task { // the arguments of stk_jpeg_decode, and what it returned
    struct stk_jpeg *j;
    const struct stk_jpeg_options *opt;
    uint8_t *out;
    size_t stride;
    void *scratch;
    size_t scratch_size;
    enum stk_jpeg_status status;
};

// Decodes two images at once on this thread, faster than one after the other. Each has its own
// decoder, output and scratch memory; neither affects the other's result.
void stk_jpeg_decode_two(struct stk_jpeg_task *a, struct stk_jpeg_task *b);
