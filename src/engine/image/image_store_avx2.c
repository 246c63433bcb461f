// SPDX-License-Identifier: Apache-2.0
// Rows of three-channel bytes to normalized floats with AVX2, eight pixels at a time: one
// multiplication and one addition, like the plain code.
#include "engine/image/image_resize_impl.h"

#if STK_IMAGE_X86
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

AVX2 static inline __m256 scale_8(__m128i bytes, __m256 mul, __m256 add)
{
    __m256 v = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
    return _mm256_add_ps(_mm256_mul_ps(v, mul), add);
}

AVX2 void stk_image_store3_avx2(const uint8_t *line, size_t n, const float *scale,
                                const float *offset, float *out)
{
    float muls[24], adds[24];
    size_t i = 0;
    for (int k = 0; k < 24; k++) {
        muls[k] = scale[k % 3];
        adds[k] = offset[k % 3];
    }
    for (; i + 24 <= 3 * n; i += 24) {
        for (size_t k = 0; k < 24; k += 8) {
            __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)(line + i + k));
            _mm256_storeu_ps(out + i + k,
                             scale_8(bytes, _mm256_loadu_ps(muls + k), _mm256_loadu_ps(adds + k)));
        }
    }
    for (; i < 3 * n; i++) {
        out[i] = (float)line[i] * scale[i % 3] + offset[i % 3];
    }
}

AVX2 void stk_image_split3_avx2(const uint8_t *line, size_t n, const float *scale,
                                const float *offset, float *const *planes)
{
    const __m128i by_channel = _mm_setr_epi8(0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11, -1, -1, -1, -1);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const uint8_t *from = line + 3 * i;
        __m128i a = _mm_loadu_si128((const __m128i *)(const void *)from);
        __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(from + 12));
        a = _mm_shuffle_epi8(a, by_channel);
        b = _mm_shuffle_epi8(b, by_channel);
        __m128i red_green = _mm_unpacklo_epi32(a, b), blue = _mm_unpackhi_epi32(a, b);
        __m128i c[3] = {red_green, _mm_srli_si128(red_green, 8), blue};
        for (int k = 0; k < 3; k++) {
            _mm256_storeu_ps(planes[k] + i,
                             scale_8(c[k], _mm256_set1_ps(scale[k]), _mm256_set1_ps(offset[k])));
        }
    }
    for (; i < n; i++) {
        for (int k = 0; k < 3; k++) {
            planes[k][i] = (float)line[3 * i + (size_t)k] * scale[k] + offset[k];
        }
    }
}
#endif
