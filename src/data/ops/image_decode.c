// SPDX-License-Identifier: Apache-2.0
// Which decoder for which file. A JPEG goes to our own decoder; what that does not take, or calls
// damaged, goes to libjpeg, which says what can still be had of it.
#include "data/ops/image_codec_impl.h"

#include "data/jpeg/jpeg.h"

#include <string.h>

enum stk_image_format stk_image_sniff(const uint8_t *data, size_t size)
{
    if (size >= 3 && memcmp(data, "\xff\xd8\xff", 3) == 0)
        return STK_IMAGE_JPEG;
    if (size >= 4 && memcmp(data, "\x89PNG", 4) == 0)
        return STK_IMAGE_PNG;
    if (size >= 4 && memcmp(data, "GIF8", 4) == 0)
        return STK_IMAGE_GIF;
    if (size >= 2 && memcmp(data, "BM", 2) == 0)
        return STK_IMAGE_BMP;
    return STK_IMAGE_UNKNOWN;
}

enum stk_status stk_image_claim(struct stk_image_context *c, struct stk_image *out,
                                const struct stk_image_shape *shape, enum stk_image_type type,
                                struct stk_err *err)
{
    if ((uint64_t)shape->height * shape->width > c->max_pixels)
        return stk_err_set(err, STK_ELIMIT, "an image of %u x %u pixels; at most %llu are allowed",
                           shape->height, shape->width, (unsigned long long)c->max_pixels);
    size_t row = (size_t)shape->width * shape->channels * stk_image_type_size(type);
    if (out->pixels) {
        if (out->height != shape->height || out->width != shape->width ||
            out->channels != shape->channels || out->type != type)
            return stk_err_set(err, STK_EUSAGE,
                               "the image is %u x %u x %u, the memory for it %u x %u x %u",
                               shape->height, shape->width, shape->channels, out->height,
                               out->width, out->channels);
        return stk_image_check(out, "decode", err);
    }
    void *pixels = stk_image_buffer_reserve(&c->pixels, row * shape->height);
    if (!pixels)
        return stk_err_nomem(err);
    *out = (struct stk_image){pixels, shape->height, shape->width, shape->channels, type, row};
    return STK_OK;
}

static enum stk_status too_large(const struct stk_image_context *c, struct stk_err *err)
{
    return stk_err_set(err, STK_ELIMIT, "a JPEG of more than %llu pixels",
                       (unsigned long long)c->max_pixels);
}

enum stk_status stk_image_jpeg_shape(struct stk_image_context *c, const uint8_t *data, size_t size,
                                     struct stk_image_shape *shape, struct stk_err *err)
{
    c->jpeg->max_pixels = c->max_pixels;
    enum stk_jpeg_status status = stk_jpeg_open(c->jpeg, data, size);
    if (status == STK_JPEG_LIMIT)
        return too_large(c, err);
    if (status != STK_JPEG_OK)
        return stk_image_libjpeg_shape(c, data, size, shape, err);
    *shape = (struct stk_image_shape){c->jpeg->height, c->jpeg->width, c->jpeg->components};
    return STK_OK;
}

// *is_mine: whether the answer is final.
static enum stk_status decode_own(struct stk_image_context *c, const uint8_t *data, size_t size,
                                  const struct stk_image_jpeg_options *opt, struct stk_image *out,
                                  bool *is_mine, struct stk_err *err)
{
    struct stk_jpeg *j = c->jpeg;
    *is_mine = false;
    j->max_pixels = c->max_pixels;
    enum stk_jpeg_status status = stk_jpeg_open(j, data, size);
    if (status == STK_JPEG_NOT_MINE || status == STK_JPEG_BAD)
        return STK_EINPUT;
    *is_mine = true;
    if (status == STK_JPEG_LIMIT)
        return too_large(c, err);
    uint32_t channels = opt->channels ? opt->channels : j->components;
    struct stk_jpeg_options own = {opt->crop_x,
                                   opt->crop_y,
                                   opt->crop_width,
                                   opt->crop_height,
                                   opt->ratio,
                                   channels == 1 ? STK_JPEG_GREY : STK_JPEG_RGB,
                                   opt->is_accurate_dct ? STK_JPEG_ISLOW : STK_JPEG_IFAST,
                                   opt->is_box_upsampled ? STK_JPEG_BOX : STK_JPEG_FANCY};
    struct stk_image_shape shape = {.channels = channels};
    if (stk_jpeg_output_size(j, &own, &shape.width, &shape.height) != STK_JPEG_OK)
        return stk_err_set(err, STK_EUSAGE,
                           "decode_jpeg: crop %u x %u at (%u, %u), ratio %u, does not fit an image "
                           "of %u x %u",
                           opt->crop_height, opt->crop_width, opt->crop_y, opt->crop_x, opt->ratio,
                           j->height, j->width);
    enum stk_status claimed = stk_image_claim(c, out, &shape, STK_IMAGE_U8, err);
    if (claimed != STK_OK)
        return claimed;
    size_t need = stk_jpeg_scratch_size(j, &own);
    void *scratch = stk_image_buffer_reserve(&c->scratch, need);
    if (!scratch)
        return stk_err_nomem(err);
    size_t stride = out->height > 1 ? out->stride : (size_t)out->width * channels;
    status = stk_jpeg_decode(j, &own, out->pixels, stride, scratch, c->scratch.size);
    *is_mine = status == STK_JPEG_OK;
    return *is_mine ? STK_OK : STK_EINPUT;
}

