// SPDX-License-Identifier: Apache-2.0
// Color operations. Each works on a stretch of float values; uint8 images are converted stretch by
// stretch, or go through a table if the result depends on one value alone.
#include "engine/image/image_colour.h"

#include "base/assert.h"
#include "base/cpu.h"

#include <math.h>
#include <string.h>

enum { STRETCH = 128 }; // pixels converted at a time

// Changes n pixels of three channels, or n values, in place.
typedef void change_fn(float *values, size_t n, const float *args);

#define INLINE static inline __attribute__((always_inline))

// `name` runs name_any, which is inlined, with the CPU's widest vector instructions: the same
// operations in the same order.
#if defined(__x86_64__)
#define VECTORS(name, parameters, ...)                                                             \
    __attribute__((target("avx2"))) static void name##_avx2 parameters                             \
    {                                                                                              \
        name##_any(__VA_ARGS__);                                                                   \
    }                                                                                              \
    __attribute__((                                                                                \
        target("avx512f,avx512bw,avx512vl,avx512dq"))) static void name##_avx512 parameters        \
    {                                                                                              \
        name##_any(__VA_ARGS__);                                                                   \
    }                                                                                              \
    static void name parameters                                                                    \
    {                                                                                              \
        if (stk_cpu_has(STK_CPU_AVX2 | STK_CPU_AVX512)) {                                          \
            name##_avx512(__VA_ARGS__);                                                            \
        } else if (stk_cpu_has(STK_CPU_AVX2)) {                                                    \
            name##_avx2(__VA_ARGS__);                                                              \
        } else {                                                                                   \
            name##_any(__VA_ARGS__);                                                               \
        }                                                                                          \
    }
#else
#define VECTORS(name, parameters, ...)                                                             \
    static void name parameters                                                                    \
    {                                                                                              \
        name##_any(__VA_ARGS__);                                                                   \
    }
#endif

static enum stoker_status check_types(const struct stk_image *in, const struct stk_image *out,
                                      uint32_t channels, const char *what, struct stoker_err *err)
{
    enum stoker_status status = stk_image_check(in, what, err);
    if (status == STOKER_OK) {
        status = stk_image_check(out, what, err);
    }
    if (status != STOKER_OK) {
        return status;
    }
    if (in->height != out->height || in->width != out->width || in->type != out->type ||
        in->type == STK_IMAGE_U16) {
        return stk_err_set(err, STOKER_EUSAGE, "%s: uint8 or float32 to the same type and size",
                           what);
    }
    if (channels && in->channels != channels) {
        return stk_err_set(err, STOKER_EUSAGE, "%s: takes %u channels, not %u", what, channels,
                           in->channels);
    }
    return STOKER_OK;
}

static enum stoker_status check_same(const struct stk_image *in, const struct stk_image *out,
                                     uint32_t channels, const char *what, struct stoker_err *err)
{
    enum stoker_status status = check_types(in, out, channels, what, err);
    if (status == STOKER_OK && in->channels != out->channels) {
        return stk_err_set(err, STOKER_EUSAGE, "%s: the output has %u channels", what,
                           out->channels);
    }
    return status;
}

static inline float to_float(uint8_t v)
{
    return (float)v * (1.0f / 255);
}

static inline uint8_t to_byte(float v)
{
    float scaled = v * 255.5f;
    return (uint8_t)(scaled >= 255 ? 255 : scaled > 0 ? (int)scaled : 0);
}

// A whole row, `channels` values per pixel.
static void change_row(const struct stk_image *in, const struct stk_image *out, uint32_t y,
                       change_fn *change, const float *args)
{
    STK_ASSERT(y < in->height);
    float line[STRETCH * 3];
    size_t channels = in->channels == 3 ? 3 : 1, n = (size_t)in->width * in->channels;
    if (in->type == STK_IMAGE_F32) {
        float *to = stk_image_row(out, y);
        memmove(to, stk_image_row(in, y), n * sizeof *to);
        change(to, n / channels, args);
        return;
    }
    const uint8_t *from = stk_image_row(in, y);
    uint8_t *to = stk_image_row(out, y);
    for (size_t at = 0; at < n; at += STRETCH * channels) {
        size_t m = n - at < STRETCH * channels ? n - at : STRETCH * channels;
        for (size_t i = 0; i < m; i++) {
            line[i] = to_float(from[at + i]);
        }
        change(line, m / channels, args);
        for (size_t i = 0; i < m; i++) {
            to[at + i] = to_byte(line[i]);
        }
    }
}

