// SPDX-License-Identifier: Apache-2.0
// Both resize passes with AVX-512 (BW, VBMI). The second pass splits a row into channels, then sums
// 16 pixels at a time: a permutation picks their samples from a window of two registers, with
// indices and weights prepared beforehand (stk_image_axis_block).
#include "engine/image/image_resize_impl.h"

#if STK_IMAGE_X86
#include <immintrin.h>
#include <string.h>

#define WIDE __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512dq")))

enum { BYTES = 64, FLOATS = 32, PIXELS = STK_IMAGE_BLOCK };

// The last vector of a row overlaps those before.
static size_t next_column(size_t at, size_t n, size_t step)
{
    return at + step < n && at + 2 * step > n ? n - step : at + step;
}

WIDE static inline __m512i load_words(const uint8_t *p)
{
    __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)p);
    return _mm512_slli_epi16(_mm512_cvtepu8_epi16(bytes), 7);
}

WIDE void stk_image_mix_fixed_avx512(const uint8_t *const *rows, const int16_t *weights,
                                     uint32_t taps, size_t n, int16_t *out)
{
    if (n < BYTES) {
        stk_image_mix_fixed_avx2(rows, weights, taps, n, out);
        return;
    }
    for (size_t i = 0; i < n; i = next_column(i, n, BYTES)) {
        __m512i low = _mm512_setzero_si512(), high = low;
        for (uint32_t t = 0; t < taps; t++) {
            __m512i w = _mm512_set1_epi16(weights[t]);
            low = _mm512_add_epi16(low, _mm512_mulhrs_epi16(load_words(rows[t] + i), w));
            high = _mm512_add_epi16(high, _mm512_mulhrs_epi16(load_words(rows[t] + i + 32), w));
        }
        _mm512_storeu_si512(out + i, low);
        _mm512_storeu_si512(out + i + 32, high);
    }
}

WIDE static inline __m512 load_bytes(const uint8_t *p)
{
    return _mm512_cvtepi32_ps(
        _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p)));
}

WIDE void stk_image_mix_bytes_avx512(const uint8_t *const *rows, const float *weights,
                                     uint32_t taps, size_t n, float *out)
{
    if (n < FLOATS) {
        stk_image_mix_bytes_avx2(rows, weights, taps, n, out);
        return;
    }
    for (size_t i = 0; i < n; i = next_column(i, n, FLOATS)) {
        __m512 low = _mm512_setzero_ps(), high = low;
        for (uint32_t t = 0; t < taps; t++) {
            __m512 w = _mm512_set1_ps(weights[t]);
            low = _mm512_add_ps(low, _mm512_mul_ps(load_bytes(rows[t] + i), w));
            high = _mm512_add_ps(high, _mm512_mul_ps(load_bytes(rows[t] + i + 16), w));
        }
        _mm512_storeu_ps(out + i, low);
        _mm512_storeu_ps(out + i + 16, high);
    }
}

WIDE void stk_image_mix_floats_avx512(const float *const *rows, const float *weights, uint32_t taps,
                                      size_t n, float *out)
{
    if (n < FLOATS) {
        stk_image_mix_floats_avx2(rows, weights, taps, n, out);
        return;
    }
    for (size_t i = 0; i < n; i = next_column(i, n, FLOATS)) {
        __m512 low = _mm512_setzero_ps(), high = low;
        for (uint32_t t = 0; t < taps; t++) {
            __m512 w = _mm512_set1_ps(weights[t]);
            low = _mm512_add_ps(low, _mm512_mul_ps(_mm512_loadu_ps(rows[t] + i), w));
            high = _mm512_add_ps(high, _mm512_mul_ps(_mm512_loadu_ps(rows[t] + i + 16), w));
        }
        _mm512_storeu_ps(out + i, low);
        _mm512_storeu_ps(out + i + 16, high);
    }
}

// The position of pixel i's first channel and, for store_pixels, the source of byte i of 16 pixels.
static const int8_t thirds[32] = {0,  3,  6,  9,  12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45,
                                  48, 51, 54, 57, 60, 63, 66, 69, 72, 75, 78, 81, 84, 87, 90, 93};
static const uint8_t by_pixel[64] = {
    0, 16, 32, 1, 17, 33, 2,  18, 34, 3,  19, 35, 4,  20, 36, 5,  21, 37, 6,  22, 38, 7,  23, 39,
    8, 24, 40, 9, 25, 41, 10, 26, 42, 11, 27, 43, 12, 28, 44, 13, 29, 45, 14, 30, 46, 15, 31, 47};

