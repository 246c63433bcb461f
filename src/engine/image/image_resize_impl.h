// SPDX-License-Identifier: Apache-2.0
// Internals of resizing: every method but nearest is a separable filter. One output row is mixed
// from input rows first (contiguous, any number of channels), then each of its pixels is summed
// from neighbors in that row.
//
// There are two kinds of arithmetic. Fixed: uint8 in, non-negative weights in 1/32768, rows as
// 16-bit values in 1/128 of a level (rounded per tap, like the pmulhrsw instruction), sums exact in
// 32 bits. Float: single precision, one multiplication and one addition per tap in the order of
// taps, never fused. So vector code and plain code give the same bits on every machine.
#pragma once

#include "engine/image/image_resize.h"

#if defined(__x86_64__)
#define STK_IMAGE_X86 1
#else
#define STK_IMAGE_X86 0
#endif

// Samples that may be read and written past the end of our own rows.
#define STK_IMAGE_MARGIN 128
// With more taps than this, rounding per tap would show: then float arithmetic is used.
#define STK_IMAGE_FIXED_TAPS 16
// Output pixels per block of the AVX-512 code, and samples that it can look up for them.
enum { STK_IMAGE_BLOCK = 16, STK_IMAGE_WINDOW_16 = 64, STK_IMAGE_WINDOW_32 = 32 };

// One axis's filter: out[x] = sum over t < taps of weight[x * taps + t] * in[start[x] + t], with
// start[x] + taps <= in.
struct stk_image_axis {
    uint32_t in, out, taps;
    int32_t *start;
    float *weight;
    int16_t *fixed;     // pair_taps for each output, the last 0 if taps is odd
    uint32_t pair_taps; // taps rounded up to even
    // For the AVX-512 code, by blocks: the first sample of each block's window; NULL if a window
    // would be too wide. Then per block and pair of taps (or tap, for floats) 64 bytes of indices
    // into the window and 64 bytes of weights.
    int32_t *window;
    void *lookups;
};

// --- image_axis.c
// Input samples per output sample, as the method defines it.
float stk_image_axis_scale(enum stk_image_method m, uint32_t in, uint32_t out);
uint32_t stk_image_axis_taps(enum stk_image_method m, bool antialias, uint32_t in, uint32_t out);
// Fills start and weight; in, out, taps and the arrays are set.
void stk_image_axis_fill(struct stk_image_axis *a, enum stk_image_method m, bool antialias);
void stk_image_axis_mirror(struct stk_image_axis *a);
// The weights in fixed point: each output's sum to 32768, or 32767 if it has one tap.
void stk_image_axis_fix(struct stk_image_axis *a);
// Fills window and lookups; false if a window is too wide.
bool stk_image_axis_block(struct stk_image_axis *a, bool is_fixed);

// For the AVX2 code, which keeps its weights in `lookups`, by pairs of outputs.
void stk_image_axis_pair_avx2(struct stk_image_axis *a);

// --- image_mix.c, image_mix_avx2.c, image_mix_avx512.c
typedef void stk_image_mix_fixed_fn(const uint8_t *const *rows, const int16_t *weights,
                                    uint32_t taps, size_t n, int16_t *out);
typedef void stk_image_mix_bytes_fn(const uint8_t *const *rows, const float *weights, uint32_t taps,
                                    size_t n, float *out);
typedef void stk_image_mix_floats_fn(const float *const *rows, const float *weights, uint32_t taps,
                                     size_t n, float *out);
// `planes` has room for channels * (in + STK_IMAGE_MARGIN) samples. All write up to STK_IMAGE_BLOCK
// pixels past the end of `line`.
typedef void stk_image_sum_fixed_fn(const int16_t *row, const struct stk_image_axis *a,
                                    uint32_t channels, int16_t *planes, uint8_t *line);
typedef void stk_image_sum_float_fn(const float *row, const struct stk_image_axis *a,
                                    uint32_t channels, float *planes, float *line);

stk_image_mix_fixed_fn stk_image_mix_fixed, stk_image_mix_fixed_avx2, stk_image_mix_fixed_avx512;
stk_image_mix_bytes_fn stk_image_mix_bytes, stk_image_mix_bytes_avx2, stk_image_mix_bytes_avx512;
stk_image_mix_floats_fn stk_image_mix_floats, stk_image_mix_floats_avx2,
    stk_image_mix_floats_avx512;
stk_image_sum_fixed_fn stk_image_sum_fixed, stk_image_sum_fixed3_avx2, stk_image_sum_fixed_avx512;
stk_image_sum_float_fn stk_image_sum_float, stk_image_sum_float3_avx2, stk_image_sum_float_avx512;

// --- image_store.c, image_store_avx2.c, image_store_avx512.c
// How to store a finished row.
struct stk_image_store {
    const struct stk_image *out;
    const struct stk_image_resize_options *opt;
    size_t plane_stride;
    enum stk_image_cpu cpu;
};
enum stoker_status stk_image_store_init(struct stk_image_store *s,
                                        const struct stk_image_context *c,
                                        const struct stk_image_resize_options *opt,
                                        const struct stk_image *out, struct stoker_err *err);
void stk_image_store_bytes(const struct stk_image_store *s, const uint8_t *line, uint32_t y);
void stk_image_store_floats(const struct stk_image_store *s, const float *line, uint32_t y);
// Three channels at once: a line of bytes (with a margin) to floats, HWC or three planes.
typedef void stk_image_store3_fn(const uint8_t *line, size_t n, const float *scale,
                                 const float *offset, float *out);
typedef void stk_image_split3_fn(const uint8_t *line, size_t n, const float *scale,
                                 const float *offset, float *const *planes);
stk_image_store3_fn stk_image_store3_avx2, stk_image_store3_avx512;
stk_image_split3_fn stk_image_split3_avx2, stk_image_split3_avx512;