static void use_tables(const struct stk_image *in, const struct stk_image *out, uint32_t c,
                       uint32_t step, const uint8_t *table)
{
    STK_ASSERT(c < in->channels && step > 0);
    for (uint32_t y = 0; y < in->height; y++) {
        const uint8_t *from = stk_image_row(in, y);
        uint8_t *to = stk_image_row(out, y);
        for (size_t i = c; i < (size_t)in->width * in->channels; i += step) {
            to[i] = table[from[i]];
        }
    }
}

// An operation on each value by itself; n counts values.
static void change_values(const struct stk_image *in, const struct stk_image *out,
                          change_fn *change, const float *args)
{
    float values[256];
    uint8_t table[256];
    if (in->type == STK_IMAGE_U8) {
        for (int i = 0; i < 256; i++) {
            values[i] = to_float((uint8_t)i);
        }
        change(values, 256, args);
        for (int i = 0; i < 256; i++) {
            table[i] = to_byte(values[i]);
        }
        use_tables(in, out, 0, 1, table);
        return;
    }
    size_t n = (size_t)in->width * in->channels;
    for (uint32_t y = 0; y < in->height; y++) {
        float *to = stk_image_row(out, y);
        memmove(to, stk_image_row(in, y), n * sizeof *to);
        change(to, n, args);
    }
}

INLINE void brighten_any(float *v, size_t n, const float *args)
{
    for (size_t i = 0; i < n; i++) {
        v[i] += args[0];
    }
}
VECTORS(brighten, (float *v, size_t n, const float *args), v, n, args)

enum stoker_status stk_image_adjust_brightness(const struct stk_image *in, float delta,
                                               const struct stk_image *out, struct stoker_err *err)
{
    enum stoker_status status = check_same(in, out, 0, "adjust_brightness", err);
    if (status == STOKER_OK) {
        change_values(in, out, brighten, &delta);
    }
    return status;
}

static void raise(float *v, size_t n, const float *args)
{
    for (size_t i = 0; i < n; i++) {
        v[i] = args[1] * powf(v[i], args[0]);
    }
}

enum stoker_status stk_image_adjust_gamma(const struct stk_image *in, float gamma, float gain,
                                          const struct stk_image *out, struct stoker_err *err)
{
    const float args[2] = {gamma, gain};
    enum stoker_status status = check_same(in, out, 0, "adjust_gamma", err);
    if (status == STOKER_OK && !(gamma >= 0)) {
        return stk_err_set(err, STOKER_EUSAGE,
                           "adjust_gamma: gamma must not be negative, but is %g", (double)gamma);
    }
    if (status == STOKER_OK) {
        change_values(in, out, raise, args);
    }
    return status;
}

// Sums over the image by position modulo 12, a multiple of 1, 2, 3 and 4 channels.
enum { LANES = 12 };

INLINE void sum_floats_any(const float *floats, size_t n, double sums[LANES])
{
    size_t i = 0;
    double sum[LANES];
    memcpy(sum, sums, sizeof sum);
    for (; i + LANES <= n; i += LANES) {
        for (size_t k = 0; k < LANES; k++) {
            sum[k] += (double)floats[i + k];
        }
    }
    for (size_t k = 0; i + k < n; k++) {
        sum[k] += (double)floats[i + k];
    }
    memcpy(sums, sum, sizeof sum);
}
VECTORS(sum_floats, (const float *floats, size_t n, double sums[LANES]), floats, n, sums)

INLINE void sum_bytes_any(const uint8_t *bytes, size_t n, double sums[LANES])
{
    uint32_t row[LANES] = {0}; // 2^20 pixels of 255 fit
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (size_t k = 0; k < LANES; k++) {
            row[k] += bytes[i + k];
        }
    }
    for (size_t k = 0; i + k < n; k++) {
        row[k] += bytes[i + k];
    }
    for (size_t k = 0; k < LANES; k++) {
        sums[k] += row[k];
    }
}
VECTORS(sum_bytes, (const uint8_t *bytes, size_t n, double sums[LANES]), bytes, n, sums)

