// SPDX-License-Identifier: Apache-2.0
// Shared by random_resized_crop and jpeg_random_resized_crop: their arguments and random draws.
//
// The random bits depend on the element's index.
#pragma once

#include "engine/image/image_geometry.h"
#include "engine/ops/op_image.h"

struct stk_op_augment {
    int64_t size[2];
    double scale[2], ratio[2], flip;
    bool is_planar, is_fast, is_float;
    int64_t seed;                           // negative: the run's
    struct stk_image_resize_options resize; // all but is_mirrored
};

enum {
    STK_OP_AUGMENT_SIZE,
    STK_OP_AUGMENT_SCALE,
    STK_OP_AUGMENT_RATIO,
    STK_OP_AUGMENT_FLIP,
    STK_OP_AUGMENT_MEAN,
    STK_OP_AUGMENT_STD,
    STK_OP_AUGMENT_PLANAR,
    STK_OP_AUGMENT_METHOD,
    STK_OP_AUGMENT_SEED,
    STK_OP_AUGMENT_FAST // only for JPEG
};
#define STK_OP_AUGMENT_ROWS                                                                        \
    [STK_OP_AUGMENT_SIZE] = STK_ARG("size", INTS, "height and width", .is_required = true),        \
    [STK_OP_AUGMENT_SCALE] = STK_ARG(                                                              \
        "scale", FLOATS, "the part's share of the image, least and most; without it 0.08 to 1",    \
        .is_open = true),                                                                          \
    [STK_OP_AUGMENT_RATIO] = STK_ARG(                                                              \
        "ratio", FLOATS, "its width over its height, least and most; without it 3/4 to 4/3",       \
        .is_open = true),                                                                          \
    [STK_OP_AUGMENT_FLIP] = STK_ARG("flip", FLOAT, "probability of mirroring"),                    \
    [STK_OP_AUGMENT_MEAN] =                                                                        \
        STK_ARG("mean", FLOATS,                                                                    \
                "of each channel, for values of 0 to 1; without mean and std the result is uint8", \
                .is_open = true),                                                                  \
    [STK_OP_AUGMENT_STD] = STK_ARG("std", FLOATS, "of each channel", .is_open = true),             \
    [STK_OP_AUGMENT_PLANAR] = STK_ARG("planar", BOOL, "channels first"),                           \
    [STK_OP_AUGMENT_METHOD] =                                                                      \
        STK_ARG("method", TEXT, "interpolation", .choices = "pil_bilinear,bilinear",               \
                .fallback_text = "pil_bilinear"),                                                  \
    [STK_OP_AUGMENT_SEED] = STK_OP_SEED_ROW

STK_MUST_CHECK enum stoker_status stk_op_augment_read(const struct stk_op_infer *c,
                                                      int64_t channels, struct stk_op_augment *g,
                                                      struct stoker_err *err);
// The same, once for all blocks; freed with stk_free.
STK_MUST_CHECK enum stoker_status stk_op_augment_prepare(const struct stk_op_infer *c,
                                                         int64_t channels, void **out,
                                                         struct stoker_err *err);
// The result's shape.
struct stk_shape stk_op_augment_shape(const struct stk_op_augment *g, int64_t channels);
// Element i's part of an image of height x width, and whether it is mirrored.
STK_MUST_CHECK enum stoker_status stk_op_augment_draw(const struct stk_op_run *r, int64_t i,
                                                      const struct stk_op_augment *g,
                                                      uint32_t height, uint32_t width,
                                                      struct stk_image_box *box, bool *is_mirrored,
                                                      struct stoker_err *err);
