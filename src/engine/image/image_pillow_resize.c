// SPDX-License-Identifier: Apache-2.0
// Pillow's Image.resize, bit for bit: weights of 22 bits, a pass along rows and one along columns,
// each of which rounds to bytes; Pillow's version says which comes first. A weight is split into 12
// low bits and the rest, so that products of a byte and either fit into 16-bit multiplications of
// vectors; sums are the same whole numbers.
#include <math.h>
#include <string.h>

#include "engine/image/image_pillow.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2")))
#endif

enum { PRECISION = 32 - 8 - 2, LOW = 12, MARGIN = 64 };

// The weights along one side: out places of `taps` each, even, the last ones 0.
struct axis {
    uint32_t in, out, taps;
    int32_t *first, *weight; // first[out], weight[out * taps]
    int16_t *split;          // for each pair of taps: high, high, low, low
};

static double sinc(double x)
{
    return x == 0 ? 1 : sin(x * M_PI) / (x * M_PI);
}

static double weight_of(enum stk_pillow_filter filter, double x)
{
    double d = fabs(x);
    switch (filter) {
    case STK_PILLOW_BOX:
        return x > -0.5 && x <= 0.5 ? 1 : 0;
    case STK_PILLOW_HAMMING: {
        double a = d * M_PI;
        return d == 0 ? 1 : d >= 1 ? 0 : sin(a) / a * (0.54 + 0.46 * cos(a));
    }
    case STK_PILLOW_BICUBIC:
        return d < 1   ? ((-0.5 + 2) * d - (-0.5 + 3)) * d * d + 1
               : d < 2 ? (((d - 5) * d + 8) * d - 4) * -0.5
                       : 0;
    case STK_PILLOW_LANCZOS:
        return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0;
    default:
        return d < 1 ? 1 - d : 0;
    }
}

static double support_of(enum stk_pillow_filter filter)
{
    switch (filter) {
    case STK_PILLOW_BOX:
        return 0.5;
    case STK_PILLOW_BICUBIC:
        return 2;
    case STK_PILLOW_LANCZOS:
        return 3;
    default:
        return 1;
    }
}

static double scale_of(const struct axis *a)
{
    return (double)(float)a->in / a->out;
}

static void find_taps(struct axis *a, enum stk_pillow_filter filter)
{
    double scale = scale_of(a), support = support_of(filter) * (scale < 1 ? 1 : scale);
    a->taps = ((uint32_t)ceil(support) * 2 + 2) & ~1u;
}

static void split(struct axis *a)
{
    for (size_t k = 0; k < (size_t)a->out * a->taps; k += 2) {
        int16_t *s = a->split + 2 * k;
        for (size_t j = 0; j < 2; j++) {
            s[j] = (int16_t)(a->weight[k + j] >> LOW);
            s[2 + j] = (int16_t)(a->weight[k + j] & ((1 << LOW) - 1));
        }
    }
}

static void find_weights(struct axis *a, enum stk_pillow_filter filter, double *w)
{
    double scale = scale_of(a), wide = scale < 1 ? 1 : scale;
    double support = support_of(filter) * wide, per = 1 / wide;
    for (uint32_t o = 0; o < a->out; o++) {
        double center = (o + 0.5) * scale, sum = 0;
        int first = (int)(center - support + 0.5), end = (int)(center + support + 0.5);
        first = first < 0 ? 0 : first;
        end = end > (int)a->in ? (int)a->in : end;
        for (int k = first; k < end; k++) {
            w[k - first] = weight_of(filter, (k - center + 0.5) * per);
            sum += w[k - first];
        }
        int32_t *to = a->weight + (size_t)o * a->taps;
        memset(to, 0, a->taps * sizeof *to);
        for (int k = 0; k < end - first; k++) {
            double part = sum != 0 ? w[k] / sum : w[k];
            to[k] = (int32_t)((part < 0 ? -0.5 : 0.5) + part * (1 << PRECISION));
        }
        a->first[o] = first;
    }
    split(a);
}

