// SPDX-License-Identifier: Apache-2.0
// Resizing an image or a crop of one, with mirroring, normalizing and layout in the same pass.
//
// Methods are tf.image.resize's (version 2: half-pixel centers), with and without antialias, those
// of tf.compat.v1.image.resize (without half-pixel centers, with and without align_corners), and
// Pillow's antialiased bilinear on uint8, which torchvision uses: its result is rounded to whole
// levels before anything else happens to it, and is within 1 of Pillow's.
#pragma once

#include "engine/image/image.h"
#include "engine/image/image_steps.h"

enum stk_image_method {
    STK_IMAGE_BILINEAR = 0,
    STK_IMAGE_NEAREST,
    STK_IMAGE_BICUBIC,
    STK_IMAGE_AREA,
    STK_IMAGE_LANCZOS3,
    STK_IMAGE_LANCZOS5,
    STK_IMAGE_GAUSSIAN,
    STK_IMAGE_MITCHELLCUBIC,
    STK_IMAGE_PIL_BILINEAR,
    STK_IMAGE_V1_BILINEAR, // version 1 of TensorFlow: pixels' corners at whole numbers
    STK_IMAGE_V1_NEAREST,
    STK_IMAGE_V1_BICUBIC,
    STK_IMAGE_V1_BILINEAR_CORNERS, // the same with align_corners: the outermost pixels stay in
                                   // place
    STK_IMAGE_V1_NEAREST_CORNERS,
    STK_IMAGE_V1_BICUBIC_CORNERS,
    STK_IMAGE_V1_AREA_CORNERS,
    STK_IMAGE_METHODS
};

static inline bool stk_image_is_nearest(enum stk_image_method method)
{
    return method == STK_IMAGE_NEAREST || method == STK_IMAGE_V1_NEAREST ||
           method == STK_IMAGE_V1_NEAREST_CORNERS;
}

// Does the method change an image that keeps its size? The others then return its values.
static inline bool stk_image_blurs(enum stk_image_method method)
{
    return method == STK_IMAGE_GAUSSIAN || method == STK_IMAGE_MITCHELLCUBIC;
}

// All zero: TensorFlow's default resize, HWC.
struct stk_image_resize_options {
    enum stk_image_method method;
    bool antialias;      // ignored by nearest, area and Pillow's
    bool is_mirrored;    // left to right
    bool is_planar;      // output CHW: then out->stride is the stride within a plane
    size_t plane_stride; // bytes from plane to plane; 0: height * stride
    bool is_normalised;  // float output becomes value * scale[c] + offset[c]; up to 4 channels
    float scale[4], offset[4];
    const struct stk_image_steps *steps; // applied to float rows first; NULL: none
};

// `in` is U8 or F32 (any type for nearest) and may be a view of a crop: pixels outside it don't
// count. `out` is F32, or U8 (rounded and saturated), or with nearest the type of `in`; its size is
// the requested one, its channels those of `in`.
enum stoker_status stk_image_resize(struct stk_image_context *c, const struct stk_image *in,
                                    const struct stk_image_resize_options *opt,
                                    const struct stk_image *out, struct stoker_err *err);
// The largest size with the image's aspect ratio within *height x *width, as for
// preserve_aspect_ratio.
void stk_image_preserve_ratio(uint32_t in_height, uint32_t in_width, uint32_t *height,
                              uint32_t *width);
// scale = 1 / (range * std), offset = -mean / std: torchvision's ToTensor and Normalize with range
// 255, a plain (x - mean) / std with range 1.
void stk_image_mean_std(struct stk_image_resize_options *opt, const float *mean, const float *std,
                        uint32_t channels, float range);
