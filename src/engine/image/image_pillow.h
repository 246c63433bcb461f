// SPDX-License-Identifier: Apache-2.0
// Pillow's own arithmetic on uint8 images of 1 or 3 channels (modes L and RGB), bit for bit:
// resampling in two passes that round to whole levels, enhancements, hue, mirroring, filters,
// affine transforms. Compared with Pillow in tests/peers/from_torch_recorded.
#pragma once

#include "engine/image/image.h"

// Pillow's Image.Resampling.
enum stk_pillow_filter {
    STK_PILLOW_NEAREST = 0,
    STK_PILLOW_LANCZOS,
    STK_PILLOW_BILINEAR,
    STK_PILLOW_BICUBIC,
    STK_PILLOW_BOX,
    STK_PILLOW_HAMMING,
    STK_PILLOW_FILTERS
};

// Pillow's Image.Transpose.
enum stk_pillow_transpose {
    STK_PILLOW_FLIP_LEFT_RIGHT = 0,
    STK_PILLOW_FLIP_TOP_BOTTOM,
    STK_PILLOW_ROTATE_90,
    STK_PILLOW_ROTATE_180,
    STK_PILLOW_ROTATE_270,
    STK_PILLOW_TRANSPOSE,
    STK_PILLOW_TRANSVERSE,
    STK_PILLOW_TRANSPOSES
};

// Image.resize of the whole image to the size of `out`. is_down_first: columns before rows, as
// later versions of Pillow do for some sizes. work: memory of the caller's, which grows.
enum stoker_status stk_pillow_resize(const struct stk_image *in, enum stk_pillow_filter filter,
                                     bool is_down_first, const struct stk_image *out,
                                     struct stk_image_buffer *work, enum stk_image_cpu cpu,
                                     struct stoker_err *err);
// out has the size that the method gives, and shares no memory with in.
void stk_pillow_transpose(const struct stk_image *in, enum stk_pillow_transpose method,
                          const struct stk_image *out);

// In place. Levels are blended with black, the image's mean and its gray, as ImageEnhance does.
void stk_pillow_brightness(const struct stk_image *im, float factor);
void stk_pillow_contrast(const struct stk_image *im, float factor);
void stk_pillow_saturation(const struct stk_image *im, float factor); // 3 channels
// The hue as a byte, moved by `shift` of 256; 3 channels.
void stk_pillow_hue(const struct stk_image *im, uint8_t shift);
uint8_t stk_pillow_gray(const uint8_t *rgb); // convert("L") of a pixel
// Image.blend of a level of one image and one of another.
uint8_t stk_pillow_blend(int from, int to, float factor);
// ImageOps.autocontrast and equalize, in place: tables of levels by the image's own histogram.
void stk_pillow_autocontrast(const struct stk_image *im);
void stk_pillow_equalize(const struct stk_image *im);

// ImageFilter.GaussianBlur in place, with a radius along rows and one along columns, below
// STK_PILLOW_BLUR_MAX.
enum { STK_PILLOW_BLUR_MAX = 1000 };
enum stoker_status stk_pillow_gaussian_blur(const struct stk_image *im, float across, float down,
                                            struct stk_image_buffer *work, struct stoker_err *err);
// ImageEnhance.Sharpness; out has the size of in, and shares no memory with it.
void stk_pillow_sharpness(const struct stk_image *in, float factor, const struct stk_image *out);

// Image.transform by AFFINE: the place in the input of the output's (x, y) is
// (a[0] x + a[1] y + a[2], a[3] x + a[4] y + a[5]). fill: the color outside of the input.
struct stk_pillow_affine {
    double a[6];
    enum stk_pillow_filter filter; // nearest, bilinear or bicubic
    uint8_t fill[3];
};
// Are all places of this output within range, and is the filter one of the three?
bool stk_pillow_affine_fits(const struct stk_pillow_affine *t, const struct stk_image *out);
void stk_pillow_transform(const struct stk_image *in, const struct stk_pillow_affine *t,
                          const struct stk_image *out);