static void sum_lanes(const struct stk_image *in, double sums[LANES])
{
    STK_ASSERT(in->channels > 0);
    size_t n = (size_t)in->width * in->channels;
    for (uint32_t y = 0; y < in->height; y++) {
        if (in->type == STK_IMAGE_F32) {
            sum_floats(stk_image_row(in, y), n, sums);
        } else {
            sum_bytes(stk_image_row(in, y), n, sums);
        }
    }
}

// means: 48 values, a multiple of every number of channels and of a vector's size.
enum { SPREAD = 4 * LANES };

INLINE void spread_row_any(const float *from, size_t n, float factor, const float *means, float *to)
{
    size_t i = 0;
    for (; i + SPREAD <= n; i += SPREAD) {
        for (size_t k = 0; k < SPREAD; k++) {
            to[i + k] = (from[i + k] - means[k]) * factor + means[k];
        }
    }
    for (size_t k = 0; i + k < n; k++) {
        to[i + k] = (from[i + k] - means[k]) * factor + means[k];
    }
}
VECTORS(spread_row, (const float *from, size_t n, float factor, const float *means, float *to),
        from, n, factor, means, to)

static void spread_bytes(const struct stk_image *in, float factor, const float *means,
                         const struct stk_image *out)
{
    STK_ASSERT(in->type == STK_IMAGE_U8);
    for (uint32_t c = 0; c < in->channels; c++) {
        uint8_t table[256];
        for (int i = 0; i < 256; i++) {
            table[i] = to_byte((to_float((uint8_t)i) - means[c]) * factor + means[c]);
        }
        use_tables(in, out, c, in->channels, table);
    }
}

enum stoker_status stk_image_adjust_contrast(const struct stk_image *in, float factor,
                                             const struct stk_image *out, struct stoker_err *err)
{
    enum stoker_status status = check_same(in, out, 0, "adjust_contrast", err);
    if (status == STOKER_OK && in->channels > 4) {
        return stk_err_set(err, STOKER_EUSAGE, "adjust_contrast: up to 4 channels, not %u",
                           in->channels);
    }
    if (status != STOKER_OK) {
        return status;
    }
    double sums[LANES] = {0}, pixels = (double)in->width * in->height;
    float means[SPREAD];
    sum_lanes(in, sums);
    for (uint32_t k = 0; k < SPREAD; k++) {
        double sum = 0;
        for (uint32_t lane = k % in->channels; lane < LANES; lane += in->channels) {
            sum += sums[lane];
        }
        means[k] = (float)(sum / pixels / (in->type == STK_IMAGE_U8 ? 255 : 1));
    }
    if (in->type == STK_IMAGE_U8) {
        spread_bytes(in, factor, means, out);
        return STOKER_OK;
    }
    for (uint32_t y = 0; y < in->height; y++) {
        spread_row(stk_image_row(in, y), (size_t)in->width * in->channels, factor, means,
                   stk_image_row(out, y));
    }
    return STOKER_OK;
}

static inline float largest(const float *p)
{
    float v = p[0] > p[1] ? p[0] : p[1];
    return v > p[2] ? v : p[2];
}

static inline float least(const float *p)
{
    float v = p[0] < p[1] ? p[0] : p[1];
    return v < p[2] ? v : p[2];
}

INLINE float clip(float v)
{
    float up = v > 0 ? v : 0;
    return up < 1 ? up : 1;
}

// Hue in sixths of a turn, 0 to 6, for a pixel whose values span `range`.
static inline float hue_of(const float *p, float high, float range)
{
    float norm = range > 0 ? 1 / range : 0;
    float h = p[0] == high   ? norm * (p[1] - p[2])
              : p[1] == high ? norm * (p[2] - p[0]) + 2
                             : norm * (p[0] - p[1]) + 4;
    return h < 0 ? h + 6 : h;
}

// The pure color of a hue: how far each channel is above the smallest value, 0 to 1.
static inline void colours_of(float h, float part[3])
{
    part[0] = clip(fabsf(h - 3) - 1);
    part[1] = clip(2 - fabsf(h - 2));
    part[2] = clip(2 - fabsf(h - 4));
}

