// SPDX-License-Identifier: Apache-2.0
// Rows of three-channel bytes to normalized floats with AVX-512: one multiplication and one
// addition, like the plain code.
#include "engine/image/image_resize_impl.h"

#if STK_IMAGE_X86
#include <immintrin.h>

#define WIDE __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi")))

WIDE static inline __m512 convert(__m128i bytes)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes));
}

static __mmask16 mask_of(size_t left)
{
    return left >= 16 ? (__mmask16)0xffff : (__mmask16)((1u << left) - 1);
}

WIDE void stk_image_store3_avx512(const uint8_t *line, size_t n, const float *scale,
                                  const float *offset, float *out)
{
    // The channel of each of 48 floats.
    static const uint8_t channel[48] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0,
                                        1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1,
                                        2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2};
    __m512 muls[3], adds[3];
    for (int k = 0; k < 3; k++) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(channel + 16 * k));
        __m512i of = _mm512_cvtepu8_epi32(bytes);
        muls[k] = _mm512_permutexvar_ps(of, _mm512_maskz_loadu_ps(7, scale));
        adds[k] = _mm512_permutexvar_ps(of, _mm512_maskz_loadu_ps(7, offset));
    }
    for (size_t at = 0, end = 3 * n; at < end; at += 48) {
        for (size_t k = 0, i = at; k < 3 && i < end; k++, i += 16) {
            __m512 v = convert(_mm_loadu_si128((const __m128i *)(const void *)(line + i)));
            v = _mm512_add_ps(_mm512_mul_ps(v, muls[k]), adds[k]);
            _mm512_mask_storeu_ps(out + i, mask_of(end - i), v);
        }
    }
}

WIDE void stk_image_split3_avx512(const uint8_t *line, size_t n, const float *scale,
                                  const float *offset, float *const *planes)
{
    // Where byte i of the planes of 16 pixels comes from.
    static const uint8_t from[64] = {0, 3, 6, 9,  12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45,
                                     1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 34, 37, 40, 43, 46,
                                     2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 32, 35, 38, 41, 44, 47};
    __m512i by_channel = _mm512_loadu_si512(from);
    for (size_t i = 0; i < n; i += 16) {
        __m512i v = _mm512_permutexvar_epi8(by_channel, _mm512_loadu_si512(line + 3 * i));
        __m512 c[3] = {convert(_mm512_castsi512_si128(v)), convert(_mm512_extracti32x4_epi32(v, 1)),
                       convert(_mm512_extracti32x4_epi32(v, 2))};
        for (int k = 0; k < 3; k++) {
            _mm512_mask_storeu_ps(planes[k] + i, mask_of(n - i),
                                  _mm512_add_ps(_mm512_mul_ps(c[k], _mm512_set1_ps(scale[k])),
                                                _mm512_set1_ps(offset[k])));
        }
    }
}
#endif
