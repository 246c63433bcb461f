// SPDX-License-Identifier: Apache-2.0
// WebP through libwebp, if built with it: 3 channels, or 4 with alpha. Animations are an error:
// even their first frame needs another library.
#include "engine/image/image_codec_impl.h"

#if STOKER_HAVE_WEBP
#include <webp/decode.h>

enum stoker_status stk_image_webp_shape(const uint8_t *data, size_t size, uint32_t channels,
                                        struct stk_image_shape *shape, struct stoker_err *err)
{
    WebPBitstreamFeatures f;
    if (WebPGetFeatures(data, size, &f) != VP8_STATUS_OK || f.width <= 0 || f.height <= 0) {
        return stk_err_set(err, STOKER_EINPUT,
                           "a damaged WebP file, or not a WebP file: no header");
    }
    if (f.has_animation) {
        return stk_err_set(err, STOKER_EINPUT,
                           "an animated WebP file; single pictures are decoded");
    }
    if (channels != 0 && channels != 3 && channels != 4) {
        return stk_err_set(err, STOKER_EINPUT, "a WebP file has 3 or 4 channels, not %u", channels);
    }
    channels = channels ? channels : f.has_alpha ? 4 : 3;
    *shape = (struct stk_image_shape){(uint32_t)f.height, (uint32_t)f.width, channels};
    return STOKER_OK;
}

enum stoker_status stk_image_decode_webp(struct stk_image_context *c, const uint8_t *data,
                                         size_t size, uint32_t channels, struct stk_image *out,
                                         struct stoker_err *err)
{
    struct stk_image_shape shape;
    enum stoker_status s = stk_image_webp_shape(data, size, channels, &shape, err);
    if (s == STOKER_OK) {
        s = stk_image_claim(c, out, &shape, STK_IMAGE_U8, err);
    }
    if (s != STOKER_OK) {
        return s;
    }
    size_t row = (size_t)out->width * out->channels;
    size_t stride = out->height > 1 ? out->stride : row, room = stride * (out->height - 1) + row;
    const uint8_t *done = shape.channels == 4
                              ? WebPDecodeRGBAInto(data, size, out->pixels, room, (int)stride)
                              : WebPDecodeRGBInto(data, size, out->pixels, room, (int)stride);
    return done ? STOKER_OK : stk_err_set(err, STOKER_EINPUT, "a damaged WebP file");
}
#else
static enum stoker_status without(struct stoker_err *err)
{
    return stk_err_set(err, STOKER_EINPUT, "a WebP file: this build has no libwebp to decode it");
}

enum stoker_status stk_image_webp_shape(const uint8_t *data, size_t size, uint32_t channels,
                                        struct stk_image_shape *shape, struct stoker_err *err)
{
    (void)data;
    (void)size;
    (void)channels;
    (void)shape;
    return without(err);
}

enum stoker_status stk_image_decode_webp(struct stk_image_context *c, const uint8_t *data,
                                         size_t size, uint32_t channels, struct stk_image *out,
                                         struct stoker_err *err)
{
    (void)c;
    (void)data;
    (void)size;
    (void)channels;
    (void)out;
    return without(err);
}
#endif
