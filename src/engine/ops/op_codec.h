// SPDX-License-Identifier: Apache-2.0
// Decoding within other operations: pixels of JPEG files as specified by an operation's attributes
// (those of decode_jpeg) and inputs, two files at a time.
#pragma once

#include "engine/image/image_codec.h"
#include "engine/ops/op_util.h"

// The attribute "crop" of an operation that decodes and crops. The part refers to the image as
// decode_jpeg returns it: the rest of the file is still checked for damage, and PNG is accepted
// too. WINDOW, decode_and_crop_jpeg's own, does neither.
enum stk_op_crop {
    STK_OP_CROP_NONE,
    STK_OP_CROP_WINDOW,  // "crop_window", or the second input: y, x, height, width
    STK_OP_CROP_BOX,     // the same, for any file
    STK_OP_CROP_CENTRAL, // "central_fraction"
    STK_OP_CROP_SLICE,   // y, x of "crop_window" or the second input; "slice_size": height, width
    STK_OP_CROP_RANGES // "ranges": strided_slice's items for rows and columns, steps of 1; computed
                       // begins and ends are the inputs after the first
};

// Argument rows of decoders: those of decode_jpeg, then of operations that decode and crop.
enum {
    STK_OP_DECODE_CHANNELS,
    STK_OP_DECODE_RATIO,
    STK_OP_DECODE_FANCY_UPSCALING,
    STK_OP_DECODE_TRY_RECOVER_TRUNCATED,
    STK_OP_DECODE_ACCEPTABLE_FRACTION,
    STK_OP_DECODE_DCT_METHOD,
    STK_OP_DECODE_CROP_WINDOW,
    STK_OP_DECODE_CROP,
    STK_OP_DECODE_CENTRAL_FRACTION,
    STK_OP_DECODE_SLICE_SIZE,
    STK_OP_DECODE_RANGES,
    STK_OP_DECODE_ROWS
};
#define STK_OP_JPEG_ROWS                                                                           \
    [STK_OP_DECODE_CHANNELS] =                                                                     \
        STK_ARG("channels", INT, "channels of the result; 0: as many as the file has"),            \
    [STK_OP_DECODE_RATIO] = STK_ARG("ratio", INT, "sides divided by 1, 2, 4 or 8", .fallback = 1), \
    [STK_OP_DECODE_FANCY_UPSCALING] =                                                              \
        STK_ARG("fancy_upscaling", BOOL, "colors between those that the file has", .fallback = 1), \
    [STK_OP_DECODE_TRY_RECOVER_TRUNCATED] = STK_ARG(                                               \
        "try_recover_truncated", BOOL, "a file that ends too early is gray from there on"),        \
    [STK_OP_DECODE_ACCEPTABLE_FRACTION] = STK_ARG(                                                 \
        "acceptable_fraction", FLOAT, "of the rows that must be there then", .fallback_float = 1), \
    [STK_OP_DECODE_DCT_METHOD] = STK_ARG("dct_method", TEXT, "method; empty: the fast one",        \
                                         .choices = ",INTEGER_FAST,INTEGER_ACCURATE")
#define STK_OP_WINDOW_ROW                                                                          \
    [STK_OP_DECODE_CROP_WINDOW] =                                                                  \
        STK_ARG("crop_window", INTS, "y, x, height and width", .is_input_too = true)
#define STK_OP_PART_ROWS                                                                           \
    STK_OP_JPEG_ROWS, STK_OP_WINDOW_ROW,                                                           \
        [STK_OP_DECODE_CROP] = STK_ARG("crop", INT, "the part to decode",                          \
                                       .choices = "none,window,box,central,slice,ranges"),         \
        [STK_OP_DECODE_CENTRAL_FRACTION] =                                                         \
            STK_ARG("central_fraction", FLOAT, "as in central_crop", .fallback_float = 1),         \
        [STK_OP_DECODE_SLICE_SIZE] =                                                               \
            STK_ARG("slice_size", INTS, "height and width of a slice", .is_open = true),           \
        [STK_OP_DECODE_RANGES] = STK_ARG(                                                          \
            "ranges", INTS, "rows and columns, as strided_slice has them", .is_open = true)

// Decodes elements i and perhaps i + 1 of input 0 with the contexts of stk_op_image_contexts;
// returns how many of them.
int stk_op_decode_some(const struct stk_op_run *r, int64_t i, struct stk_image_context *const *c,
                       struct stk_image_jpeg_job *jobs);
