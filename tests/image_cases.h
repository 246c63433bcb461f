// SPDX-License-Identifier: Apache-2.0
// Synthetic images for the tests of image kernels: computed, the same as in
// tests/data/make_image_expected.py, or random.
#ifndef STK_TESTS_IMAGE_CASES_H
#define STK_TESTS_IMAGE_CASES_H

#include "check.h"
#include "engine/image/image.h"

#include <math.h>

static struct stk_image_context *context;
static struct stoker_err err;
static uint64_t case_state = 88172645463325252u;

static inline uint32_t case_draw(uint32_t below)
{
    case_state ^= case_state << 13;
    case_state ^= case_state >> 7;
    case_state ^= case_state << 17;
    return below ? (uint32_t)(case_state >> 33) % below : 0;
}

// malloc'ed, rows `gap` bytes (a multiple of 4) longer than they need be.
static inline struct stk_image case_image(uint32_t h, uint32_t w, uint32_t c,
                                          enum stk_image_type type, size_t gap)
{
    struct stk_image im = {NULL, h, w, c, type, 0};
    im.stride = w * c * stk_image_type_size(type) + gap;
    im.pixels = malloc(im.stride * h);
    if (!im.pixels) {
        exit(1);
    }
    memset(im.pixels, 0xa5, im.stride * h);
    return im;
}

static inline void case_put(const struct stk_image *im, uint32_t y, size_t i, double v)
{
    void *row = stk_image_row(im, y);
    if (im->type == STK_IMAGE_U8) {
        ((uint8_t *)row)[i] = (uint8_t)v;
    } else if (im->type == STK_IMAGE_U16) {
        ((uint16_t *)row)[i] = (uint16_t)v;
    } else {
        ((float *)row)[i] = (float)v;
    }
}

static inline double case_get(const struct stk_image *im, uint32_t y, size_t i)
{
    const void *row = stk_image_row(im, y);
    if (im->type == STK_IMAGE_U8) {
        return ((const uint8_t *)row)[i];
    }
    if (im->type == STK_IMAGE_U16) {
        return ((const uint16_t *)row)[i];
    }
    return (double)((const float *)row)[i];
}

// pixel(y, x, c) = (37 y + 59 x + 101 c + 13 x y) mod 256, times `scale`.
static inline struct stk_image case_picture(uint32_t h, uint32_t w, uint32_t c,
                                            enum stk_image_type type, double scale)
{
    struct stk_image im = case_image(h, w, c, type, 0);
    for (uint32_t y = 0; y < h; y++) {
        for (uint32_t i = 0; i < w * c; i++) {
            case_put(&im, y, i,
                     (37 * y + 59 * (i / c) + 101 * (i % c) + 13 * (i / c) * y) % 256 * scale);
        }
    }
    return im;
}

static inline struct stk_image case_noise(uint32_t h, uint32_t w, uint32_t c,
                                          enum stk_image_type type, size_t gap)
{
    struct stk_image im = case_image(h, w, c, type, gap);
    for (uint32_t y = 0; y < h; y++) {
        for (uint32_t i = 0; i < w * c; i++) {
            case_put(&im, y, i, case_draw(type == STK_IMAGE_U16 ? 65536 : 256));
        }
    }
    return im;
}

// The largest difference.
static inline double case_distance(const struct stk_image *a, const struct stk_image *b)
{
    double most = 0;
    for (uint32_t y = 0; y < a->height; y++) {
        for (size_t i = 0; i < (size_t)a->width * a->channels; i++) {
            double d = fabs(case_get(a, y, i) - case_get(b, y, i));
            most = d > most || isnan(d) ? d : most;
        }
    }
    return most;
}

// Whether what lies between the rows is untouched.
static inline int case_is_gap_kept(const struct stk_image *im)
{
    size_t row = im->width * im->channels * stk_image_type_size(im->type);
    for (uint32_t y = 0; y < im->height; y++) {
        for (size_t i = row; i < im->stride; i++) {
            if (((const uint8_t *)stk_image_row(im, y))[i] != 0xa5) {
                return 0;
            }
        }
    }
    return 1;
}

#endif