// Channel c of 32 pixels is at 3 * i + c in three registers of 32 words. Permutations take the
// low bits of an index, so one index serves the first two registers and the third.
WIDE static void split_words(const int16_t *row, size_t n, int16_t *planes, size_t step)
{
    __m512i from[3];
    __mmask32 late[3];
    for (int c = 0; c < 3; c++) {
        __m256i base = _mm256_loadu_si256((const __m256i *)(const void *)thirds);
        from[c] = _mm512_add_epi16(_mm512_cvtepi8_epi16(base), _mm512_set1_epi16((int16_t)c));
        late[c] = _mm512_cmpge_epi16_mask(from[c], _mm512_set1_epi16(64));
    }
    for (size_t i = 0; i < n; i += 32) {
        __m512i x = _mm512_loadu_si512(row + 3 * i), y = _mm512_loadu_si512(row + 3 * i + 32);
        __m512i z = _mm512_loadu_si512(row + 3 * i + 64);
        for (int c = 0; c < 3; c++) {
            __m512i v = _mm512_permutex2var_epi16(x, from[c], y);
            v = _mm512_mask_permutexvar_epi16(v, late[c], from[c], z);
            _mm512_storeu_si512(planes + (size_t)c * step + i, v);
        }
    }
}

WIDE static inline __m512i add_taps(__m512i sum, __m512i low, __m512i high, __m512i at, __m512i w)
{
    __m512i v = _mm512_permutex2var_epi16(low, at, high);
    return _mm512_add_epi32(sum, _mm512_madd_epi16(v, w));
}

WIDE static inline __m128i narrow(__m512i sum)
{
    return _mm512_cvtepi32_epi8(_mm512_srli_epi32(sum, 22));
}

WIDE static inline __m128i sum_block(const int16_t *window, const int16_t *lookups, uint32_t pairs)
{
    __m512i low = _mm512_loadu_si512(window), high = _mm512_loadu_si512(window + 32);
    __m512i sum = _mm512_set1_epi32(1 << 21);
    for (uint32_t p = 0; p < pairs; p++, lookups += 64) {
        __m512i at = _mm512_loadu_si512(lookups), w = _mm512_loadu_si512(lookups + 32);
        sum = add_taps(sum, low, high, at, w);
    }
    return narrow(sum);
}

// The same for three channels, `step` samples apart, with one look-up for all.
WIDE static inline void sum_block3(const int16_t *window, size_t step, const int16_t *lookups,
                                   uint32_t pairs, __m128i out[3])
{
    __m512i half = _mm512_set1_epi32(1 << 21), r = half, g = half, b = half;
    __m512i r0 = _mm512_loadu_si512(window), r1 = _mm512_loadu_si512(window + 32);
    window += step;
    __m512i g0 = _mm512_loadu_si512(window), g1 = _mm512_loadu_si512(window + 32);
    window += step;
    __m512i b0 = _mm512_loadu_si512(window), b1 = _mm512_loadu_si512(window + 32);
    for (uint32_t p = 0; p < pairs; p++, lookups += 64) {
        __m512i at = _mm512_loadu_si512(lookups), w = _mm512_loadu_si512(lookups + 32);
        r = add_taps(r, r0, r1, at, w);
        g = add_taps(g, g0, g1, at, w);
        b = add_taps(b, b0, b1, at, w);
    }
    out[0] = narrow(r);
    out[1] = narrow(g);
    out[2] = narrow(b);
}

// r0 .. r15, g0 .. g15, b0 .. b15 to r0 g0 b0 r1 ...
WIDE static inline void store_pixels(uint8_t *to, __m128i r, __m128i g, __m128i b, __m512i order)
{
    __m512i v = _mm512_inserti32x4(_mm512_castsi128_si512(r), g, 1);
    v = _mm512_permutexvar_epi8(order, _mm512_inserti32x4(v, b, 2));
    _mm256_storeu_si256((__m256i *)(void *)to, _mm512_castsi512_si256(v));
    _mm_storeu_si128((__m128i *)(void *)(to + 32), _mm512_extracti32x4_epi32(v, 2));
}