static uint8_t level(int32_t sum)
{
    int32_t v = sum >> PRECISION;
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

// A row of `channels` interleaved, with a margin that may be read.
static void across(const struct axis *a, const uint8_t *in, uint32_t channels, uint8_t *out)
{
    for (uint32_t o = 0; o < a->out; o++) {
        const int32_t *w = a->weight + (size_t)o * a->taps;
        const uint8_t *from = in + (size_t)a->first[o] * channels;
        for (uint32_t c = 0; c < channels; c++) {
            int32_t sum = 1 << (PRECISION - 1);
            for (uint32_t k = 0; k < a->taps; k++) {
                sum += w[k] ? from[k * channels + c] * w[k] : 0;
            }
            out[(size_t)o * channels + c] = level(sum);
        }
    }
}

// One row out of `taps` rows of n bytes, columns from `at` on.
static void down(const uint8_t *const *rows, const int32_t *w, uint32_t taps, size_t at, size_t n,
                 uint8_t *out)
{
    for (size_t i = at; i < n; i++) {
        int32_t sum = 1 << (PRECISION - 1);
        for (uint32_t k = 0; k < taps; k++) {
            sum += rows[k][i] * w[k];
        }
        out[i] = level(sum);
    }
}

#ifdef AVX2
static inline int32_t pair(const int16_t *p)
{
    int32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

AVX2 static void across3_avx2(const struct axis *a, const uint8_t *in, uint8_t *out)
{
    const __m128i half = _mm_set1_epi32(1 << (PRECISION - 1));
    const __m128i pairs = _mm_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1);
    for (uint32_t o = 0; o < a->out; o++, out += 3) {
        const int16_t *s = a->split + (size_t)o * a->taps * 2;
        const uint8_t *from = in + (size_t)a->first[o] * 3;
        __m128i high = _mm_setzero_si128(), low = half;
        for (uint32_t k = 0; k < a->taps; k += 2, s += 4, from += 6) {
            __m128i p =
                _mm_shuffle_epi8(_mm_loadl_epi64((const __m128i *)(const void *)from), pairs);
            high = _mm_add_epi32(high, _mm_madd_epi16(p, _mm_set1_epi32(pair(s))));
            low = _mm_add_epi32(low, _mm_madd_epi16(p, _mm_set1_epi32(pair(s + 2))));
        }
        __m128i v = _mm_srai_epi32(_mm_add_epi32(_mm_slli_epi32(high, LOW), low), PRECISION);
        v = _mm_packus_epi16(_mm_packs_epi32(v, v), v);
        uint32_t rgb = (uint32_t)_mm_cvtsi128_si32(v);
        out[0] = (uint8_t)rgb;
        out[1] = (uint8_t)(rgb >> 8);
        out[2] = (uint8_t)(rgb >> 16);
    }
}

AVX2 static void down_avx2(const uint8_t *const *rows, const struct axis *a, uint32_t o, size_t n,
                           uint8_t *out)
{
    const __m256i half = _mm256_set1_epi32(1 << (PRECISION - 1));
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const int16_t *s = a->split + (size_t)o * a->taps * 2;
        __m256i high = _mm256_setzero_si256(), low = half;
        for (uint32_t k = 0; k < a->taps; k += 2, s += 4) {
            __m128i x = _mm_loadl_epi64((const __m128i *)(const void *)(rows[k] + i));
            __m128i y = _mm_loadl_epi64((const __m128i *)(const void *)(rows[k + 1] + i));
            __m256i p = _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(x, y));
            high = _mm256_add_epi32(high, _mm256_madd_epi16(p, _mm256_set1_epi32(pair(s))));
            low = _mm256_add_epi32(low, _mm256_madd_epi16(p, _mm256_set1_epi32(pair(s + 2))));
        }
        __m256i v =
            _mm256_srai_epi32(_mm256_add_epi32(_mm256_slli_epi32(high, LOW), low), PRECISION);
        __m128i w = _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
        _mm_storel_epi64((__m128i *)(void *)(out + i), _mm_packus_epi16(w, w));
    }
    down(rows, a->weight + (size_t)o * a->taps, a->taps, i, n, out);
}
#endif

// What the passes need, in one piece of memory.
struct resizer {
    struct axis x, y;
    double *weights;
    const uint8_t **rows;
    uint8_t *line;           // a row of what goes across, with a margin
    struct stk_image middle; // the image between the passes
};

static void *take(uint8_t *base, size_t *used, size_t size)
{
    uint8_t *p = base ? base + *used : NULL;
    *used += (size + 63) & ~(size_t)63;
    return p;
}

static void lay_out_axis(struct axis *a, uint8_t *base, size_t *used)
{
    size_t n = (size_t)a->out * a->taps;
    a->first = take(base, used, a->out * sizeof *a->first);
    a->weight = take(base, used, n * sizeof *a->weight);
    a->split = take(base, used, 2 * n * sizeof *a->split);
}

