// SPDX-License-Identifier: Apache-2.0
// The image kernels with flat arguments, as a shared library for tests/peers/image_vs_tf: images
// are dense HWC, options plain numbers. Each function returns 0 or an error code.
#include "engine/image/image_codec.h"
#include "engine/image/image_colour.h"
#include "engine/image/image_geometry.h"

#include <string.h>

static struct stk_image_context *context;
static struct stoker_err last;

const char *peer_error(void);
int peer_start(int cpu);

const char *peer_error(void)
{
    return last.message;
}

// Keeps one context; cpu -1 is the best there is. Returns the level in use.
int peer_start(int cpu)
{
    if (!context) {
        context = stk_image_context_create();
    }
    static int best = -1;
    if (best < 0) {
        best = context ? (int)context->cpu : 0;
    }
    if (context) {
        context->cpu = (enum stk_image_cpu)(cpu < 0 || cpu > best ? best : cpu);
    }
    return context ? (int)context->cpu : -1;
}

static struct stk_image dense(const void *pixels, const int32_t *shape, int type)
{
    struct stk_image im = {.pixels = (void *)(uintptr_t)pixels,
                           .height = (uint32_t)shape[0],
                           .width = (uint32_t)shape[1],
                           .channels = (uint32_t)shape[2],
                           .type = (enum stk_image_type)type};
    im.stride = (size_t)im.width * im.channels * stk_image_type_size(im.type);
    return im;
}

int peer_resize(const void *in, const int32_t *in_shape, int in_type, void *out,
                const int32_t *out_shape, int out_type, int method, int antialias, int mirrored,
                int planar, const float *scale, const float *offset);

// `scale` may be NULL: not normalized.
int peer_resize(const void *in, const int32_t *in_shape, int in_type, void *out,
                const int32_t *out_shape, int out_type, int method, int antialias, int mirrored,
                int planar, const float *scale, const float *offset)
{
    struct stk_image from = dense(in, in_shape, in_type), to = dense(out, out_shape, out_type);
    struct stk_image_resize_options opt = {.method = (enum stk_image_method)method,
                                           .antialias = antialias,
                                           .is_mirrored = mirrored,
                                           .is_planar = planar,
                                           .is_normalised = scale != NULL};
    for (uint32_t c = 0; scale && c < to.channels && c < 4; c++) {
        opt.scale[c] = scale[c];
        opt.offset[c] = offset[c];
    }
    if (planar) {
        to.stride /= to.channels;
    }
    return (int)stk_image_resize(context, &from, &opt, &to, &last);
}

int peer_op(const char *name, const void *in, const int32_t *in_shape, int in_type, void *out,
            const int32_t *out_shape, int out_type, const double *args);

static int colour(const char *name, const struct stk_image *in, const struct stk_image *out,
                  const double *args)
{
    static const char *const spaces[] = {"rgb_to_hsv", "hsv_to_rgb"};
    float a = (float)args[0];
    for (int i = 0; i < 2; i++) {
        if (!strcmp(name, spaces[i])) {
            return (int)stk_image_change_space(in, (enum stk_image_space)i, out, &last);
        }
    }
    if (!strcmp(name, "adjust_brightness")) {
        return (int)stk_image_adjust_brightness(in, a, out, &last);
    }
    if (!strcmp(name, "adjust_contrast")) {
        return (int)stk_image_adjust_contrast(in, a, out, &last);
    }
    if (!strcmp(name, "adjust_saturation")) {
        return (int)stk_image_adjust_saturation(in, a, out, &last);
    }
    if (!strcmp(name, "adjust_hue")) {
        return (int)stk_image_adjust_hue(in, a, out, &last);
    }
    if (!strcmp(name, "adjust_gamma")) {
        return (int)stk_image_adjust_gamma(in, a, (float)args[1], out, &last);
    }
    if (!strcmp(name, "rgb_to_grayscale")) {
        return (int)stk_image_rgb_to_grayscale(in, out, &last);
    }
    if (!strcmp(name, "grayscale_to_rgb")) {
        return (int)stk_image_grayscale_to_rgb(in, out, &last);
    }
    if (!strcmp(name, "per_image_standardization")) {
        return (int)stk_image_standardize(in, out, &last);
    }
    if (!strcmp(name, "convert_image_dtype")) {
        return (int)stk_image_convert_type(in, args[0] != 0, out, &last);
    }
    return -1;
}

