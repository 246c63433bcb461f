// SPDX-License-Identifier: Apache-2.0
// BMP as tf.io.decode_bmp reads it: uncompressed; 8 bits (as gray, ignoring the palette), 24 or 32
// bits a pixel; bottom-up or top-down. Converts BGR to RGB.
#include "engine/image/image_codec_impl.h"

#include <string.h>

enum { HEADER = 54 };

static uint32_t le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

struct bmp {
    struct stk_image_shape shape;
    size_t first, stride; // of rows in the file
    bool is_top_down;
};

static enum stoker_status read_header(const uint8_t *data, size_t size, uint32_t channels,
                                      struct bmp *b, struct stoker_err *err)
{
    if (size < HEADER || memcmp(data, "BM", 2) != 0) {
        return stk_err_set(err, STOKER_EINPUT, "a damaged BMP, or not a BMP: no header");
    }
    int64_t width = (int32_t)le32(data + 18), height = (int32_t)le32(data + 22);
    uint32_t bits = le32(data + 28) & 0xffff, compression = le32(data + 30);
    b->is_top_down = height < 0;
    height = height < 0 ? -height : height;
    b->first = le32(data + 10);
    if (width <= 0 || height <= 0 || width > STK_IMAGE_MAX_SIDE || height > STK_IMAGE_MAX_SIDE) {
        return stk_err_set(err, STOKER_EINPUT, "a BMP of %lld x %lld pixels", (long long)height,
                           (long long)width);
    }
    if ((bits != 8 && bits != 24 && bits != 32) || (compression != 0 && compression != 3)) {
        return stk_err_set(
            err, STOKER_EINPUT,
            "a BMP of %u bits a pixel, compression %u; 8, 24 or 32 uncompressed can be "
            "decoded",
            bits, compression);
    }
    b->shape = (struct stk_image_shape){(uint32_t)height, (uint32_t)width, bits / 8};
    if (channels && channels != b->shape.channels) {
        return stk_err_set(err, STOKER_EINPUT, "a BMP of %u channels, not %u", b->shape.channels,
                           channels);
    }
    b->stride = ((size_t)width * b->shape.channels + 3) & ~(size_t)3;
    if (b->first > size || (size - b->first) / b->stride < (size_t)height) {
        return stk_err_set(err, STOKER_EINPUT, "a damaged BMP: the data end too early");
    }
    return STOKER_OK;
}

enum stoker_status stk_image_bmp_shape(const uint8_t *data, size_t size, uint32_t channels,
                                       struct stk_image_shape *shape, struct stoker_err *err)
{
    struct bmp b;
    enum stoker_status status = read_header(data, size, channels, &b, err);
    if (status == STOKER_OK) {
        *shape = b.shape;
    }
    return status;
}

enum stoker_status stk_image_decode_bmp(struct stk_image_context *c, const uint8_t *data,
                                        size_t size, uint32_t channels, struct stk_image *out,
                                        struct stoker_err *err)
{
    struct bmp b;
    enum stoker_status status = read_header(data, size, channels, &b, err);
    if (status == STOKER_OK) {
        status = stk_image_claim(c, out, &b.shape, STK_IMAGE_U8, err);
    }
    if (status != STOKER_OK) {
        return status;
    }
    size_t n = b.shape.channels;
    for (uint32_t y = 0; y < out->height; y++) {
        uint32_t row = b.is_top_down ? y : out->height - 1 - y;
        const uint8_t *from = data + b.first + row * b.stride;
        uint8_t *to = stk_image_row(out, y);
        memcpy(to, from, out->width * n);
        for (size_t i = 0; n >= 3 && i < out->width; i++) {
            to[i * n] = from[i * n + 2];
            to[i * n + 2] = from[i * n];
        }
    }
    return STOKER_OK;
}
