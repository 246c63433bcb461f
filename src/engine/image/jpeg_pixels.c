// SPDX-License-Identifier: Apache-2.0
// From sample planes to pixels in plain C: chroma upsampling and YCbCr to RGB, equal bit for bit to
// libjpeg-turbo's (16-bit fixed point, ITU-R BT.601; triangle filter with its alternating
// rounding). Repeating the edge sample gives libjpeg's special cases at both ends of a row.
#include "engine/image/jpeg_impl.h"

#include <string.h>

void stk_jpeg_h2v1(const uint8_t *in, uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int here = 3 * in[i], left = in[(ptrdiff_t)i - 1], right = in[i + 1];
        out[2 * i] = (uint8_t)((here + left + 1) >> 2);
        out[2 * i + 1] = (uint8_t)((here + right + 2) >> 2);
    }
}

void stk_jpeg_h2v2(const uint8_t *near, const uint8_t *far, uint8_t *out, size_t n, uint16_t *sums)
{
    for (size_t i = 0; i < n + 2; i++) {
        sums[i] = (uint16_t)(3 * near[(ptrdiff_t)i - 1] + far[(ptrdiff_t)i - 1]);
    }
    for (size_t i = 0; i < n; i++) {
        int here = 3 * sums[i + 1];
        out[2 * i] = (uint8_t)((here + sums[i] + 8) >> 4);
        out[2 * i + 1] = (uint8_t)((here + sums[i + 2] + 7) >> 4);
    }
}

void stk_jpeg_h1v2(const uint8_t *near, const uint8_t *far, uint8_t *out, size_t n, int bias)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = (uint8_t)((3 * near[i] + far[i] + bias) >> 2);
    }
}

void stk_jpeg_double(const uint8_t *in, uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = out[2 * i + 1] = in[i];
    }
}

static inline uint8_t clamp(int v)
{
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

void stk_jpeg_color(const uint8_t *y, const uint8_t *cb, const uint8_t *cr, uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int b = cb[i] - 128, r = cr[i] - 128;
        out[3 * i] = clamp(y[i] + ((91881 * r + 32768) >> 16));
        out[3 * i + 1] = clamp(y[i] + ((-22554 * b - 46802 * r + 32768) >> 16));
        out[3 * i + 2] = clamp(y[i] + ((116130 * b + 32768) >> 16));
    }
}

void stk_jpeg_grey_to_rgb(const uint8_t *y, uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[3 * i] = out[3 * i + 1] = out[3 * i + 2] = y[i];
    }
}
