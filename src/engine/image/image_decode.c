// SPDX-License-Identifier: Apache-2.0
// Chooses the decoder. A JPEG goes to our own decoder; files that it doesn't support, or finds
// damaged, go to libjpeg, which decodes what it can.
#include "base/assert.h"
#include "engine/image/image_codec_impl.h"

#include "engine/image/jpeg.h"

#include <string.h>

#define WHOLE_BYTES_MAX ((uint64_t)4 << 20) // most bytes of pixels that expect_whole reserves
#define WHOLE_PARTS 64                      // and at most 1/64 of the budget

enum stk_image_format stk_image_sniff(const uint8_t *data, size_t size)
{
    if (size >= 3 && memcmp(data, "\xff\xd8\xff", 3) == 0) {
        return STK_IMAGE_JPEG;
    }
    if (size >= 4 && memcmp(data, "\x89PNG", 4) == 0) {
        return STK_IMAGE_PNG;
    }
    if (size >= 4 && memcmp(data, "GIF8", 4) == 0) {
        return STK_IMAGE_GIF;
    }
    if (size >= 2 && memcmp(data, "BM", 2) == 0) {
        return STK_IMAGE_BMP;
    }
    if (size >= 12 && memcmp(data, "RIFF", 4) == 0 && memcmp(data + 8, "WEBP", 4) == 0) {
        return STK_IMAGE_WEBP;
    }
    return STK_IMAGE_UNKNOWN;
}

static enum stoker_status too_large(const struct stk_image_context *c, struct stoker_err *err)
{
    return stk_err_set(err, STOKER_ELIMIT, "a JPEG of more than %llu pixels",
                       (unsigned long long)c->max_pixels);
}

enum stoker_status stk_image_jpeg_shape(struct stk_image_context *c, const uint8_t *data,
                                        size_t size, struct stk_image_shape *shape,
                                        struct stoker_err *err)
{
    c->jpeg->max_pixels = c->max_pixels;
    enum stk_jpeg_status status = stk_jpeg_open(c->jpeg, data, size);
    if (status == STK_JPEG_LIMIT) {
        return too_large(c, err);
    }
    if (status != STK_JPEG_OK) {
        return stk_image_libjpeg_shape(c, data, size, shape, err);
    }
    *shape = (struct stk_image_shape){c->jpeg->height, c->jpeg->width, c->jpeg->components};
    return STOKER_OK;
}

// The task of our own decoder, if it supports the file.
struct own {
    struct stk_jpeg_options opt;
    struct stk_jpeg_task task;
    void *given;   // the job's pixels pointer before
    bool is_final; // the job's status is final: nothing is left to do
    bool is_ready;
};

static enum stoker_status check_options(const struct stk_image_jpeg_options *opt,
                                        struct stoker_err *err)
{
    uint32_t ratio = opt->ratio ? opt->ratio : 1;
    if (opt->channels != 0 && opt->channels != 1 && opt->channels != 3) {
        return stk_err_set(err, STOKER_EUSAGE, "decode_jpeg: channels must be 0, 1 or 3, not %u",
                           opt->channels);
    }
    if (ratio > 8 || (ratio & (ratio - 1))) {
        return stk_err_set(err, STOKER_EUSAGE, "decode_jpeg: ratio must be 1, 2, 4 or 8, not %u",
                           ratio);
    }
    return STOKER_OK;
}

// Random crops vary in size: for a small image, reserves memory for the whole image at once, so
// that later crops fit. If there is no memory for that, each crop takes what it needs.
static void expect_whole(struct stk_image_context *c, const struct stk_jpeg_options *opt,
                         uint32_t channels)
{
    struct stk_jpeg_options whole = *opt;
    uint32_t width, height;
    whole.crop_x = whole.crop_y = whole.crop_w = whole.crop_h = 0;
    if (stk_jpeg_output_size(c->jpeg, &whole, &width, &height) != STK_JPEG_OK) {
        return;
    }
    uint64_t bytes = (uint64_t)width * height * channels;
    if (bytes <= c->pixels.size || bytes > WHOLE_BYTES_MAX || bytes > c->max_bytes / WHOLE_PARTS) {
        return;
    }
    (void)stk_image_buffer_reserve(&c->pixels, bytes);
    (void)stk_image_buffer_reserve(&c->scratch, stk_jpeg_scratch_size(c->jpeg, &whole));
}

