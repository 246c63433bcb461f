// SPDX-License-Identifier: Apache-2.0
// The fast 8x8 inverse DCT of two blocks at once in 16-bit vectors, a block in each half, equal to
// stk_jpeg_idct_ifast for every input: both wrap at 16 bits where libjpeg-turbo's vector code does.
#include "engine/image/jpeg_impl.h"

#if STK_JPEG_X86
#include <immintrin.h>

#define AVX2 static inline __attribute__((always_inline, target("avx2")))

AVX2 __m256i times(__m256i v, int factor) // 8-bit fraction
{
    return _mm256_mulhi_epi16(_mm256_slli_epi16(v, 2), _mm256_set1_epi16((int16_t)(factor * 64)));
}

AVX2 void ifast_pass(__m256i v[8])
{
    __m256i t10 = _mm256_add_epi16(v[0], v[4]), t11 = _mm256_sub_epi16(v[0], v[4]);
    __m256i t13 = _mm256_add_epi16(v[2], v[6]);
    __m256i t12 = _mm256_sub_epi16(times(_mm256_sub_epi16(v[2], v[6]), 362), t13);
    __m256i t0 = _mm256_add_epi16(t10, t13), t3 = _mm256_sub_epi16(t10, t13);
    __m256i t1 = _mm256_add_epi16(t11, t12), t2 = _mm256_sub_epi16(t11, t12);
    __m256i z13 = _mm256_add_epi16(v[5], v[3]), z10 = _mm256_sub_epi16(v[5], v[3]);
    __m256i z11 = _mm256_add_epi16(v[1], v[7]), z12 = _mm256_sub_epi16(v[1], v[7]);
    __m256i t7 = _mm256_add_epi16(z11, z13), r11 = times(_mm256_sub_epi16(z11, z13), 362);
    __m256i z5 = times(_mm256_add_epi16(z10, z12), 473);
    __m256i r10 = _mm256_sub_epi16(times(z12, 277), z5);
    __m256i r12 = _mm256_add_epi16(_mm256_sub_epi16(times(z10, -413), z10), z5);
    __m256i t6 = _mm256_sub_epi16(r12, t7), t5 = _mm256_sub_epi16(r11, t6);
    __m256i t4 = _mm256_add_epi16(r10, t5);
    v[0] = _mm256_add_epi16(t0, t7);
    v[7] = _mm256_sub_epi16(t0, t7);
    v[1] = _mm256_add_epi16(t1, t6);
    v[6] = _mm256_sub_epi16(t1, t6);
    v[2] = _mm256_add_epi16(t2, t5);
    v[5] = _mm256_sub_epi16(t2, t5);
    v[4] = _mm256_add_epi16(t3, t4);
    v[3] = _mm256_sub_epi16(t3, t4);
}

AVX2 void transpose(__m256i v[8])
{
    __m256i a[8], b[8];
    for (int i = 0; i < 4; i++) {
        a[2 * i] = _mm256_unpacklo_epi16(v[2 * i], v[2 * i + 1]);
        a[2 * i + 1] = _mm256_unpackhi_epi16(v[2 * i], v[2 * i + 1]);
    }
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2; k++) {
            b[4 * i + 2 * k] = _mm256_unpacklo_epi32(a[4 * i + k], a[4 * i + 2 + k]);
            b[4 * i + 2 * k + 1] = _mm256_unpackhi_epi32(a[4 * i + k], a[4 * i + 2 + k]);
        }
    }
    for (int i = 0; i < 4; i++) {
        v[2 * i] = _mm256_unpacklo_epi64(b[i], b[4 + i]);
        v[2 * i + 1] = _mm256_unpackhi_epi64(b[i], b[4 + i]);
    }
}

// Columns i and i + 4 as bytes.
AVX2 __m256i pack_columns(const __m256i v[8], int i)
{
    __m256i pair = _mm256_packs_epi16(_mm256_srai_epi16(v[i], 5), _mm256_srai_epi16(v[i + 4], 5));
    return _mm256_add_epi8(pair, _mm256_set1_epi8(-128));
}

// Columns of words to pairs of rows of bytes.
AVX2 void finish_rows(const __m256i v[8], __m256i rows[4])
{
    __m256i c04 = pack_columns(v, 0), c15 = pack_columns(v, 1);
    __m256i c26 = pack_columns(v, 2), c37 = pack_columns(v, 3);
    __m256i c01 = _mm256_unpacklo_epi8(c04, c15), c45 = _mm256_unpackhi_epi8(c04, c15);
    __m256i c23 = _mm256_unpacklo_epi8(c26, c37), c67 = _mm256_unpackhi_epi8(c26, c37);
    __m256i top_left = _mm256_unpacklo_epi16(c01, c23), low_left = _mm256_unpackhi_epi16(c01, c23);
    __m256i top_right = _mm256_unpacklo_epi16(c45, c67),
            low_right = _mm256_unpackhi_epi16(c45, c67);
    rows[0] = _mm256_unpacklo_epi32(top_left, top_right);
    rows[1] = _mm256_unpackhi_epi32(top_left, top_right);
    rows[2] = _mm256_unpacklo_epi32(low_left, low_right);
    rows[3] = _mm256_unpackhi_epi32(low_left, low_right);
}

AVX2 void transform_two(const int16_t *left, const int16_t *right, const int16_t *quant,
                        __m256i rows[4])
{
    __m256i v[8];
    for (int i = 0; i < 8; i++) {
        __m256i coef = _mm256_inserti128_si256(
            _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(left + 8 * i))),
            _mm_loadu_si128((const __m128i *)(right + 8 * i)), 1);
        v[i] = _mm256_mullo_epi16(
            coef, _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(quant + 8 * i))));
    }
    ifast_pass(v);
    transpose(v);
    ifast_pass(v);
    finish_rows(v, rows);
}

__attribute__((target("avx2"))) void
stk_jpeg_idct_ifast_avx2(const int16_t *coef, const int16_t *quant, uint8_t *out, ptrdiff_t stride)
{
    __m256i rows[4];
    transform_two(coef, coef, quant, rows);
    for (int i = 0; i < 4; i++, out += 2 * stride) {
        __m128i pair = _mm256_castsi256_si128(rows[i]);
        _mm_storel_epi64((__m128i *)out, pair);
        _mm_storeh_pd((double *)(out + stride), _mm_castsi128_pd(pair));
    }
}

__attribute__((target("avx2"))) void stk_jpeg_idct2_ifast_avx2(const int16_t *left,
                                                               const int16_t *right,
                                                               const int16_t *quant, uint8_t *out,
                                                               ptrdiff_t stride)
{
    __m256i rows[4];
    transform_two(left, right, quant, rows);
    for (int i = 0; i < 4; i++, out += 2 * stride) {
        __m256i both = _mm256_permute4x64_epi64(rows[i], _MM_SHUFFLE(3, 1, 2, 0));
        _mm_storeu_si128((__m128i *)out, _mm256_castsi256_si128(both));
        _mm_storeu_si128((__m128i *)(out + stride), _mm256_extracti128_si256(both, 1));
    }
}
#endif
