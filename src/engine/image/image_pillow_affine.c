// SPDX-License-Identifier: Apache-2.0
// Image.transform by AFFINE, bit for bit as Pillow's Geometry.c: the nearest level by 16.16
// fixed-point places, or by a table for each axis where none turns; bilinear and bicubic in double.
//
// Limits: 1 or 3 channels of bytes; places of the nearest level below 32,768, as Pillow's own
// fixed-point path has it.
#include <math.h>
#include <string.h>

#include "engine/image/image_pillow.h"

static int whole(double v)
{
    return v >= 0 ? (int)v : (int)floor(v);
}

static int64_t inside(int64_t at, uint32_t count)
{
    return at < 0 ? 0 : at < (int64_t)count ? at : (int64_t)count - 1;
}

static bool has(const struct stk_image *im, int64_t y, int64_t x)
{
    return y >= 0 && y < (int64_t)im->height && x >= 0 && x < (int64_t)im->width;
}

static const uint8_t *pixel(const struct stk_image *im, int64_t y, int64_t x)
{
    return (const uint8_t *)stk_image_row(im, (uint32_t)y) + (size_t)x * im->channels;
}

static void fill(const struct stk_image *out, const uint8_t *color)
{
    for (uint32_t y = 0; y < out->height; y++) {
        uint8_t *to = stk_image_row(out, y);
        for (uint32_t x = 0; x < out->width; x++, to += out->channels) {
            memcpy(to, color, out->channels);
        }
    }
}

// Places add up along a row and from row to row, and keep Pillow's rounding.
static void scaled(const struct stk_image *in, const double *a, const struct stk_image *out)
{
    double down = a[5] + a[4] * 0.5;
    for (uint32_t y = 0; y < out->height; y++, down += a[4]) {
        uint8_t *to = stk_image_row(out, y);
        double across = a[2] + a[0] * 0.5;
        for (uint32_t x = 0; x < out->width; x++, to += out->channels, across += a[0]) {
            int64_t from = across < 0 ? -1 : (int)across, row = down < 0 ? -1 : (int)down;
            if (has(in, row, from)) {
                memcpy(to, pixel(in, row, from), in->channels);
            }
        }
    }
}

static int64_t fixed(double v)
{
    return (int64_t)floor(v * 65536.0 + 0.5);
}

static void turned(const struct stk_image *in, const double *a, const struct stk_image *out)
{
    int64_t dx = fixed(a[0]), dy = fixed(a[3]);
    int64_t x0 = fixed(a[2] + a[0] * 0.5 + a[1] * 0.5);
    int64_t y0 = fixed(a[5] + a[3] * 0.5 + a[4] * 0.5);
    for (uint32_t y = 0; y < out->height; y++) {
        uint8_t *to = stk_image_row(out, y);
        int64_t xx = x0, yy = y0;
        for (uint32_t x = 0; x < out->width; x++, to += out->channels, xx += dx, yy += dy) {
            if (has(in, yy >> 16, xx >> 16)) {
                memcpy(to, pixel(in, yy >> 16, xx >> 16), in->channels);
            }
        }
        x0 += fixed(a[1]);
        y0 += fixed(a[4]);
    }
}

static double between(double a, double b, double d)
{
    return a + (b - a) * d;
}

static inline void bilinear(const struct stk_image *in, double x, double y, uint8_t *to,
                            uint32_t channels)
{
    int left = whole(x - 0.5), top = whole(y - 0.5);
    double dx = x - 0.5 - left, dy = y - 0.5 - top;
    int64_t x0 = inside(left, in->width), x1 = inside((int64_t)left + 1, in->width);
    int64_t y0 = inside(top, in->height), y1 = (int64_t)top + 1;
    y1 = has(in, y1, 0) ? y1 : y0; // below the last row: that row again
    const uint8_t *p00 = pixel(in, y0, x0), *p01 = pixel(in, y0, x1);
    const uint8_t *p10 = pixel(in, y1, x0), *p11 = pixel(in, y1, x1);
    for (uint32_t c = 0; c < channels; c++) {
        double upper = between(p00[c], p01[c], dx), lower = between(p10[c], p11[c], dx);
        to[c] = (uint8_t)between(upper, lower, dy);
    }
}

