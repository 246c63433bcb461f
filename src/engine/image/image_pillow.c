// SPDX-License-Identifier: Apache-2.0
// Pillow's levels, bit for bit: ImageEnhance's blends in float32 that cut off, gray by 16-bit
// weights, tables by histograms, hue by way of HSV bytes in the arithmetic of its Convert.c; and
// its seven ways of transposing.
#include <string.h>

#include "engine/image/image_pillow.h"

uint8_t stk_pillow_gray(const uint8_t *rgb)
{
    return (uint8_t)((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16);
}

uint8_t stk_pillow_blend(int from, int to, float factor)
{
    if (factor == 0 || factor == 1) {
        return (uint8_t)(factor == 0 ? from : to);
    }
    float part = factor * (float)(to - from);
    float v = (float)from + part;
    return (uint8_t)(!(v > 0) ? 0 : v >= 255 ? 255 : v);
}

static void blend_with(const struct stk_image *im, int from, float factor)
{
    uint8_t levels[256];
    for (int v = 0; v < 256; v++) {
        levels[v] = stk_pillow_blend(from, v, factor);
    }
    for (uint32_t y = 0; y < im->height; y++) {
        uint8_t *p = stk_image_row(im, y);
        for (size_t i = 0; i < (size_t)im->width * im->channels; i++) {
            p[i] = levels[p[i]];
        }
    }
}

void stk_pillow_brightness(const struct stk_image *im, float factor)
{
    blend_with(im, 0, factor);
}

void stk_pillow_contrast(const struct stk_image *im, float factor)
{
    uint64_t sum = 0;
    for (uint32_t y = 0; y < im->height; y++) {
        const uint8_t *p = stk_image_row(im, y);
        for (uint32_t x = 0; x < im->width; x++, p += im->channels) {
            sum += im->channels == 3 ? stk_pillow_gray(p) : *p;
        }
    }
    double count = (double)im->width * im->height;
    blend_with(im, (int)((double)sum / count + 0.5), factor);
}

void stk_pillow_saturation(const struct stk_image *im, float factor)
{
    STK_ASSERT(im->channels == 3);
    for (uint32_t y = 0; y < im->height; y++) {
        uint8_t *p = stk_image_row(im, y);
        for (uint32_t x = 0; x < im->width; x++, p += 3) {
            int gray = stk_pillow_gray(p);
            for (int c = 0; c < 3; c++) {
                p[c] = stk_pillow_blend(gray, p[c], factor);
            }
        }
    }
}

// The tables of autocontrast, or of equalize, by each channel's histogram.
static void by_histogram(const struct stk_image *im,
                         void (*make)(const uint64_t count[256], uint8_t to[256]))
{
    uint64_t count[3][256] = {0};
    uint8_t levels[3][256];
    STK_ASSERT(im->channels <= 3);
    for (uint32_t y = 0; y < im->height; y++) {
        const uint8_t *p = stk_image_row(im, y);
        for (uint32_t x = 0; x < im->width; x++) {
            for (uint32_t c = 0; c < im->channels; c++) {
                count[c][*p++]++;
            }
        }
    }
    for (uint32_t c = 0; c < im->channels; c++) {
        make(count[c], levels[c]);
    }
    for (uint32_t y = 0; y < im->height; y++) {
        uint8_t *p = stk_image_row(im, y);
        for (uint32_t x = 0; x < im->width; x++) {
            for (uint32_t c = 0; c < im->channels; c++, p++) {
                *p = levels[c][*p];
            }
        }
    }
}

static uint8_t clip(int v)
{
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

static void stretched(const uint64_t count[256], uint8_t to[256])
{
    int low = 0, high = 255;
    while (low < 255 && count[low] == 0) {
        low++;
    }
    while (high > 0 && count[high] == 0) {
        high--;
    }
    double scale = high > low ? 255.0 / (high - low) : 1, offset = high > low ? -low * scale : 0;
    for (int v = 0; v < 256; v++) {
        to[v] = clip((int)(v * scale + offset));
    }
}

static void equalized(const uint64_t count[256], uint8_t to[256])
{
    uint64_t sum = 0, last = 0, kinds = 0;
    for (int v = 0; v < 256; v++) {
        sum += count[v];
        last = count[v] ? count[v] : last;
        kinds += count[v] > 0;
    }
    uint64_t step = kinds > 1 ? (sum - last) / 255 : 0, n = step / 2;
    for (int v = 0; v < 256; v++) {
        uint64_t level = step ? n / step : (uint64_t)v;
        to[v] = (uint8_t)(level < 255 ? level : 255);
        n += count[v];
    }
}

void stk_pillow_autocontrast(const struct stk_image *im)
{
    by_histogram(im, stretched);
}

void stk_pillow_equalize(const struct stk_image *im)
{
    by_histogram(im, equalized);
}

// What a byte of hue or of saturation means: the sixth of the circle, the part of it, the share.
struct hsv {
    uint8_t sixth[256];
    float part[256], share[256];
};

static void hsv_init(struct hsv *t)
{
    for (int v = 0; v < 256; v++) {
        double sixth = (double)v * 6.0 / 255.0;
        int i = (int)sixth;
        t->sixth[v] = (uint8_t)(i % 6);
        t->part[v] = (float)(sixth - (double)i);
        t->share[v] = (float)((double)v / 255.0);
    }
}

// Without branches, which random hues would mispredict. A difference of two such floats is exact in
// double, so one rounding to float is Pillow's for all three cases.
static void to_hsv(const uint8_t *rgb, uint8_t *hue, uint8_t *saturation, uint8_t *value)
{
    uint8_t r = rgb[0], g = rgb[1], b = rgb[2];
    uint8_t most = r > g ? r : g, least = r < g ? r : g;
    most = most > b ? most : b;
    least = least < b ? least : b;
    bool is_gray = least == most;
    float range = (float)(most - least + is_gray), s = range / (float)(most + is_gray);
    float rc = (float)(most - r) / range, gc = (float)(most - g) / range;
    float bc = (float)(most - b) / range;
    bool is_red = r == most, is_green = !is_red && g == most;
    double start = is_red ? 0.0 : is_green ? 2.0 : 4.0;
    float more = is_red ? bc : is_green ? rc : gc, less = is_red ? gc : is_green ? bc : rc;
    float h = (float)(start + (double)more - (double)less);
    double turn = (double)h / 6.0 + 1.0;
    h = (float)(turn >= 1 ? turn - 1 : turn);
    *hue = is_gray ? 0 : (uint8_t)((double)h * 255.0);
    *saturation = is_gray ? 0 : (uint8_t)((double)s * 255.0);
    *value = most;
}

// round() of a level: adding a half is the same for all that occur.
static uint8_t rounded(double v)
{
    return (uint8_t)(v + 0.5);
}

static void from_hsv(const struct hsv *t, uint8_t hue, uint8_t saturation, uint8_t value,
                     uint8_t *rgb)
{
    // Of v, p, q, t: which are red, green and blue in each sixth.
    static const uint8_t by[6][3] = {{0, 3, 1}, {2, 0, 1}, {1, 0, 3},
                                     {1, 2, 0}, {3, 1, 0}, {0, 1, 2}};
    float f = t->part[hue], fs = t->share[saturation];
    double v = value;
    uint8_t of[4] = {value, rounded(v * (1.0 - (double)fs)), rounded(v * (1.0 - (double)(fs * f))),
                     rounded(v * (1.0 - (double)fs * (1.0 - (double)f)))};
    for (int c = 0; c < 3; c++) {
        rgb[c] = of[by[t->sixth[hue]][c]];
    }
}

void stk_pillow_hue(const struct stk_image *im, uint8_t shift)
{
    STK_ASSERT(im->channels == 3);
    struct hsv t;
    hsv_init(&t);
    for (uint32_t y = 0; y < im->height; y++) {
        uint8_t *p = stk_image_row(im, y);
        for (uint32_t x = 0; x < im->width; x++, p += 3) {
            uint8_t h, s, v;
            to_hsv(p, &h, &s, &v);
            from_hsv(&t, (uint8_t)(h + shift), s, v, p);
        }
    }
}

// The place in the input of the output's pixel (y, x).
static void source_of(const struct stk_image *in, enum stk_pillow_transpose method, uint32_t *y,
                      uint32_t *x)
{
    uint32_t i = *y, j = *x, bottom = in->height - 1, right = in->width - 1;
    switch (method) {
    case STK_PILLOW_FLIP_LEFT_RIGHT:
        *x = right - j;
        break;
    case STK_PILLOW_FLIP_TOP_BOTTOM:
        *y = bottom - i;
        break;
    case STK_PILLOW_ROTATE_180:
        *y = bottom - i;
        *x = right - j;
        break;
    case STK_PILLOW_ROTATE_90:
        *y = j;
        *x = right - i;
        break;
    case STK_PILLOW_ROTATE_270:
        *y = bottom - j;
        *x = i;
        break;
    case STK_PILLOW_TRANSVERSE:
        *y = bottom - j;
        *x = right - i;
        break;
    default: // transposed
        *y = j;
        *x = i;
    }
}

void stk_pillow_transpose(const struct stk_image *in, enum stk_pillow_transpose method,
                          const struct stk_image *out)
{
    STK_ASSERT(in->channels == out->channels && in->type == STK_IMAGE_U8);
    for (uint32_t i = 0; i < out->height; i++) {
        uint8_t *to = stk_image_row(out, i);
        for (uint32_t j = 0; j < out->width; j++, to += out->channels) {
            uint32_t y = i, x = j;
            source_of(in, method, &y, &x);
            memcpy(to, (uint8_t *)stk_image_row(in, y) + (size_t)x * in->channels, in->channels);
        }
    }
}