static size_t lay_out(struct resizer *r, uint8_t *base)
{
    size_t used = 0, taps = r->x.taps > r->y.taps ? r->x.taps : r->y.taps;
    struct stk_image *m = &r->middle;
    lay_out_axis(&r->x, base, &used);
    lay_out_axis(&r->y, base, &used);
    m->stride = (size_t)m->width * m->channels;
    r->weights = take(base, &used, taps * sizeof *r->weights);
    r->rows = take(base, &used, taps * sizeof *r->rows);
    r->line = take(base, &used, ((size_t)r->x.in + taps) * m->channels + MARGIN);
    m->pixels = take(base, &used, m->stride * m->height);
    return used;
}

static void pass_across(struct resizer *r, const struct stk_image *in, const struct stk_image *out,
                        enum stk_image_cpu cpu)
{
    (void)cpu;
    size_t bytes = (size_t)in->width * in->channels;
    memset(r->line + bytes, 0, r->x.taps * in->channels + MARGIN);
    for (uint32_t y = 0; y < in->height; y++) {
        uint8_t *to = stk_image_row(out, y);
        if (r->x.in == r->x.out) {
            memcpy(to, stk_image_row(in, y), bytes);
            continue;
        }
        memcpy(r->line, stk_image_row(in, y), bytes);
#ifdef AVX2
        if (cpu >= STK_IMAGE_AVX2 && in->channels == 3) {
            across3_avx2(&r->x, r->line, to);
            continue;
        }
#endif
        across(&r->x, r->line, in->channels, to);
    }
}

static void pass_down(struct resizer *r, const struct stk_image *in, const struct stk_image *out,
                      enum stk_image_cpu cpu)
{
    (void)cpu;
    size_t n = (size_t)out->width * out->channels;
    for (uint32_t y = 0; y < out->height; y++) {
        uint8_t *to = stk_image_row(out, y);
        if (r->y.in == r->y.out) {
            memcpy(to, stk_image_row(in, y), n);
            continue;
        }
        for (uint32_t k = 0; k < r->y.taps; k++) { // weights beyond the last row are 0
            uint32_t at = (uint32_t)r->y.first[y] + k;
            r->rows[k] = stk_image_row(in, at < r->y.in ? at : r->y.in - 1);
        }
#ifdef AVX2
        if (cpu >= STK_IMAGE_AVX2) {
            down_avx2(r->rows, &r->y, y, n, to);
            continue;
        }
#endif
        down(r->rows, r->y.weight + (size_t)y * r->y.taps, r->y.taps, 0, n, to);
    }
}

static void resize_nearest(const struct stk_image *in, const struct stk_image *out)
{
    double dy = (double)(float)in->height / out->height, dx = (double)(float)in->width / out->width;
    double y = dy * 0.5;
    for (uint32_t i = 0; i < out->height; i++, y += dy) {
        const uint8_t *from = stk_image_row(in, y < in->height ? (uint32_t)y : in->height - 1);
        uint8_t *to = stk_image_row(out, i);
        double x = dx * 0.5;
        for (uint32_t j = 0; j < out->width; j++, x += dx, to += out->channels) {
            uint32_t at = x < in->width ? (uint32_t)x : in->width - 1;
            memcpy(to, from + (size_t)at * in->channels, in->channels);
        }
    }
}

enum stoker_status stk_pillow_resize(const struct stk_image *in, enum stk_pillow_filter filter,
                                     bool is_down_first, const struct stk_image *out,
                                     struct stk_image_buffer *work, enum stk_image_cpu cpu,
                                     struct stoker_err *err)
{
    STK_ASSERT(in->type == STK_IMAGE_U8 && out->type == STK_IMAGE_U8);
    STK_ASSERT(in->channels == out->channels && filter < STK_PILLOW_FILTERS);
    if (filter == STK_PILLOW_NEAREST) {
        resize_nearest(in, out);
        return STOKER_OK;
    }
    struct resizer r = {.x = {.in = in->width, .out = out->width},
                        .y = {.in = in->height, .out = out->height},
                        .middle = is_down_first ? *in : *out};
    r.middle.height = is_down_first ? out->height : in->height;
    find_taps(&r.x, filter);
    find_taps(&r.y, filter);
    size_t size = lay_out(&r, NULL);
    uint8_t *base = stk_image_buffer_reserve(work, size);
    if (!base) {
        return stk_err_set(err, STOKER_ENOMEM, "no memory for %zu bytes", size);
    }
    lay_out(&r, base);
    find_weights(&r.x, filter, r.weights);
    find_weights(&r.y, filter, r.weights);
    if (is_down_first) {
        pass_down(&r, in, &r.middle, cpu);
        pass_across(&r, &r.middle, out, cpu);
    } else {
        pass_across(&r, in, &r.middle, cpu);
        pass_down(&r, &r.middle, out, cpu);
    }
    return STOKER_OK;
}
