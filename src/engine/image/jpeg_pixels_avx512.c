// SPDX-License-Identifier: Apache-2.0
// From sample planes to pixels with AVX-512 (BW and VBMI): the functions of jpeg_pixels.c, 64
// samples at a time.
#include "engine/image/jpeg_impl.h"

#if STK_JPEG_X86
#include <immintrin.h>

#define TARGET target("avx512f,avx512bw,avx512vbmi,bmi2")
#define AVX512 static inline __attribute__((always_inline, TARGET))

AVX512 __m512i widen(const uint8_t *p)
{
    return _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(const void *)p));
}

__attribute__((TARGET)) void stk_jpeg_h2v1_avx512(const uint8_t *in, uint8_t *out, size_t n)
{
    const __m512i one = _mm512_set1_epi16(1);
    for (size_t i = 0; i < n; i += 32) {
        __m512i here = widen(in + i), left = widen(in + i - 1), right = widen(in + i + 1);
        here = _mm512_add_epi16(_mm512_add_epi16(here, here), _mm512_add_epi16(here, one));
        __m512i even = _mm512_srli_epi16(_mm512_add_epi16(here, left), 2);
        __m512i odd = _mm512_srli_epi16(_mm512_add_epi16(_mm512_add_epi16(here, right), one), 2);
        _mm512_storeu_si512(out + 2 * i, _mm512_or_si512(even, _mm512_slli_epi16(odd, 8)));
    }
}

__attribute__((TARGET)) void stk_jpeg_h2v2_avx512(const uint8_t *near, const uint8_t *far,
                                                  uint8_t *out, size_t n, uint16_t *sums)
{
    const __m512i seven = _mm512_set1_epi16(7), one = _mm512_set1_epi16(1);
    for (size_t i = 0; i < n + 2; i += 32) {
        __m512i a = widen(near + i - 1), b = widen(far + i - 1);
        __m512i sum = _mm512_add_epi16(_mm512_add_epi16(a, a), _mm512_add_epi16(a, b));
        _mm512_storeu_si512(sums + i, sum);
    }
    for (size_t i = 0; i < n; i += 32) {
        __m512i left = _mm512_loadu_si512(sums + i), here = _mm512_loadu_si512(sums + i + 1);
        __m512i right = _mm512_loadu_si512(sums + i + 2);
        here = _mm512_add_epi16(_mm512_add_epi16(here, here), _mm512_add_epi16(here, seven));
        __m512i even = _mm512_add_epi16(_mm512_add_epi16(here, left), one);
        __m512i odd = _mm512_add_epi16(here, right);
        even = _mm512_srli_epi16(even, 4);
        odd = _mm512_slli_epi16(_mm512_srli_epi16(odd, 4), 8);
        _mm512_storeu_si512(out + 2 * i, _mm512_or_si512(even, odd));
    }
}

struct rgb {
    __m512i r, g, b;
};

// 32 pixels of 16 bits; chroma minus 128. See jpeg_pixels_avx2.c for the factors.
AVX512 struct rgb convert(__m512i y, __m512i cb, __m512i cr)
{
    const __m512i green = _mm512_set1_epi32((int)((uint32_t)(uint16_t)-22554 | 18734u << 16));
    const __m512i half = _mm512_set1_epi32(32768);
    struct rgb p;
    __m512i r = _mm512_add_epi16(cr, _mm512_mulhrs_epi16(cr, _mm512_set1_epi16(13173)));
    __m512i b = _mm512_mulhrs_epi16(cb, _mm512_set1_epi16(-7471));
    b = _mm512_add_epi16(b, _mm512_add_epi16(cb, cb));
    __m512i lo = _mm512_madd_epi16(_mm512_unpacklo_epi16(cb, cr), green);
    __m512i hi = _mm512_madd_epi16(_mm512_unpackhi_epi16(cb, cr), green);
    lo = _mm512_srai_epi32(_mm512_add_epi32(lo, half), 16);
    hi = _mm512_srai_epi32(_mm512_add_epi32(hi, half), 16);
    p.r = _mm512_add_epi16(y, r);
    p.g = _mm512_add_epi16(y, _mm512_sub_epi16(_mm512_packs_epi32(lo, hi), cr));
    p.b = _mm512_add_epi16(y, b);
    return p;
}

