// SPDX-License-Identifier: Apache-2.0
// Both resize passes with AVX2: rows 32 bytes or 16 floats at a time, the last vector overlapping
// the one before; then, for three channels, two pixels at a time.
#include "engine/image/image_resize_impl.h"

#if STK_IMAGE_X86
#include <immintrin.h>
#include <string.h>

#define AVX2 __attribute__((target("avx2")))

enum { BYTES = 32, FLOATS = 16 };

static size_t next_column(size_t at, size_t n, size_t step)
{
    return at + step < n && at + 2 * step > n ? n - step : at + step;
}

static inline __m128i load_16(const void *p)
{
    return _mm_loadu_si128(p);
}

AVX2 void stk_image_mix_fixed_avx2(const uint8_t *const *rows, const int16_t *weights,
                                   uint32_t taps, size_t n, int16_t *out)
{
    if (n < BYTES) {
        stk_image_mix_fixed(rows, weights, taps, n, out);
        return;
    }
    for (size_t i = 0; i < n; i = next_column(i, n, BYTES)) {
        __m256i low = _mm256_setzero_si256(), high = low;
        for (uint32_t t = 0; t < taps; t++) {
            const uint8_t *p = rows[t] + i;
            __m256i w = _mm256_set1_epi16(weights[t]);
            __m256i a = _mm256_slli_epi16(_mm256_cvtepu8_epi16(load_16(p)), 7);
            __m256i b = _mm256_slli_epi16(_mm256_cvtepu8_epi16(load_16(p + 16)), 7);
            low = _mm256_add_epi16(low, _mm256_mulhrs_epi16(a, w));
            high = _mm256_add_epi16(high, _mm256_mulhrs_epi16(b, w));
        }
        _mm256_storeu_si256((__m256i *)(void *)(out + i), low);
        _mm256_storeu_si256((__m256i *)(void *)(out + i + 16), high);
    }
}

AVX2 void stk_image_mix_bytes_avx2(const uint8_t *const *rows, const float *weights, uint32_t taps,
                                   size_t n, float *out)
{
    if (n < FLOATS) {
        stk_image_mix_bytes(rows, weights, taps, n, out);
        return;
    }
    for (size_t i = 0; i < n; i = next_column(i, n, FLOATS)) {
        __m256 low = _mm256_setzero_ps(), high = low;
        for (uint32_t t = 0; t < taps; t++) {
            __m128i p = load_16(rows[t] + i);
            __m256 w = _mm256_set1_ps(weights[t]);
            __m256 a = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(p));
            __m256 b = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_srli_si128(p, 8)));
            low = _mm256_add_ps(low, _mm256_mul_ps(a, w));
            high = _mm256_add_ps(high, _mm256_mul_ps(b, w));
        }
        _mm256_storeu_ps(out + i, low);
        _mm256_storeu_ps(out + i + 8, high);
    }
}

AVX2 void stk_image_mix_floats_avx2(const float *const *rows, const float *weights, uint32_t taps,
                                    size_t n, float *out)
{
    if (n < FLOATS) {
        stk_image_mix_floats(rows, weights, taps, n, out);
        return;
    }
    for (size_t i = 0; i < n; i = next_column(i, n, FLOATS)) {
        __m256 low = _mm256_setzero_ps(), high = low;
        for (uint32_t t = 0; t < taps; t++) {
            __m256 w = _mm256_set1_ps(weights[t]);
            low = _mm256_add_ps(low, _mm256_mul_ps(_mm256_loadu_ps(rows[t] + i), w));
            high = _mm256_add_ps(high, _mm256_mul_ps(_mm256_loadu_ps(rows[t] + i + 8), w));
        }
        _mm256_storeu_ps(out + i, low);
        _mm256_storeu_ps(out + i + 8, high);
    }
}

static inline int32_t load_pair(const int16_t *w)
{
    int32_t pair;
    memcpy(&pair, w, sizeof pair);
    return pair;
}

// Interleaves samples of two neighboring pixels by channel: r0 r1 g0 g1 b0 b1 - -.
AVX2 static inline __m256i load_pixels(const int16_t *left, const int16_t *right)
{
    const __m256i by_channel = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11, -1, -1, -1, -1));
    __m256i p = _mm256_inserti128_si256(_mm256_castsi128_si256(load_16(left)), load_16(right), 1);
    return _mm256_shuffle_epi8(p, by_channel);
}

