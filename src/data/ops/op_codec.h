// SPDX-License-Identifier: Apache-2.0
// Decoding inside other operations: the pixels of JPEG files that an operation's attributes (those
// of decode_jpeg) and inputs ask for, two files at a time.
#ifndef STK_DATA_OPS_OP_CODEC_H
#define STK_DATA_OPS_OP_CODEC_H

#include "data/image/image_codec.h"
#include "data/ops/op_util.h"

// What attribute "crop" says of an operation that decodes and crops. The part is one of the image
// as decode_jpeg gives it: whatever is not wanted of the file is still checked for damage, and PNG
// is read too. Only of WINDOW, decode_and_crop_jpeg's own, neither holds.
enum stk_op_crop {
    STK_OP_CROP_NONE,
    STK_OP_CROP_WINDOW,  // "crop_window", or the second input: y, x, height, width
    STK_OP_CROP_BOX,     // the same of any file
    STK_OP_CROP_CENTRAL, // "central_fraction"
    STK_OP_CROP_SLICE,   // y, x of "crop_window" or the second input; "slice_size": height, width
    STK_OP_CROP_RANGES // "ranges": strided_slice's items for rows and columns, steps of 1; computed
                       // begins and ends are the inputs behind the first
};

// Decodes elements i and perhaps i + 1 of input 0 with the contexts of stk_op_image_contexts;
// returns how many of them.
int stk_op_decode_some(const struct stk_op_run *r, int64_t i, struct stk_image_context *const *c,
                       struct stk_image_jpeg_job *jobs);

#endif
