// SPDX-License-Identifier: Apache-2.0
// Internals shared by the image codecs.
#pragma once

#include "engine/image/image_codec.h"

// --- image_claim.c
// A frame, canvas or picture of the file (`what`) within the context's limit: asked of each of them
// before work or memory in proportion to its size, since a file may hold a frame larger than its
// canvas.
enum stoker_status stk_image_check_pixels(const struct stk_image_context *c, const char *what,
                                          uint32_t height, uint32_t width, struct stoker_err *err);
// Makes `out` an image of this shape: checks the caller's memory, or takes the context's.
enum stoker_status stk_image_claim(struct stk_image_context *c, struct stk_image *out,
                                   const struct stk_image_shape *shape, enum stk_image_type type,
                                   struct stoker_err *err);

// --- image_libjpeg.c: decode_jpeg and its shape for every file that libjpeg can read.
enum stoker_status stk_image_libjpeg_shape(struct stk_image_context *c, const uint8_t *data,
                                           size_t size, struct stk_image_shape *shape,
                                           struct stoker_err *err);
enum stoker_status stk_image_libjpeg_decode(struct stk_image_context *c, const uint8_t *data,
                                            size_t size, const struct stk_image_jpeg_options *opt,
                                            struct stk_image *out, struct stoker_err *err);
