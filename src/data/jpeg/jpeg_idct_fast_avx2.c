// SPDX-License-Identifier: Apache-2.0
// The fast 8x8 inverse DCT in 16-bit vectors, equal to stk_jpeg_idct_ifast for every input: both
// wrap at 16 bits where libjpeg-turbo's vector code does.
#include "data/jpeg/jpeg_impl.h"

#if STK_JPEG_X86
#include <immintrin.h>

#define AVX2 static inline __attribute__((always_inline, target("avx2")))

AVX2 __m128i times(__m128i v, int factor) // 8-bit fraction
{
    return _mm_mulhi_epi16(_mm_slli_epi16(v, 2), _mm_set1_epi16((int16_t)(factor * 64)));
}

AVX2 void ifast_pass(__m128i v[8])
{
    __m128i t10 = _mm_add_epi16(v[0], v[4]), t11 = _mm_sub_epi16(v[0], v[4]);
    __m128i t13 = _mm_add_epi16(v[2], v[6]);
    __m128i t12 = _mm_sub_epi16(times(_mm_sub_epi16(v[2], v[6]), 362), t13);
    __m128i t0 = _mm_add_epi16(t10, t13), t3 = _mm_sub_epi16(t10, t13);
    __m128i t1 = _mm_add_epi16(t11, t12), t2 = _mm_sub_epi16(t11, t12);
    __m128i z13 = _mm_add_epi16(v[5], v[3]), z10 = _mm_sub_epi16(v[5], v[3]);
    __m128i z11 = _mm_add_epi16(v[1], v[7]), z12 = _mm_sub_epi16(v[1], v[7]);
    __m128i t7 = _mm_add_epi16(z11, z13), r11 = times(_mm_sub_epi16(z11, z13), 362);
    __m128i z5 = times(_mm_add_epi16(z10, z12), 473);
    __m128i r10 = _mm_sub_epi16(times(z12, 277), z5);
    __m128i r12 = _mm_add_epi16(_mm_sub_epi16(times(z10, -413), z10), z5);
    __m128i t6 = _mm_sub_epi16(r12, t7), t5 = _mm_sub_epi16(r11, t6);
    __m128i t4 = _mm_add_epi16(r10, t5);
    v[0] = _mm_add_epi16(t0, t7);
    v[7] = _mm_sub_epi16(t0, t7);
    v[1] = _mm_add_epi16(t1, t6);
    v[6] = _mm_sub_epi16(t1, t6);
    v[2] = _mm_add_epi16(t2, t5);
    v[5] = _mm_sub_epi16(t2, t5);
    v[4] = _mm_add_epi16(t3, t4);
    v[3] = _mm_sub_epi16(t3, t4);
}

AVX2 void transpose(__m128i v[8])
{
    __m128i a[8], b[8];
    for (int i = 0; i < 4; i++) {
        a[2 * i] = _mm_unpacklo_epi16(v[2 * i], v[2 * i + 1]);
        a[2 * i + 1] = _mm_unpackhi_epi16(v[2 * i], v[2 * i + 1]);
    }
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) {
            b[4 * i + 2 * k] = _mm_unpacklo_epi32(a[4 * i + k], a[4 * i + 2 + k]);
            b[4 * i + 2 * k + 1] = _mm_unpackhi_epi32(a[4 * i + k], a[4 * i + 2 + k]);
        }
    for (int i = 0; i < 4; i++) {
        v[2 * i] = _mm_unpacklo_epi64(b[i], b[4 + i]);
        v[2 * i + 1] = _mm_unpackhi_epi64(b[i], b[4 + i]);
    }
}

__attribute__((target("avx2"))) void
stk_jpeg_idct_ifast_avx2(const int16_t *coef, const int16_t *quant, uint8_t *out, ptrdiff_t stride)
{
    __m128i v[8];
    for (int i = 0; i < 8; i++)
        v[i] = _mm_mullo_epi16(_mm_loadu_si128((const __m128i *)(coef + 8 * i)),
                               _mm_loadu_si128((const __m128i *)(quant + 8 * i)));
    ifast_pass(v);
    transpose(v);
    ifast_pass(v);
    transpose(v);
    for (int i = 0; i < 8; i += 2) {
        __m128i pair = _mm_packs_epi16(_mm_srai_epi16(v[i], 5), _mm_srai_epi16(v[i + 1], 5));
        pair = _mm_add_epi8(pair, _mm_set1_epi8(-128));
        _mm_storel_epi64((__m128i *)out, pair);
        _mm_storeh_pd((double *)(out + stride), _mm_castsi128_pd(pair));
        out += 2 * stride;
    }
}
#endif