// One pixel without branches, so that loops over it can be vectorized.
typedef void pixel_fn(float *r, float *g, float *b, float arg);

INLINE void turn_pixel(float *r, float *g, float *b, float turn)
{
    float high = *r > *g ? *r : *g, low = *r < *g ? *r : *g;
    high = high > *b ? high : *b;
    low = low < *b ? low : *b;
    float range = high - low, norm = 1 / (range > 0 ? range : 1);
    float by_red = (*g - *b) * norm, by_green = (*b - *r) * norm + 2,
          by_blue = (*r - *g) * norm + 4;
    float other = *g == high ? by_green : by_blue, h = (*r == high ? by_red : other) + turn;
    h += h < 0 ? 6.0f : 0.0f; // twice: from -7
    h += h < 0 ? 6.0f : 0.0f;
    h -= h >= 6 ? 6.0f : 0.0f;
    *r = low + range * clip(fabsf(h - 3) - 1);
    *g = low + range * clip(2 - fabsf(h - 2));
    *b = low + range * clip(2 - fabsf(h - 4));
}

// Keeps hue and value; every channel's distance from the largest scales with the saturation.
INLINE void saturate_pixel(float *r, float *g, float *b, float factor)
{
    float high = *r > *g ? *r : *g, low = *r < *g ? *r : *g;
    high = high > *b ? high : *b;
    low = low < *b ? low : *b;
    float range = high - low, ratio = high / (range > 0 ? range : 1);
    float most = range > 0 ? ratio : 0, gain = factor < most ? factor : most;
    gain = high > 0 ? gain : 0;
    *r = high - (high - *r) * gain;
    *g = high - (high - *g) * gain;
    *b = high - (high - *b) * gain;
}

enum { AT_ONCE = 32 }; // pixels

INLINE void each_of_some(float *p, pixel_fn *change, float arg)
{
    float r[AT_ONCE], g[AT_ONCE], b[AT_ONCE];
    for (size_t i = 0; i < AT_ONCE; i++) {
        r[i] = p[3 * i];
        g[i] = p[3 * i + 1];
        b[i] = p[3 * i + 2];
    }
    for (size_t i = 0; i < AT_ONCE; i++) {
        change(&r[i], &g[i], &b[i], arg);
    }
    for (size_t i = 0; i < AT_ONCE; i++) {
        p[3 * i] = r[i];
        p[3 * i + 1] = g[i];
        p[3 * i + 2] = b[i];
    }
}

INLINE void each_pixel(float *p, size_t n, pixel_fn *change, float arg)
{
    float rest[3 * AT_ONCE] = {0};
    for (; n >= AT_ONCE; n -= AT_ONCE, p += 3 * AT_ONCE) {
        each_of_some(p, change, arg);
    }
    if (n > 0) {
        memcpy(rest, p, 3 * n * sizeof *p);
        each_of_some(rest, change, arg);
        memcpy(p, rest, 3 * n * sizeof *p);
    }
}

INLINE void turn_hue_any(float *p, size_t n, const float *args)
{
    each_pixel(p, n, turn_pixel, args[0] * 6);
}
VECTORS(turn_hue, (float *p, size_t n, const float *args), p, n, args)

INLINE void saturate_any(float *p, size_t n, const float *args)
{
    each_pixel(p, n, saturate_pixel, args[0]);
}
VECTORS(saturate, (float *p, size_t n, const float *args), p, n, args)

static enum stoker_status change_pixels(const struct stk_image *in, const struct stk_image *out,
                                        change_fn *change, const float *args, const char *what,
                                        struct stoker_err *err)
{
    enum stoker_status status = check_same(in, out, 3, what, err);
    for (uint32_t y = 0; status == STOKER_OK && y < in->height; y++) {
        change_row(in, out, y, change, args);
    }
    return status;
}

enum stoker_status stk_image_adjust_hue(const struct stk_image *in, float delta,
                                        const struct stk_image *out, struct stoker_err *err)
{
    if (!(delta >= -1 && delta <= 1)) {
        return stk_err_set(err, STOKER_EUSAGE, "adjust_hue: delta is in -1 to 1, not %g",
                           (double)delta);
    }
    return change_pixels(in, out, turn_hue, &delta, "adjust_hue", err);
}

