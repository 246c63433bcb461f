// SPDX-License-Identifier: Apache-2.0
// What random_resized_crop and jpeg_random_resized_crop share: their attributes, and the draws.
//
// Attributes: "size" INTS (height, width), "scale", "ratio" (FLOATS of two; 0.08 to 1, 3/4 to 4/3),
// "flip" (FLOAT, the probability), "mean", "std" (FLOATS, one for each channel, for values of 0 to
// 1; without them the result is uint8), "planar" (1: channels first), "method", "seed". The random
// bits are of the element's index.
#ifndef STK_DATA_OPS_OP_AUGMENT_H
#define STK_DATA_OPS_OP_AUGMENT_H

#include "data/image/image_geometry.h"
#include "data/ops/op_image.h"

struct stk_op_augment {
    int64_t size[2];
    double scale[2], ratio[2], flip;
    bool is_planar, is_fast, is_float;
    struct stk_image_resize_options resize; // all but is_mirrored
};

// `op` is named in errors.
STK_MUST_CHECK enum stk_status stk_op_augment_read(const struct stk_attrs *a, const char *op,
                                                   int64_t channels, struct stk_op_augment *g,
                                                   struct stk_err *err);
// Of the result.
struct stk_shape stk_op_augment_shape(const struct stk_op_augment *g, int64_t channels);
// Element i's part of an image of height x width, and whether it is mirrored.
STK_MUST_CHECK enum stk_status stk_op_augment_draw(const struct stk_op_run *r, int64_t i,
                                                   const struct stk_op_augment *g, uint32_t height,
                                                   uint32_t width, struct stk_image_box *box,
                                                   bool *is_mirrored, struct stk_err *err);

#endif