int peer_op(const char *name, const void *in, const int32_t *in_shape, int in_type, void *out,
            const int32_t *out_shape, int out_type, const double *args)
{
    struct stk_image from = dense(in, in_shape, in_type), to = dense(out, out_shape, out_type);
    if (!strcmp(name, "flip_left_right")) {
        return (int)stk_image_flip_left_right(&from, &to, &last);
    }
    if (!strcmp(name, "flip_up_down")) {
        return (int)stk_image_flip_up_down(&from, &to, &last);
    }
    if (!strcmp(name, "transpose")) {
        return (int)stk_image_transpose(&from, &to, &last);
    }
    if (!strcmp(name, "rot90")) {
        return (int)stk_image_rot90(&from, (int)args[0], &to, &last);
    }
    if (!strcmp(name, "pad_to_bounding_box")) {
        return (int)stk_image_pad(&from, (uint32_t)args[0], (uint32_t)args[1], &to, &last);
    }
    if (!strcmp(name, "resize_with_crop_or_pad")) {
        return (int)stk_image_crop_or_pad(&from, &to, &last);
    }
    if (!strcmp(name, "central_crop")) {
        struct stk_image_box box;
        struct stk_image view;
        int code = (int)stk_image_central_box(from.height, from.width, args[0], &box, &last);
        if (code == 0) {
            code = (int)stk_image_crop(&from, &box, &view, &last);
        }
        return code ? code : (int)stk_image_copy(&view, &to, &last);
    }
    return colour(name, &from, &to, args);
}

int peer_decode(const char *name, const uint8_t *data, size_t size, const int32_t *args,
                float fraction, void *out, size_t capacity, int32_t *shape);

// args of a JPEG: channels, ratio, box upsampling, accurate DCT, recover, crop y, x, height, width;
// of any other file: channels, 16 bits. The pixels come dense, their shape in `shape`.
int peer_decode(const char *name, const uint8_t *data, size_t size, const int32_t *args,
                float fraction, void *out, size_t capacity, int32_t *shape)
{
    struct stk_image im = {0};
    enum stoker_status status;
    if (!strcmp(name, "jpeg")) {
        struct stk_image_jpeg_options opt = {(uint32_t)args[0],
                                             (uint32_t)args[1],
                                             args[2] != 0,
                                             args[3] != 0,
                                             args[4] != 0,
                                             1 - fraction,
                                             (uint32_t)args[5],
                                             (uint32_t)args[6],
                                             (uint32_t)args[7],
                                             (uint32_t)args[8],
                                             false,
                                             false};
        status = stk_image_decode_jpeg(context, data, size, &opt, &im, &last);
    } else if (!strcmp(name, "any")) {
        status = stk_image_decode_any(context, data, size, (uint32_t)args[0], &im, &last);
    } else {
        status =
            stk_image_decode_png(context, data, size, (uint32_t)args[0], args[1] != 0, &im, &last);
    }
    size_t bytes = im.stride * im.height;
    if (status != STOKER_OK || bytes > capacity) {
        return status != STOKER_OK ? (int)status : -1;
    }
    memcpy(out, im.pixels, bytes);
    shape[0] = (int32_t)im.height;
    shape[1] = (int32_t)im.width;
    shape[2] = (int32_t)im.channels;
    return 0;
}

int peer_encode(const char *name, const void *in, const int32_t *in_shape, int in_type, int quality,
                int progressive, int full_chroma, uint8_t *out, size_t capacity, size_t *size);

int peer_encode(const char *name, const void *in, const int32_t *in_shape, int in_type, int quality,
                int progressive, int full_chroma, uint8_t *out, size_t capacity, size_t *size)
{
    struct stk_image from = dense(in, in_shape, in_type);
    struct stk_image_jpeg_encoding e;
    const uint8_t *bytes;
    stk_image_jpeg_defaults(&e);
    e.quality = quality;
    e.is_progressive = progressive != 0;
    e.is_chroma_full = full_chroma != 0;
    enum stoker_status status =
        !strcmp(name, "jpeg") ? stk_image_encode_jpeg(context, &from, &e, &bytes, size, &last)
                              : stk_image_encode_png(context, &from, quality, &bytes, size, &last);
    if (status == STOKER_OK && *size <= capacity) {
        memcpy(out, bytes, *size);
    }
    return status == STOKER_OK && *size > capacity ? -1 : (int)status;
}
