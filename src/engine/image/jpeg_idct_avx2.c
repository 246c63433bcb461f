// SPDX-License-Identifier: Apache-2.0
// The accurate inverse DCTs with AVX2, equal to the plain ones for every input. Blocks with values
// in the first row beyond 14 bits, which no encoder makes, go to the plain ones: libjpeg-turbo
// treats those differently when the other rows are zero.
//
// Coefficients come already in the order that multiply-add wants, so that nothing is shuffled
// before the first pass: rows 0|4 by halves, then the pairs (2,6), (7,1), (3,5) interleaved. Lanes
// hold columns 0-3 and 4-7. The transposition between the passes makes the same pairs again.
#include "engine/image/jpeg_impl.h"

#define PAIR(base, which, col) ((base) + 2 * (col) + (which))
#define ROW_PAIRED(base, which)                                                                    \
    PAIR(base, which, 0), PAIR(base, which, 1), PAIR(base, which, 2), PAIR(base, which, 3),        \
        PAIR(base, which, 4), PAIR(base, which, 5), PAIR(base, which, 6), PAIR(base, which, 7)

const uint8_t stk_jpeg_paired[64] = {
    0,
    1,
    2,
    3,
    8,
    9,
    10,
    11,                // row 0
    ROW_PAIRED(32, 1), // row 1
    ROW_PAIRED(16, 0), // row 2
    ROW_PAIRED(48, 0), // row 3
    4,
    5,
    6,
    7,
    12,
    13,
    14,
    15,                // row 4
    ROW_PAIRED(48, 1), // row 5
    ROW_PAIRED(16, 1), // row 6
    ROW_PAIRED(32, 0), // row 7
};

// stk_jpeg_paired of every position of stk_jpeg_zigzag.
_Alignas(STK_JPEG_PLACE_ALIGN) const uint8_t stk_jpeg_zigzag_paired[128] = {
    0,  1,  33, 16, 35, 2,  3,  37, 18, 48, 4,  50, 20, 39, 8,  9,  41, 22, 52, 5,  49, 17,
    51, 6,  54, 24, 43, 10, 11, 45, 26, 56, 7,  53, 19, 32, 34, 21, 55, 12, 58, 28, 47, 30,
    60, 13, 57, 23, 36, 38, 25, 59, 14, 62, 15, 61, 27, 40, 42, 29, 63, 31, 44, 46, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64};

#if STK_JPEG_X86
#include <immintrin.h>

#define AVX2 static inline __attribute__((always_inline, target("avx2")))

AVX2 __m256i factors(int a, int b) // for the first and the second of every pair
{
    return _mm256_set1_epi32((int)((uint32_t)(uint16_t)a | (uint32_t)b << 16));
}

// x0 and x4: values 0 and 4 in the lower half of each lane; p26, p71, p35: pairs. Results are
// rounded and shifted right by `bits`.
AVX2 void islow_pass(__m256i x0, __m256i x4, __m256i p26, __m256i p71, __m256i p35, int bits,
                     __m256i out[8])
{
    __m256i zero = _mm256_setzero_si256(), half = _mm256_set1_epi32(1 << (bits - 1));
    __m256i t2 = _mm256_madd_epi16(p26, factors(4433, 4433 - 15137));
    __m256i t3 = _mm256_madd_epi16(p26, factors(4433 + 6270, 4433));
    __m256i t0 = _mm256_srai_epi32(_mm256_unpacklo_epi16(zero, _mm256_add_epi16(x0, x4)), 3);
    __m256i t1 = _mm256_srai_epi32(_mm256_unpacklo_epi16(zero, _mm256_sub_epi16(x0, x4)), 3);
    t0 = _mm256_add_epi32(t0, half);
    t1 = _mm256_add_epi32(t1, half);
    __m256i t10 = _mm256_add_epi32(t0, t3), t13 = _mm256_sub_epi32(t0, t3);
    __m256i t11 = _mm256_add_epi32(t1, t2), t12 = _mm256_sub_epi32(t1, t2);
    __m256i s = _mm256_add_epi16(p71, p35);
    __m256i z3 = _mm256_madd_epi16(s, factors(9633 - 16069, 9633));
    __m256i z4 = _mm256_madd_epi16(s, factors(9633, 9633 - 3196));
    __m256i o0 = _mm256_add_epi32(_mm256_madd_epi16(p71, factors(2446 - 7373, -7373)), z3);
    __m256i o3 = _mm256_add_epi32(_mm256_madd_epi16(p71, factors(-7373, 12299 - 7373)), z4);
    __m256i o1 = _mm256_add_epi32(_mm256_madd_epi16(p35, factors(-20995, 16819 - 20995)), z4);
    __m256i o2 = _mm256_add_epi32(_mm256_madd_epi16(p35, factors(25172 - 20995, -20995)), z3);
    out[0] = _mm256_srai_epi32(_mm256_add_epi32(t10, o3), bits);
    out[7] = _mm256_srai_epi32(_mm256_sub_epi32(t10, o3), bits);
    out[1] = _mm256_srai_epi32(_mm256_add_epi32(t11, o2), bits);
    out[6] = _mm256_srai_epi32(_mm256_sub_epi32(t11, o2), bits);
    out[2] = _mm256_srai_epi32(_mm256_add_epi32(t12, o1), bits);
    out[5] = _mm256_srai_epi32(_mm256_sub_epi32(t12, o1), bits);
    out[3] = _mm256_srai_epi32(_mm256_add_epi32(t13, o0), bits);
    out[4] = _mm256_srai_epi32(_mm256_sub_epi32(t13, o0), bits);
}