enum stoker_status stk_image_adjust_saturation(const struct stk_image *in, float factor,
                                               const struct stk_image *out, struct stoker_err *err)
{
    float args[1] = {factor > 0 ? factor : 0};
    return change_pixels(in, out, saturate, args, "adjust_saturation", err);
}

INLINE float grey_of(float r, float g, float b)
{
    return r * 0.2989f + g * 0.5870f + b * 0.1140f;
}

INLINE void grey_floats_any(const float *p, size_t n, float *to)
{
    for (size_t i = 0; i < n; i++) {
        to[i] = grey_of(p[3 * i], p[3 * i + 1], p[3 * i + 2]);
    }
}
VECTORS(grey_floats, (const float *p, size_t n, float *to), p, n, to)

INLINE void grey_bytes_any(const uint8_t *p, size_t n, uint8_t *to)
{
    for (size_t i = 0; i < n; i++) {
        to[i] =
            to_byte(grey_of(to_float(p[3 * i]), to_float(p[3 * i + 1]), to_float(p[3 * i + 2])));
    }
}
VECTORS(grey_bytes, (const uint8_t *p, size_t n, uint8_t *to), p, n, to)

enum stoker_status stk_image_rgb_to_grayscale(const struct stk_image *in,
                                              const struct stk_image *out, struct stoker_err *err)
{
    enum stoker_status status = check_types(in, out, 3, "rgb_to_grayscale", err);
    if (status == STOKER_OK && out->channels != 1) {
        return stk_err_set(err, STOKER_EUSAGE, "rgb_to_grayscale: gives 1 channel, not %u",
                           out->channels);
    }
    for (uint32_t y = 0; status == STOKER_OK && y < in->height; y++) {
        if (in->type == STK_IMAGE_U8) {
            grey_bytes(stk_image_row(in, y), in->width, stk_image_row(out, y));
        } else {
            grey_floats(stk_image_row(in, y), in->width, stk_image_row(out, y));
        }
    }
    return status;
}

enum stoker_status stk_image_grayscale_to_rgb(const struct stk_image *in,
                                              const struct stk_image *out, struct stoker_err *err)
{
    enum stoker_status status = check_types(in, out, 1, "grayscale_to_rgb", err);
    if (status == STOKER_OK && out->channels != 3) {
        return stk_err_set(err, STOKER_EUSAGE, "grayscale_to_rgb: gives 3 channels, not %u",
                           out->channels);
    }
    size_t size = stk_image_type_size(in->type);
    for (uint32_t y = 0; status == STOKER_OK && y < in->height; y++) {
        const uint8_t *from = stk_image_row(in, y);
        uint8_t *to = stk_image_row(out, y);
        for (size_t i = 0; i < (size_t)in->width * 3; i++) {
            memcpy(to + i * size, from + i / 3 * size, size);
        }
    }
    return status;
}

static void rgb_to_hsv(float *p, size_t n, const float *args)
{
    (void)args;
    for (size_t i = 0; i < n; i++, p += 3) {
        float high = largest(p), range = high - least(p);
        float h = range > 0 ? hue_of(p, high, range) / 6 : 0;
        p[0] = h;
        p[1] = high > 0 ? range / high : 0;
        p[2] = high;
    }
}

static void hsv_to_rgb(float *p, size_t n, const float *args)
{
    (void)args;
    for (size_t i = 0; i < n; i++, p += 3) {
        float part[3], s = p[1], v = p[2];
        colours_of(p[0] * 6, part);
        for (int c = 0; c < 3; c++) {
            p[c] = (1 - s + s * part[c]) * v;
        }
    }
}

enum stoker_status stk_image_change_space(const struct stk_image *in, enum stk_image_space space,
                                          const struct stk_image *out, struct stoker_err *err)
{
    if (in->type != STK_IMAGE_F32 || (unsigned)space > STK_IMAGE_HSV_TO_RGB) {
        return stk_err_set(err, STOKER_EUSAGE, "color spaces are changed on float32 images");
    }
    bool is_to = space == STK_IMAGE_RGB_TO_HSV;
    return change_pixels(in, out, is_to ? rgb_to_hsv : hsv_to_rgb, NULL,
                         is_to ? "rgb_to_hsv" : "hsv_to_rgb", err);
}