// Reserves memory for the pixels and the decoder's scratch.
static enum stoker_status prepare_task(struct stk_image_jpeg_job *job, struct own *own)
{
    struct stk_image_context *c = job->context;
    const struct stk_image_jpeg_options *opt = &job->opt;
    struct stk_jpeg *j = c->jpeg;
    uint32_t channels = opt->channels ? opt->channels : j->components;
    own->opt = (struct stk_jpeg_options){opt->crop_x,
                                         opt->crop_y,
                                         opt->crop_width,
                                         opt->crop_height,
                                         opt->ratio,
                                         channels == 1 ? STK_JPEG_GREY : STK_JPEG_RGB,
                                         opt->is_accurate_dct ? STK_JPEG_ISLOW : STK_JPEG_IFAST,
                                         opt->is_box_upsampled ? STK_JPEG_BOX : STK_JPEG_FANCY,
                                         opt->is_checked,
                                         opt->has_ends};
    struct stk_image_shape shape = {.channels = channels};
    if (stk_jpeg_output_size(j, &own->opt, &shape.width, &shape.height) != STK_JPEG_OK) {
        return stk_err_set(&job->err, STOKER_EUSAGE,
                           "decode_jpeg: crop %u x %u at (%u, %u), ratio %u, does not fit an image "
                           "of %u x %u",
                           opt->crop_height, opt->crop_width, opt->crop_y, opt->crop_x, opt->ratio,
                           j->height, j->width);
    }
    if (opt->crop_width && !job->out.pixels) {
        expect_whole(c, &own->opt, channels);
    }
    enum stoker_status claimed = stk_image_claim(c, &job->out, &shape, STK_IMAGE_U8, &job->err);
    if (claimed != STOKER_OK) {
        return claimed;
    }
    size_t size = stk_jpeg_scratch_size(j, &own->opt);
    void *scratch = stk_image_buffer_reserve(&c->scratch, size);
    if (!scratch) {
        return stk_image_no_memory(c, size, &job->err);
    }
    size_t stride = job->out.height > 1 ? job->out.stride : (size_t)job->out.width * channels;
    own->task = (struct stk_jpeg_task){j,       &own->opt,       job->out.pixels, stride,
                                       scratch, c->scratch.size, STK_JPEG_OK};
    return STOKER_OK;
}

static void begin_own(struct stk_image_jpeg_job *job, struct own *own)
{
    struct stk_jpeg *j = job->context->jpeg;
    *own = (struct own){.given = job->out.pixels};
    job->status = check_options(&job->opt, &job->err);
    own->is_final = job->status != STOKER_OK;
    if (own->is_final) {
        return;
    }
    j->max_pixels = job->context->max_pixels;
    enum stk_jpeg_status opened = stk_jpeg_open(j, job->data, job->size);
    if (opened == STK_JPEG_NOT_MINE || opened == STK_JPEG_BAD) {
        return;
    }
    job->status =
        opened == STK_JPEG_LIMIT ? too_large(job->context, &job->err) : prepare_task(job, own);
    own->is_final = job->status != STOKER_OK;
    own->is_ready = job->status == STOKER_OK;
}

static void end_own(struct stk_image_jpeg_job *job, struct own *own)
{
    if (own->is_final || (own->is_ready && own->task.status == STK_JPEG_OK)) {
        return;
    }
    job->out.pixels = own->given;
    job->status = stk_image_libjpeg_decode(job->context, job->data, job->size, &job->opt, &job->out,
                                           &job->err);
}

static void run_own(struct stk_jpeg_task *t)
{
    t->status = stk_jpeg_decode(t->j, t->opt, t->out, t->stride, t->scratch, t->scratch_size);
}

void stk_image_decode_jpegs(struct stk_image_jpeg_job *jobs, int count)
{
    STK_ASSERT(count >= 1 && count <= 2);
    struct own own[2];
    for (int i = 0; i < count; i++) {
        begin_own(&jobs[i], &own[i]);
    }
    if (count == 2 && own[0].is_ready && own[1].is_ready) {
        stk_jpeg_decode_two(&own[0].task, &own[1].task);
    } else {
        for (int i = 0; i < count; i++) {
            if (own[i].is_ready) {
                run_own(&own[i].task);
            }
        }
    }
    for (int i = 0; i < count; i++) {
        end_own(&jobs[i], &own[i]);
    }
}