// Rows (columns 0-3 | 4-7, 32 bits) to what the second pass takes (rows 0-3 | 4-7, 16 bits).
AVX2 void transpose_to_pairs(const __m256i v[8], __m256i *x0, __m256i *x4, __m256i *p26,
                             __m256i *p71, __m256i *p35)
{
    __m256i a = _mm256_packs_epi32(v[0], v[4]), b = _mm256_packs_epi32(v[1], v[5]);
    __m256i c = _mm256_packs_epi32(v[2], v[6]), d = _mm256_packs_epi32(v[3], v[7]);
    __m256i t0 = _mm256_unpacklo_epi16(a, b), t1 = _mm256_unpackhi_epi16(a, b);
    __m256i t2 = _mm256_unpacklo_epi16(c, d), t3 = _mm256_unpackhi_epi16(c, d);
    __m256i u0 = _mm256_unpacklo_epi32(t0, t2), u1 = _mm256_unpackhi_epi32(t0, t2);
    __m256i u2 = _mm256_unpacklo_epi32(t1, t3), u3 = _mm256_unpackhi_epi32(t1, t3);
    __m256i c01 = _mm256_permute2x128_si256(u0, u2, 0x20);
    __m256i c45 = _mm256_permute2x128_si256(u0, u2, 0x31);
    __m256i c23 = _mm256_permute2x128_si256(u1, u3, 0x20);
    __m256i c67 = _mm256_permute2x128_si256(u1, u3, 0x31);
    *x0 = c01;
    *x4 = c45;
    *p26 = _mm256_unpacklo_epi16(c23, c67);
    *p71 = _mm256_unpackhi_epi16(c67, c01);
    *p35 = _mm256_unpackhi_epi16(c23, c45);
}

AVX2 void store_pair(uint8_t *first, uint8_t *second, __m128i v)
{
    _mm_storel_epi64((__m128i *)first, v);
    _mm_storeh_pd((double *)second, _mm_castsi128_pd(v));
}

// Columns (rows 0-3 | 4-7, 32 bits) to eight rows of eight samples.
AVX2 void store_samples(const __m256i v[8], uint8_t *out, ptrdiff_t stride)
{
    const __m256i quads = _mm256_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 0,
                                           4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m256i center = _mm256_set1_epi8(-128);
    __m256i left =
        _mm256_packs_epi16(_mm256_packs_epi32(v[0], v[1]), _mm256_packs_epi32(v[2], v[3]));
    __m256i right =
        _mm256_packs_epi16(_mm256_packs_epi32(v[4], v[5]), _mm256_packs_epi32(v[6], v[7]));
    left = _mm256_shuffle_epi8(_mm256_add_epi8(left, center), quads);
    right = _mm256_shuffle_epi8(_mm256_add_epi8(right, center), quads);
    __m256i r01 = _mm256_unpacklo_epi32(left, right), r23 = _mm256_unpackhi_epi32(left, right);
    store_pair(out, out + stride, _mm256_castsi256_si128(r01));
    store_pair(out + 2 * stride, out + 3 * stride, _mm256_castsi256_si128(r23));
    store_pair(out + 4 * stride, out + 5 * stride, _mm256_extracti128_si256(r01, 1));
    store_pair(out + 6 * stride, out + 7 * stride, _mm256_extracti128_si256(r23, 1));
}

AVX2 __m256i dequantise(const int16_t *coef, const int16_t *quant, int at)
{
    return _mm256_mullo_epi16(_mm256_loadu_si256((const __m256i *)(coef + at)),
                              _mm256_loadu_si256((const __m256i *)(quant + at)));
}