// Weights of two output pixels, each pair of taps repeated four times, as one multiplication needs
// them.
AVX2 void stk_image_axis_pair_avx2(struct stk_image_axis *a)
{
    __m256i *to = a->lookups;
    for (uint32_t x = 0; x < a->out; x += 2) {
        const int16_t *w_x = a->fixed + (size_t)x * a->pair_taps;
        const int16_t *w_y = x + 1 < a->out ? w_x + a->pair_taps : w_x;
        for (uint32_t t = 0; t < a->pair_taps; t += 2) {
            __m256i low = _mm256_castsi128_si256(_mm_set1_epi32(load_pair(w_x + t)));
            _mm256_store_si256(to++,
                               _mm256_inserti128_si256(low, _mm_set1_epi32(load_pair(w_y + t)), 1));
        }
    }
}

// Two output pixels: three sums in each half.
AVX2 static inline __m256i sum_two(const int16_t *in_x, const int16_t *in_y, const __m256i *w,
                                   uint32_t pairs)
{
    __m256i sum = _mm256_set1_epi32(1 << 21);
    for (uint32_t p = 0; p < pairs; p++) {
        __m256i v = load_pixels(in_x + (size_t)p * 6, in_y + (size_t)p * 6);
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(v, _mm256_load_si256(w + p)));
    }
    return _mm256_srli_epi32(sum, 22);
}

static inline void store_four(uint8_t *to, int32_t pixel)
{
    memcpy(to, &pixel, 4); // the fourth byte is overwritten by the next pixel
}

// Pixels x, x + 1 and x + 2, x + 3 of two sums.
AVX2 static inline void store_sums(__m256i first, __m256i second, uint8_t *to)
{
    __m256i words = _mm256_packs_epi32(first, second), bytes = _mm256_packus_epi16(words, words);
    __m128i even = _mm256_castsi256_si128(bytes), odd = _mm256_extracti128_si256(bytes, 1);
    store_four(to, _mm_cvtsi128_si32(even));
    store_four(to + 3, _mm_cvtsi128_si32(odd));
    store_four(to + 6, _mm_extract_epi32(even, 1));
    store_four(to + 9, _mm_extract_epi32(odd, 1));
}

AVX2 void stk_image_sum_fixed3_avx2(const int16_t *row, const struct stk_image_axis *a,
                                    uint32_t channels, int16_t *planes, uint8_t *line)
{
    uint32_t pairs = a->pair_taps / 2, last = a->out - 1;
    const __m256i *w = a->lookups;
    (void)channels;
    (void)planes;
    for (uint32_t x = 0; x < a->out; x += 4) {
        // Past the end, repeat the last pixel: the line has room.
        uint32_t at[4];
        for (uint32_t k = 0; k < 4; k++) {
            at[k] = x + k < last ? x + k : last;
        }
        bool has_more = x + 2 < a->out;
        __m256i first =
            sum_two(row + (size_t)a->start[at[0]] * 3, row + (size_t)a->start[at[1]] * 3, w, pairs);
        __m256i second =
            sum_two(row + (size_t)a->start[at[2]] * 3, row + (size_t)a->start[at[3]] * 3,
                    has_more ? w + pairs : w, pairs);
        store_sums(first, second, line + (size_t)x * 3);
        w += 2 * (size_t)pairs;
    }
}

AVX2 void stk_image_sum_float3_avx2(const float *row, const struct stk_image_axis *a,
                                    uint32_t channels, float *planes, float *line)
{
    (void)channels;
    (void)planes;
    for (uint32_t x = 0; x < a->out; x++) {
        const float *in = row + (size_t)a->start[x] * 3, *w = a->weight + (size_t)x * a->taps;
        __m128 sum = _mm_setzero_ps();
        for (uint32_t t = 0; t < a->taps; t++) {
            sum = _mm_add_ps(sum, _mm_mul_ps(_mm_loadu_ps(in + (size_t)t * 3), _mm_set1_ps(w[t])));
        }
        _mm_storeu_ps(line + (size_t)x * 3, sum);
    }
}
#endif
