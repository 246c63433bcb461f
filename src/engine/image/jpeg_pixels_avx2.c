// SPDX-License-Identifier: Apache-2.0
// From sample planes to pixels with AVX2: the functions of jpeg_pixels.c, 32 samples at a time.
#include "engine/image/jpeg_impl.h"

#if STK_JPEG_X86
#include <immintrin.h>
#include <string.h>

#define AVX2 static inline __attribute__((always_inline, target("avx2")))

AVX2 __m256i load(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

AVX2 void store(void *p, __m256i v)
{
    _mm256_storeu_si256((__m256i *)p, v);
}

// Interleaves values at even and odd places, both below 256, as bytes.
AVX2 __m256i merge(__m256i even, __m256i odd)
{
    return _mm256_or_si256(even, _mm256_slli_epi16(odd, 8));
}

__attribute__((target("avx2"))) void stk_jpeg_h2v1_avx2(const uint8_t *in, uint8_t *out, size_t n)
{
    const __m256i weights = _mm256_set1_epi16(0x0103), one = _mm256_set1_epi16(1);
    const __m256i two = _mm256_set1_epi16(2);
    for (size_t i = 0; i < n; i += 32) {
        __m256i half[2], here = load(in + i), left = load(in + i - 1), right = load(in + i + 1);
        for (int k = 0; k < 2; k++) {
            __m256i l = k ? _mm256_unpackhi_epi8(here, left) : _mm256_unpacklo_epi8(here, left);
            __m256i r = k ? _mm256_unpackhi_epi8(here, right) : _mm256_unpacklo_epi8(here, right);
            l = _mm256_add_epi16(_mm256_maddubs_epi16(l, weights), one);
            r = _mm256_add_epi16(_mm256_maddubs_epi16(r, weights), two);
            half[k] = merge(_mm256_srli_epi16(l, 2), _mm256_srli_epi16(r, 2));
        }
        store(out + 2 * i, _mm256_permute2x128_si256(half[0], half[1], 0x20));
        store(out + 2 * i + 32, _mm256_permute2x128_si256(half[0], half[1], 0x31));
    }
}

__attribute__((target("avx2"))) void stk_jpeg_h2v2_avx2(const uint8_t *near, const uint8_t *far,
                                                        uint8_t *out, size_t n, uint16_t *sums)
{
    const __m256i weights = _mm256_set1_epi16(0x0103), seven = _mm256_set1_epi16(7);
    const __m256i one = _mm256_set1_epi16(1);
    for (size_t i = 0; i < n + 2; i += 32) {
        __m256i a = load(near + i - 1), b = load(far + i - 1);
        __m256i lo = _mm256_maddubs_epi16(_mm256_unpacklo_epi8(a, b), weights);
        __m256i hi = _mm256_maddubs_epi16(_mm256_unpackhi_epi8(a, b), weights);
        store(sums + i, _mm256_permute2x128_si256(lo, hi, 0x20));
        store(sums + i + 16, _mm256_permute2x128_si256(lo, hi, 0x31));
    }
    for (size_t i = 0; i < n; i += 16) {
        __m256i left = load(sums + i), here = load(sums + i + 1), right = load(sums + i + 2);
        here = _mm256_add_epi16(_mm256_add_epi16(here, here), _mm256_add_epi16(here, seven));
        __m256i even = _mm256_add_epi16(_mm256_add_epi16(here, left), one);
        __m256i odd = _mm256_add_epi16(here, right);
        store(out + 2 * i, merge(_mm256_srli_epi16(even, 4), _mm256_srli_epi16(odd, 4)));
    }
}

struct rgb {
    __m256i r, g, b;
};

// Sixteen pixels of 16 bits; chroma minus 128. The factors 13173/32768 and 7471/32768 round like
// libjpeg's 16-bit ones for all 256 values.
AVX2 struct rgb convert(__m256i y, __m256i cb, __m256i cr)
{
    const __m256i green = _mm256_set1_epi32((int)((uint32_t)(uint16_t)-22554 | 18734u << 16));
    const __m256i half = _mm256_set1_epi32(32768);
    struct rgb p;
    __m256i r = _mm256_add_epi16(cr, _mm256_mulhrs_epi16(cr, _mm256_set1_epi16(13173)));
    __m256i b = _mm256_mulhrs_epi16(cb, _mm256_set1_epi16(-7471));
    b = _mm256_add_epi16(b, _mm256_add_epi16(cb, cb));
    __m256i lo = _mm256_madd_epi16(_mm256_unpacklo_epi16(cb, cr), green);
    __m256i hi = _mm256_madd_epi16(_mm256_unpackhi_epi16(cb, cr), green);
    lo = _mm256_srai_epi32(_mm256_add_epi32(lo, half), 16);
    hi = _mm256_srai_epi32(_mm256_add_epi32(hi, half), 16);
    p.r = _mm256_add_epi16(y, r);
    p.g = _mm256_add_epi16(y, _mm256_sub_epi16(_mm256_packs_epi32(lo, hi), cr));
    p.b = _mm256_add_epi16(y, b);
    return p;
}

#define TWICE(...) _mm256_setr_epi8(__VA_ARGS__, __VA_ARGS__)

// Interleaves 32 pixels of three planes to 96 bytes: each plane is rotated into place once, then
// the three are blended in three orders.
AVX2 void interleave(struct rgb p, uint8_t *out)
{
    const __m256i m0 = TWICE(0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0);
    const __m256i m1 = TWICE(0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0);
    __m256i r =
        _mm256_shuffle_epi8(p.r, TWICE(0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15, 10, 5));
    __m256i g =
        _mm256_shuffle_epi8(p.g, TWICE(5, 0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15, 10));
    __m256i b =
        _mm256_shuffle_epi8(p.b, TWICE(10, 5, 0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15));
    __m256i q0 = _mm256_blendv_epi8(_mm256_blendv_epi8(r, g, m1), b, m0);
    __m256i q1 = _mm256_blendv_epi8(_mm256_blendv_epi8(g, b, m1), r, m0);
    __m256i q2 = _mm256_blendv_epi8(_mm256_blendv_epi8(b, r, m1), g, m0);
    store(out, _mm256_permute2x128_si256(q0, q1, 0x20));
    store(out + 32, _mm256_permute2x128_si256(q2, q0, 0x30));
    store(out + 64, _mm256_permute2x128_si256(q1, q2, 0x31));
}

AVX2 void color_32(const uint8_t *y, const uint8_t *cb, const uint8_t *cr, uint8_t *out)
{
    const __m256i zero = _mm256_setzero_si256(), center = _mm256_set1_epi16(128);
    __m256i y8 = load(y), cb8 = load(cb), cr8 = load(cr);
    struct rgb lo = convert(_mm256_unpacklo_epi8(y8, zero),
                            _mm256_sub_epi16(_mm256_unpacklo_epi8(cb8, zero), center),
                            _mm256_sub_epi16(_mm256_unpacklo_epi8(cr8, zero), center));
    struct rgb hi = convert(_mm256_unpackhi_epi8(y8, zero),
                            _mm256_sub_epi16(_mm256_unpackhi_epi8(cb8, zero), center),
                            _mm256_sub_epi16(_mm256_unpackhi_epi8(cr8, zero), center));
    lo.r = _mm256_packus_epi16(lo.r, hi.r);
    lo.g = _mm256_packus_epi16(lo.g, hi.g);
    lo.b = _mm256_packus_epi16(lo.b, hi.b);
    interleave(lo, out);
}

__attribute__((target("avx2"))) void stk_jpeg_color_avx2(const uint8_t *y, const uint8_t *cb,
                                                         const uint8_t *cr, uint8_t *out, size_t n)
{
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        color_32(y + i, cb + i, cr + i, out + 3 * i);
    }
    if (i == n) {
        return;
    }
    if (n >= 32) { // the last 32 pixels, overlapping the previous ones
        i = n - 32;
        color_32(y + i, cb + i, cr + i, out + 3 * i);
        return;
    }
    uint8_t tail[96];
    color_32(y, cb, cr, tail);
    memcpy(out, tail, 3 * n);
}
#endif
