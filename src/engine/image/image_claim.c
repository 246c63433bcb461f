// SPDX-License-Identifier: Apache-2.0
// Limits of a decoder: the number of pixels, and the memory of a decoded image. It is the caller's
// if given and it fits, else the context's, within its limits of pixels and bytes.
#include "engine/image/image_codec_impl.h"

enum stoker_status stk_image_check_pixels(const struct stk_image_context *c, const char *what,
                                          uint32_t height, uint32_t width, struct stoker_err *err)
{
    return (uint64_t)height * width <= c->max_pixels
               ? STOKER_OK
               : stk_err_set(err, STOKER_ELIMIT, "%s of %u x %u pixels; at most %llu are allowed",
                             what, height, width, (unsigned long long)c->max_pixels);
}

enum stoker_status stk_image_claim(struct stk_image_context *c, struct stk_image *out,
                                   const struct stk_image_shape *shape, enum stk_image_type type,
                                   struct stoker_err *err)
{
    enum stoker_status status =
        stk_image_check_pixels(c, "an image", shape->height, shape->width, err);
    if (status != STOKER_OK) {
        return status;
    }
    size_t row = (size_t)shape->width * shape->channels * stk_image_type_size(type);
    if (out->pixels) {
        if (out->height != shape->height || out->width != shape->width ||
            out->channels != shape->channels || out->type != type) {
            return stk_err_set(err, STOKER_EUSAGE,
                               "the image is %u x %u x %u, but its memory is %u x %u x %u",
                               shape->height, shape->width, shape->channels, out->height,
                               out->width, out->channels);
        }
        return stk_image_check(out, "decode", err);
    }
    if ((uint64_t)row * shape->height > c->max_bytes) {
        return stk_err_set(err, STOKER_ELIMIT,
                           "an image of %u x %u pixels needs %llu bytes; the budget has %llu",
                           shape->height, shape->width, (unsigned long long)row * shape->height,
                           (unsigned long long)c->max_bytes);
    }
    void *pixels = stk_image_buffer_reserve(&c->pixels, row * shape->height);
    if (!pixels) {
        return stk_image_no_memory(c, row * shape->height, err);
    }
    *out = (struct stk_image){pixels, shape->height, shape->width, shape->channels, type, row};
    return STOKER_OK;
}
