// SPDX-License-Identifier: Apache-2.0
// Moves pixels: crops, pads, flips, rotations; and chooses random crops. Any type and number of
// channels; allocates nothing. Input and output must not overlap unless noted.
#pragma once

#include "engine/image/image.h"

struct stk_image_box {
    uint32_t y, x, height, width;
};

// crop_to_bounding_box without copying: *view shows a part of `in`. A box of no size is an error.
enum stoker_status stk_image_crop(const struct stk_image *in, const struct stk_image_box *box,
                                  struct stk_image *view, struct stoker_err *err);
// Copies pixels to an image of the same size, channels and type.
enum stoker_status stk_image_copy(const struct stk_image *in, const struct stk_image *out,
                                  struct stoker_err *err);
// central_crop: the box for a fraction above 0, up to 1.
enum stoker_status stk_image_central_box(uint32_t height, uint32_t width, double fraction,
                                         struct stk_image_box *box, struct stoker_err *err);
// pad_to_bounding_box: `in` at (y, x) of `out`, zeros around it.
enum stoker_status stk_image_pad(const struct stk_image *in, uint32_t y, uint32_t x,
                                 const struct stk_image *out, struct stoker_err *err);
// resize_with_crop_or_pad to the size of `out`.
enum stoker_status stk_image_crop_or_pad(const struct stk_image *in, const struct stk_image *out,
                                         struct stoker_err *err);
enum stoker_status stk_image_flip_left_right(const struct stk_image *in,
                                             const struct stk_image *out, struct stoker_err *err);
enum stoker_status stk_image_flip_up_down(const struct stk_image *in, const struct stk_image *out,
                                          struct stoker_err *err);
// Counter-clockwise by 90 degrees, `turns` times; `out` has the sides exchanged for odd turns.
enum stoker_status stk_image_rot90(const struct stk_image *in, int turns,
                                   const struct stk_image *out, struct stoker_err *err);
enum stoker_status stk_image_transpose(const struct stk_image *in, const struct stk_image *out,
                                       struct stoker_err *err);

// 64 random bits at a time.
struct stk_image_random {
    uint64_t (*next)(void *state);
    void *state;
};

// The box of torchvision's RandomResizedCrop: area scale[0] to scale[1] of the image, width /
// height ratio[0] to ratio[1] uniform in its logarithm, ten attempts, then the middle.
enum stoker_status stk_image_random_resized_box(uint32_t height, uint32_t width,
                                                const double scale[2], const double ratio[2],
                                                const struct stk_image_random *random,
                                                struct stk_image_box *box, struct stoker_err *err);
