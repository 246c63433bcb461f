// SPDX-License-Identifier: Apache-2.0
// Color operations of tf.image on uint8 and float32 images. As in tf.image, uint8 becomes float32
// in 0 to 1 for the operation and goes back by * 255.5, truncated and saturated. Output has the
// input's size and, unless noted, its type and channels; it may be the input itself.
#pragma once

#include "engine/image/image.h"

enum stoker_status stk_image_adjust_brightness(const struct stk_image *in, float delta,
                                               const struct stk_image *out, struct stoker_err *err);
enum stoker_status stk_image_adjust_gamma(const struct stk_image *in, float gamma, float gain,
                                          const struct stk_image *out, struct stoker_err *err);
// Around each channel's mean over the image; up to 4 channels.
enum stoker_status stk_image_adjust_contrast(const struct stk_image *in, float factor,
                                             const struct stk_image *out, struct stoker_err *err);
// Three channels. delta in -1 to 1 (a whole turn is 1); factor not negative.
enum stoker_status stk_image_adjust_hue(const struct stk_image *in, float delta,
                                        const struct stk_image *out, struct stoker_err *err);
enum stoker_status stk_image_adjust_saturation(const struct stk_image *in, float factor,
                                               const struct stk_image *out, struct stoker_err *err);
// Three channels to one; one channel to three.
enum stoker_status stk_image_rgb_to_grayscale(const struct stk_image *in,
                                              const struct stk_image *out, struct stoker_err *err);
enum stoker_status stk_image_grayscale_to_rgb(const struct stk_image *in,
                                              const struct stk_image *out, struct stoker_err *err);

// float32, three channels.
enum stk_image_space { STK_IMAGE_RGB_TO_HSV, STK_IMAGE_HSV_TO_RGB };
enum stoker_status stk_image_change_space(const struct stk_image *in, enum stk_image_space space,
                                          const struct stk_image *out, struct stoker_err *err);
// per_image_standardization: any type to float32 with mean 0 and deviation 1.
enum stoker_status stk_image_standardize(const struct stk_image *in, const struct stk_image *out,
                                         struct stoker_err *err);
// convert_image_dtype among uint8, uint16 and float32. Without is_saturated, values out of range
// keep their low bits.
enum stoker_status stk_image_convert_type(const struct stk_image *in, bool is_saturated,
                                          const struct stk_image *out, struct stoker_err *err);