// Whether rows 0 and 4 hold a value that 16 bits cannot hold four times.
AVX2 bool is_extreme(__m256i rows)
{
    __m256i v = _mm256_xor_si256(_mm256_srai_epi16(rows, 13), _mm256_srai_epi16(rows, 15));
    return !_mm256_testz_si256(v, v);
}

static __attribute__((noinline)) void transform_plainly(stk_jpeg_idct_fn *idct, const int16_t *coef,
                                                        const int16_t *quant, uint8_t *out,
                                                        ptrdiff_t stride)
{
    int16_t natural[2][64];
    for (int i = 0; i < 64; i++) {
        natural[0][i] = coef[stk_jpeg_paired[i]];
        natural[1][i] = quant[stk_jpeg_paired[i]];
    }
    idct(natural[0], natural[1], out, stride);
}

__attribute__((target("avx2"))) void
stk_jpeg_idct_islow_avx2(const int16_t *coef, const int16_t *quant, uint8_t *out, ptrdiff_t stride)
{
    __m256i v[8], p26 = dequantise(coef, quant, 16), p71 = dequantise(coef, quant, 32);
    __m256i p35 = dequantise(coef, quant, 48), x0 = dequantise(coef, quant, 0);
    if (__builtin_expect(is_extreme(x0), 0)) {
        transform_plainly(stk_jpeg_idct_islow, coef, quant, out, stride);
        return;
    }
    __m256i x4 = _mm256_srli_si256(x0, 8);
    islow_pass(x0, x4, p26, p71, p35, 11, v);
    transpose_to_pairs(v, &x0, &x4, &p26, &p71, &p35);
    islow_pass(x0, x4, p26, p71, p35, 18, v);
    store_samples(v, out, stride);
}

// One pass of the DCT reduced to four outputs.
AVX2 void four_pass(__m256i x0, __m256i p26, __m256i p71, __m256i p35, int bits, __m256i out[4])
{
    __m256i zero = _mm256_setzero_si256(), half = _mm256_set1_epi32(1 << (bits - 1));
    __m256i t0 = _mm256_srai_epi32(_mm256_unpacklo_epi16(zero, x0), 2);
    __m256i t2 = _mm256_madd_epi16(p26, factors(15137, -6270));
    __m256i o0 = _mm256_add_epi32(_mm256_madd_epi16(p71, factors(-1730, 8697)),
                                  _mm256_madd_epi16(p35, factors(-17799, 11893)));
    __m256i o2 = _mm256_add_epi32(_mm256_madd_epi16(p71, factors(-4176, 20995)),
                                  _mm256_madd_epi16(p35, factors(7373, -4926)));
    t0 = _mm256_add_epi32(t0, half);
    __m256i t10 = _mm256_add_epi32(t0, t2), t12 = _mm256_sub_epi32(t0, t2);
    out[0] = _mm256_srai_epi32(_mm256_add_epi32(t10, o2), bits);
    out[3] = _mm256_srai_epi32(_mm256_sub_epi32(t10, o2), bits);
    out[1] = _mm256_srai_epi32(_mm256_add_epi32(t12, o0), bits);
    out[2] = _mm256_srai_epi32(_mm256_sub_epi32(t12, o0), bits);
}

__attribute__((target("avx2"))) void
stk_jpeg_idct_4x4_avx2(const int16_t *coef, const int16_t *quant, uint8_t *out, ptrdiff_t stride)
{
    const __m128i quads = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    __m256i v[8], p26 = dequantise(coef, quant, 16), p71 = dequantise(coef, quant, 32);
    __m256i p35 = dequantise(coef, quant, 48), x0 = dequantise(coef, quant, 0), x4;
    if (__builtin_expect(is_extreme(x0), 0)) {
        transform_plainly(stk_jpeg_idct_4x4, coef, quant, out, stride);
        return;
    }
    four_pass(x0, p26, p71, p35, 12, v);
    v[4] = v[5] = v[6] = v[7] = _mm256_setzero_si256();
    transpose_to_pairs(v, &x0, &x4, &p26, &p71, &p35);
    four_pass(x0, p26, p71, p35, 19, v);
    __m128i left = _mm_packs_epi32(_mm256_castsi256_si128(v[0]), _mm256_castsi256_si128(v[1]));
    __m128i right = _mm_packs_epi32(_mm256_castsi256_si128(v[2]), _mm256_castsi256_si128(v[3]));
    __m128i rows = _mm_add_epi8(_mm_packs_epi16(left, right), _mm_set1_epi8(-128));
    rows = _mm_shuffle_epi8(rows, quads);
    for (int i = 0; i < 4; i++, out += stride) {
        _mm_storeu_si32(out, rows);
        rows = _mm_srli_si128(rows, 4);
    }
}
#endif