// Byte 64 * part + i of the output belongs to pixel (64 * part + i) / 3: gives its source as
// indices into red (0-63) and green (64-127), and into blue, with the mask of blue bytes.
struct order {
    uint8_t red_green[3][64], blue[3][64];
};

#define RG(i) ((i) / 3 + ((i) % 3 == 1 ? 64 : 0))
#define BL(i) ((i) / 3)
#define FOUR(F, i) F(i), F((i) + 1), F((i) + 2), F((i) + 3)
#define SIXTEEN(F, i) FOUR(F, i), FOUR(F, (i) + 4), FOUR(F, (i) + 8), FOUR(F, (i) + 12)
#define ROW(F, i) {SIXTEEN(F, i), SIXTEEN(F, (i) + 16), SIXTEEN(F, (i) + 32), SIXTEEN(F, (i) + 48)}

static const struct order order = {{ROW(RG, 0), ROW(RG, 64), ROW(RG, 128)},
                                   {ROW(BL, 0), ROW(BL, 64), ROW(BL, 128)}};

AVX512 void color_64(const uint8_t *y, const uint8_t *cb, const uint8_t *cr, uint8_t *out,
                     uint64_t pixels)
{
    const __m512i zero = _mm512_setzero_si512(), center = _mm512_set1_epi16(128);
    // Bytes that are blue: every third, from the third on, of 192.
    static const __mmask64 blue[3] = {0x4924924924924924, 0x2492492492492492, 0x9249249249249249};
    __m512i y8 = _mm512_loadu_si512(y), cb8 = _mm512_loadu_si512(cb), cr8 = _mm512_loadu_si512(cr);
    struct rgb lo = convert(_mm512_unpacklo_epi8(y8, zero),
                            _mm512_sub_epi16(_mm512_unpacklo_epi8(cb8, zero), center),
                            _mm512_sub_epi16(_mm512_unpacklo_epi8(cr8, zero), center));
    struct rgb hi = convert(_mm512_unpackhi_epi8(y8, zero),
                            _mm512_sub_epi16(_mm512_unpackhi_epi8(cb8, zero), center),
                            _mm512_sub_epi16(_mm512_unpackhi_epi8(cr8, zero), center));
    __m512i r = _mm512_packus_epi16(lo.r, hi.r), g = _mm512_packus_epi16(lo.g, hi.g);
    __m512i b = _mm512_packus_epi16(lo.b, hi.b);
    uint64_t bytes = 3 * pixels;
    for (uint64_t part = 0; part < 3; part++) {
        __m512i v = _mm512_permutex2var_epi8(r, _mm512_loadu_si512(order.red_green[part]), g);
        v = _mm512_mask_permutexvar_epi8(v, blue[part], _mm512_loadu_si512(order.blue[part]), b);
        uint64_t here = bytes > 64 * part ? bytes - 64 * part : 0;
        _mm512_mask_storeu_epi8(out + 64 * part,
                                here >= 64 ? ~UINT64_C(0) : _bzhi_u64(~UINT64_C(0), (unsigned)here),
                                v);
    }
}

__attribute__((TARGET)) void stk_jpeg_color_avx512(const uint8_t *y, const uint8_t *cb,
                                                   const uint8_t *cr, uint8_t *out, size_t n)
{
    size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        color_64(y + i, cb + i, cr + i, out + 3 * i, 64);
    }
    if (i < n) {
        color_64(y + i, cb + i, cr + i, out + 3 * i, n - i);
    }
}
#endif