static double through(const double *v, double d)
{
    double p1 = v[1], p2 = -v[0] + v[2], p3 = 2 * (v[0] - v[1]) + v[2] - v[3];
    double p4 = -v[0] + v[1] - v[2] + v[3];
    return p1 + d * (p2 + d * (p3 + d * p4));
}

static inline void bicubic(const struct stk_image *in, double x, double y, uint8_t *to,
                           uint32_t channels)
{
    int left = whole(x - 0.5), top = whole(y - 0.5);
    double dx = x - 0.5 - left, dy = y - 0.5 - top;
    const uint8_t *row[4];
    size_t at[4];
    for (int k = 0; k < 4; k++) {
        int64_t y0 = inside((int64_t)top - 1, in->height), yk = (int64_t)top - 1 + k;
        row[k] = k == 0 ? pixel(in, y0, 0) : has(in, yk, 0) ? pixel(in, yk, 0) : row[k - 1];
        at[k] = (size_t)inside((int64_t)left - 1 + k, in->width) * in->channels;
    }
    for (uint32_t c = 0; c < channels; c++) {
        double rows[4];
        for (int k = 0; k < 4; k++) {
            const uint8_t *p = row[k] + c;
            const double v[4] = {p[at[0]], p[at[1]], p[at[2]], p[at[3]]};
            rows[k] = through(v, dx);
        }
        double v = through(rows, dy);
        to[c] = (uint8_t)(v <= 0 ? 0 : v >= 255 ? 255 : v);
    }
}

// Inlined for each number of channels and each filter, which are constants then.
static inline void interpolate(const struct stk_image *in, const double *a,
                               const struct stk_image *out, uint32_t channels, bool is_bilinear)
{
    for (uint32_t y = 0; y < out->height; y++) {
        uint8_t *to = stk_image_row(out, y);
        for (uint32_t x = 0; x < out->width; x++, to += channels) {
            double at = x + 0.5, down = y + 0.5;
            double xin = a[0] * at + a[1] * down + a[2], yin = a[3] * at + a[4] * down + a[5];
            if (!(xin >= 0 && xin < in->width && yin >= 0 && yin < in->height)) {
                continue;
            }
            if (is_bilinear) {
                bilinear(in, xin, yin, to, channels);
            } else {
                bicubic(in, xin, yin, to, channels);
            }
        }
    }
}

static void interpolated(const struct stk_image *in, const struct stk_pillow_affine *t,
                         const struct stk_image *out)
{
    bool is_bilinear = t->filter == STK_PILLOW_BILINEAR;
    if (in->channels == 3) {
        is_bilinear ? interpolate(in, t->a, out, 3, true) : interpolate(in, t->a, out, 3, false);
    } else {
        interpolate(in, t->a, out, in->channels, is_bilinear);
    }
}

bool stk_pillow_affine_fits(const struct stk_pillow_affine *t, const struct stk_image *out)
{
    for (int k = 0; k < 4; k++) {
        double x = k & 1 ? out->width : 0, y = k & 2 ? out->height : 0;
        if (!(fabs(x * t->a[0] + y * t->a[1] + t->a[2]) < 32768.0) ||
            !(fabs(x * t->a[3] + y * t->a[4] + t->a[5]) < 32768.0)) {
            return false;
        }
    }
    bool is_known = t->filter == STK_PILLOW_BILINEAR || t->filter == STK_PILLOW_BICUBIC;
    return is_known || t->filter == STK_PILLOW_NEAREST;
}

void stk_pillow_transform(const struct stk_image *in, const struct stk_pillow_affine *t,
                          const struct stk_image *out)
{
    STK_ASSERT(in->type == STK_IMAGE_U8 && in->channels == out->channels && in->channels <= 3);
    fill(out, t->fill);
    if (t->filter != STK_PILLOW_NEAREST) {
        interpolated(in, t, out);
    } else if (t->a[1] == 0 && t->a[3] == 0) {
        scaled(in, t->a, out);
    } else {
        turned(in, t->a, out);
    }
}