WIDE void stk_image_sum_fixed_avx512(const int16_t *row, const struct stk_image_axis *a,
                                     uint32_t channels, int16_t *planes, uint8_t *line)
{
    uint32_t pairs = a->pair_taps / 2;
    const int16_t *lookups = a->lookups;
    size_t step = (size_t)a->in + STK_IMAGE_MARGIN;
    if (channels == 1) {
        for (uint32_t x = 0; x < a->out; x += PIXELS, lookups += pairs * 64) {
            _mm_storeu_si128((__m128i *)(void *)(line + x),
                             sum_block(row + a->window[x / PIXELS], lookups, pairs));
        }
        return;
    }
    __m512i order = _mm512_loadu_si512(by_pixel);
    split_words(row, a->in, planes, step);
    for (uint32_t x = 0; x < a->out; x += PIXELS, lookups += pairs * 64) {
        __m128i rgb[3];
        sum_block3(planes + a->window[x / PIXELS], step, lookups, pairs, rgb);
        store_pixels(line + (size_t)x * 3, rgb[0], rgb[1], rgb[2], order);
    }
}

WIDE static void split_floats(const float *row, size_t n, float *planes, size_t step)
{
    __m512i from[3];
    __mmask16 late[3];
    for (int c = 0; c < 3; c++) {
        __m128i base = _mm_loadu_si128((const __m128i *)(const void *)thirds);
        from[c] = _mm512_add_epi32(_mm512_cvtepi8_epi32(base), _mm512_set1_epi32(c));
        late[c] = _mm512_cmpge_epi32_mask(from[c], _mm512_set1_epi32(32));
    }
    for (size_t i = 0; i < n; i += 16) {
        __m512 x = _mm512_loadu_ps(row + 3 * i), y = _mm512_loadu_ps(row + 3 * i + 16);
        __m512 z = _mm512_loadu_ps(row + 3 * i + 32);
        for (int c = 0; c < 3; c++) {
            __m512 v = _mm512_permutex2var_ps(x, from[c], y);
            v = _mm512_mask_permutexvar_ps(v, late[c], from[c], z);
            _mm512_storeu_ps(planes + (size_t)c * step + i, v);
        }
    }
}

WIDE static inline __m512 sum_floats(const float *window, const float *lookups, uint32_t taps)
{
    __m512 low = _mm512_loadu_ps(window), high = _mm512_loadu_ps(window + 16);
    __m512 sum = _mm512_setzero_ps();
    for (uint32_t t = 0; t < taps; t++, lookups += 32) {
        __m512 v = _mm512_permutex2var_ps(low, _mm512_loadu_si512(lookups), high);
        sum = _mm512_add_ps(sum, _mm512_mul_ps(v, _mm512_loadu_ps(lookups + 16)));
    }
    return sum;
}

// Merges three registers, one per channel, into 16 pixels, with two permutations per third: bits 4
// and 5 of by_pixel select the channel, the lower bits the pixel.
WIDE static void order_floats(__m512i from[3], __mmask16 blue[3])
{
    for (int k = 0; k < 3; k++) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(by_pixel + 16 * k));
        from[k] = _mm512_cvtepu8_epi32(bytes);
        blue[k] = _mm512_cmpge_epi32_mask(from[k], _mm512_set1_epi32(32));
    }
}

WIDE void stk_image_sum_float_avx512(const float *row, const struct stk_image_axis *a,
                                     uint32_t channels, float *planes, float *line)
{
    const float *lookups = a->lookups;
    size_t step = (size_t)a->in + STK_IMAGE_MARGIN;
    if (channels == 1) {
        for (uint32_t x = 0; x < a->out; x += PIXELS, lookups += (size_t)a->taps * 32) {
            _mm512_storeu_ps(line + x, sum_floats(row + a->window[x / PIXELS], lookups, a->taps));
        }
        return;
    }
    __m512i from[3];
    __mmask16 blue[3];
    order_floats(from, blue);
    split_floats(row, a->in, planes, step);
    for (uint32_t x = 0; x < a->out; x += PIXELS, lookups += (size_t)a->taps * 32) {
        const float *window = planes + a->window[x / PIXELS];
        __m512 r = sum_floats(window, lookups, a->taps);
        __m512 g = sum_floats(window + step, lookups, a->taps);
        __m512 b = sum_floats(window + 2 * step, lookups, a->taps);
        for (int k = 0; k < 3; k++) {
            __m512 v = _mm512_permutex2var_ps(r, from[k], g);
            v = _mm512_mask_permutexvar_ps(v, blue[k], from[k], b);
            _mm512_storeu_ps(line + (size_t)x * 3 + 16 * k, v);
        }
    }
}
#endif