enum stoker_status stk_image_decode_jpeg(struct stk_image_context *c, const uint8_t *data,
                                         size_t size, const struct stk_image_jpeg_options *opt,
                                         struct stk_image *out, struct stoker_err *err)
{
    struct stk_image_jpeg_job job = {
        .context = c, .data = data, .size = size, .opt = *opt, .out = *out};
    stk_err_init(&job.err);
    stk_image_decode_jpegs(&job, 1);
    *out = job.out;
    if (job.status != STOKER_OK && err) {
        *err = job.err;
    }
    return job.status;
}

// The largest reduction that leaves the crop at least as large as the output.
static uint32_t choose_ratio(const struct stk_image_jpeg_options *o, const struct stk_image *out)
{
    uint32_t ratio = 1;
    while (ratio < 8 && o->crop_width / (2 * ratio) >= out->width &&
           o->crop_height / (2 * ratio) >= out->height) {
        ratio *= 2;
    }
    return ratio;
}

void stk_image_jpeg_scale_crop(struct stk_image_jpeg_options *o, const struct stk_image *out)
{
    if (!o->crop_width || !o->crop_height) {
        return;
    }
    uint32_t ratio = choose_ratio(o, out);
    o->ratio = ratio;
    o->crop_x /= ratio;
    o->crop_y /= ratio;
    o->crop_width /= ratio;
    o->crop_height /= ratio;
}

static enum stoker_status not_an_image(struct stoker_err *err)
{
    return stk_err_set(err, STOKER_EINPUT,
                       "not an image file: JPEG, PNG, GIF, BMP and WebP can be decoded");
}

static enum stoker_status check_gif(uint32_t channels, struct stoker_err *err)
{
    if (channels == 0 || channels == 3) {
        return STOKER_OK;
    }
    return stk_err_set(err, STOKER_EUSAGE, "a GIF has 3 channels, not %u", channels);
}

enum stoker_status stk_image_decode_any(struct stk_image_context *c, const uint8_t *data,
                                        size_t size, uint32_t channels, struct stk_image *out,
                                        struct stoker_err *err)
{
    struct stk_image_jpeg_options opt = {.channels = channels};
    enum stoker_status status;
    switch (stk_image_sniff(data, size)) {
    case STK_IMAGE_JPEG:
        return stk_image_decode_jpeg(c, data, size, &opt, out, err);
    case STK_IMAGE_PNG:
        return stk_image_decode_png(c, data, size, channels, false, out, err);
    case STK_IMAGE_BMP:
        return stk_image_decode_bmp(c, data, size, channels, out, err);
    case STK_IMAGE_WEBP:
        return stk_image_decode_webp(c, data, size, channels, out, err);
    case STK_IMAGE_GIF:
        status = check_gif(channels, err);
        return status == STOKER_OK ? stk_image_decode_gif(c, data, size, out, err) : status;
    default:
        return not_an_image(err);
    }
}

static enum stoker_status read_shape(struct stk_image_context *c, const uint8_t *data, size_t size,
                                     uint32_t channels, struct stk_image_shape *shape,
                                     struct stoker_err *err)
{
    enum stoker_status status;
    switch (stk_image_sniff(data, size)) {
    case STK_IMAGE_JPEG:
        status = stk_image_jpeg_shape(c, data, size, shape, err);
        if (status == STOKER_OK) {
            shape->channels = channels ? channels : shape->channels == 1 ? 1 : 3;
        }
        return status;
    case STK_IMAGE_PNG:
        return stk_image_png_shape(c, data, size, channels, shape, err);
    case STK_IMAGE_BMP:
        return stk_image_bmp_shape(data, size, channels, shape, err);
    case STK_IMAGE_WEBP:
        return stk_image_webp_shape(data, size, channels, shape, err);
    case STK_IMAGE_GIF:
        status = check_gif(channels, err);
        return status == STOKER_OK ? stk_image_gif_shape(data, size, shape, err) : status;
    default:
        return not_an_image(err);
    }
}

enum stoker_status stk_image_any_shape(struct stk_image_context *c, const uint8_t *data,
                                       size_t size, uint32_t channels,
                                       struct stk_image_shape *shape, struct stoker_err *err)
{
    enum stoker_status status = read_shape(c, data, size, channels, shape, err);
    return status == STOKER_OK
               ? stk_image_check_pixels(c, "an image", shape->height, shape->width, err)
               : status;
}