enum stk_status stk_image_decode_jpeg(struct stk_image_context *c, const uint8_t *data, size_t size,
                                      const struct stk_image_jpeg_options *opt,
                                      struct stk_image *out, struct stk_err *err)
{
    bool is_mine;
    uint32_t ratio = opt->ratio ? opt->ratio : 1;
    if (opt->channels != 0 && opt->channels != 1 && opt->channels != 3)
        return stk_err_set(err, STK_EUSAGE, "decode_jpeg: channels must be 0, 1 or 3, not %u",
                           opt->channels);
    if (ratio > 8 || (ratio & (ratio - 1)))
        return stk_err_set(err, STK_EUSAGE, "decode_jpeg: ratio must be 1, 2, 4 or 8, not %u",
                           ratio);
    void *given = out->pixels;
    enum stk_status status = decode_own(c, data, size, opt, out, &is_mine, err);
    if (is_mine)
        return status;
    out->pixels = given;
    return stk_image_libjpeg_decode(c, data, size, opt, out, err);
}

// The largest scale that leaves the crop at least as large as the output.
static uint32_t choose_ratio(const struct stk_image_jpeg_options *o, const struct stk_image *out)
{
    uint32_t ratio = 1;
    while (ratio < 8 && o->crop_width / (2 * ratio) >= out->width &&
           o->crop_height / (2 * ratio) >= out->height)
        ratio *= 2;
    return ratio;
}

enum stk_status stk_image_jpeg_crop_resize(struct stk_image_context *c, const uint8_t *data,
                                           size_t size, const struct stk_image_jpeg_options *jpeg,
                                           bool is_scaled,
                                           const struct stk_image_resize_options *opt,
                                           const struct stk_image *out, struct stk_err *err)
{
    struct stk_image_jpeg_options o = *jpeg;
    struct stk_image crop = {0};
    if (is_scaled && o.crop_width && o.crop_height) {
        uint32_t ratio = choose_ratio(&o, out);
        o.ratio = ratio;
        o.crop_x /= ratio;
        o.crop_y /= ratio;
        o.crop_width /= ratio;
        o.crop_height /= ratio;
    }
    if (!o.channels)
        o.channels = out->channels;
    enum stk_status status = stk_image_decode_jpeg(c, data, size, &o, &crop, err);
    if (status != STK_OK)
        return status;
    return stk_image_resize(c, &crop, opt, out, err);
}

static enum stk_status not_an_image(struct stk_err *err)
{
    return stk_err_set(err, STK_EINPUT, "no image file: JPEG, PNG, GIF and BMP can be decoded");
}

static enum stk_status check_gif(uint32_t channels, struct stk_err *err)
{
    if (channels == 0 || channels == 3)
        return STK_OK;
    return stk_err_set(err, STK_EUSAGE, "a GIF has 3 channels, not %u", channels);
}

enum stk_status stk_image_decode_any(struct stk_image_context *c, const uint8_t *data, size_t size,
                                     uint32_t channels, struct stk_image *out, struct stk_err *err)
{
    struct stk_image_jpeg_options opt = {.channels = channels};
    enum stk_status status;
    switch (stk_image_sniff(data, size)) {
    case STK_IMAGE_JPEG:
        return stk_image_decode_jpeg(c, data, size, &opt, out, err);
    case STK_IMAGE_PNG:
        return stk_image_decode_png(c, data, size, channels, false, out, err);
    case STK_IMAGE_BMP:
        return stk_image_decode_bmp(c, data, size, channels, out, err);
    case STK_IMAGE_GIF:
        status = check_gif(channels, err);
        return status == STK_OK ? stk_image_decode_gif(c, data, size, out, err) : status;
    default:
        return not_an_image(err);
    }
}

static enum stk_status read_shape(struct stk_image_context *c, const uint8_t *data, size_t size,
                                  uint32_t channels, struct stk_image_shape *shape,
                                  struct stk_err *err)
{
    enum stk_status status;
    switch (stk_image_sniff(data, size)) {
    case STK_IMAGE_JPEG:
        status = stk_image_jpeg_shape(c, data, size, shape, err);
        if (status == STK_OK)
            shape->channels = channels ? channels : shape->channels == 1 ? 1 : 3;
        return status;
    case STK_IMAGE_PNG:
        return stk_image_png_shape(c, data, size, channels, shape, err);
    case STK_IMAGE_BMP:
        return stk_image_bmp_shape(data, size, channels, shape, err);
    case STK_IMAGE_GIF:
        status = check_gif(channels, err);
        return status == STK_OK ? stk_image_gif_shape(data, size, shape, err) : status;
    default:
        return not_an_image(err);
    }
}

enum stk_status stk_image_any_shape(struct stk_image_context *c, const uint8_t *data, size_t size,
                                    uint32_t channels, struct stk_image_shape *shape,
                                    struct stk_err *err)
{
    enum stk_status status = read_shape(c, data, size, channels, shape, err);
    if (status == STK_OK && (uint64_t)shape->height * shape->width > c->max_pixels)
        return stk_err_set(err, STK_ELIMIT, "an image of %u x %u pixels; at most %llu are allowed",
                           shape->height, shape->width, (unsigned long long)c->max_pixels);
    return status;
}
