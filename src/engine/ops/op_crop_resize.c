// SPDX-License-Identifier: Apache-2.0
// crop_and_resize: parts of images (batch, height, width, channels), each resized to one size,
// float32 (boxes, height, width, channels). boxes (n, 4): top, left, bottom, right as shares of the
// image, 0 the first pixel's center and 1 the last's; reversed ones mirror; box_indices (n): the
// image of each. Attributes "crop_size" INTS, "method" TEXT ("bilinear", "nearest"),
// "extrapolation_value" FLOAT, for places outside of the image. As tf.image.crop_and_resize.
#include <math.h>
#include <string.h>

#include "engine/ops/op_util.h"

enum { ARG_CROP_SIZE, ARG_METHOD, ARG_EXTRAPOLATION_VALUE };
enum { BILINEAR, NEAREST }; // method
static const struct stk_arg_row crop_args[] = {
    [ARG_CROP_SIZE] = STK_ARG("crop_size", INTS, "height and width", .is_input_too = true),
    [ARG_METHOD] = STK_ARG("method", TEXT, "interpolation", .choices = "bilinear,nearest",
                           .fallback_text = "bilinear"),
    [ARG_EXTRAPOLATION_VALUE] =
        STK_ARG("extrapolation_value", FLOAT, "fill mode outside the image"),
    {0}};

static enum stoker_status crop_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    int64_t size[2] = {STK_UNKNOWN, STK_UNKNOWN};
    int count = 2;
    bool fits = stk_op_is_number(c->in[0].dtype) && !stk_op_is_half(c->in[0].dtype) &&
                c->in[0].shape.rank == 4 && c->in[1].dtype == STK_DT_F32 &&
                c->in[1].shape.rank == 2 && c->in[2].dtype == STK_DT_I32 &&
                c->in[2].shape.rank == 1;
    if (!fits) {
        return stk_err_set(err, STOKER_EINVAL,
                           "crop_and_resize: takes images (batch, height, width, channels), boxes "
                           "(n, 4) as float32 and their images' numbers (n) as int32");
    }
    if (c->args[ARG_CROP_SIZE].attr || (c->n_in > 3 && c->constant[3])) {
        if (!stk_op_static_ints(c, ARG_CROP_SIZE, 3, size, 2, &count) || count != 2 ||
            size[0] < 1 || size[1] < 1) {
            return stk_err_set(err, STOKER_EINVAL,
                               "crop_and_resize: crop_size is a height and a width");
        }
    }
    int64_t n = c->in[1].shape.dim[0] >= 0 ? c->in[1].shape.dim[0] : c->in[2].shape.dim[0];
    c->out[0] = (struct stk_spec){.dtype = STK_DT_F32,
                                  .shape = {4, {n, size[0], size[1], c->in[0].shape.dim[3]}}};
    return STOKER_OK;
}

struct crop {
    const void *pixels; // of the image
    enum stk_dtype dtype;
    int64_t height, width, channels;
    const float *box;
    int64_t out_height, out_width;
    bool is_nearest;
    float outside;
};

static float value(const struct crop *c, int64_t y, int64_t x, int64_t channel)
{
    int64_t k = (y * c->width + x) * c->channels + channel;
    switch (c->dtype) {
#define VALUE(N, T, W)                                                                             \
    case STK_DT_##N:                                                                               \
        return (float)((const T *)c->pixels)[k];
        STK_FOR_NUMBERS(VALUE)
    default:
        return 0;
    }
}

// The position of row or column i of `n`, in pixels of `size`, for a box from a to b.
static float place(float a, float b, int64_t size, int64_t i, int64_t n)
{
    float last = (float)(size - 1);
    if (n == 1) {
        return 0.5f * (a + b) * last;
    }
    float step = (b - a) * last / (float)(n - 1);
    return a * last + (float)i * step;
}

static float mix(const struct crop *c, float y, float x, int64_t channel)
{
    int64_t top = (int64_t)floorf(y), bottom = (int64_t)ceilf(y), left = (int64_t)floorf(x),
            right = (int64_t)ceilf(x);
    float down = y - (float)top, across = x - (float)left;
    float upper_left = value(c, top, left, channel), upper_right = value(c, top, right, channel),
          lower_left = value(c, bottom, left, channel),
          lower_right = value(c, bottom, right, channel);
    float upper = upper_left + (upper_right - upper_left) * across;
    float lower = lower_left + (lower_right - lower_left) * across;
    return upper + (lower - upper) * down;
}

static void crop_one(const struct crop *c, float *out)
{
    for (int64_t i = 0; i < c->out_height; i++) {
        float y = place(c->box[0], c->box[2], c->height, i, c->out_height);
        bool has_row = y >= 0 && y <= (float)(c->height - 1); // false for NaN
        for (int64_t j = 0; j < c->out_width; j++) {
            float x = place(c->box[1], c->box[3], c->width, j, c->out_width);
            bool is_inside = has_row && x >= 0 && x <= (float)(c->width - 1);
            for (int64_t k = 0; k < c->channels; k++) {
                *out++ = !is_inside      ? c->outside
                         : c->is_nearest ? value(c, (int64_t)roundf(y), (int64_t)roundf(x), k)
                                         : mix(c, y, x, k);
            }
        }
    }
}

static enum stoker_status crop_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_shape *images = &r->in[0]->shape;
    int64_t boxes = r->in[1]->shape.dim[0];
    struct crop c = {.dtype = r->in[0]->dtype,
                     .height = images->dim[1],
                     .width = images->dim[2],
                     .channels = images->dim[3]};
    c.is_nearest = r->args[ARG_METHOD].i == NEAREST;
    c.outside = (float)r->args[ARG_EXTRAPOLATION_VALUE].f;
    size_t image_bytes =
        (size_t)(c.height * c.width * c.channels) * stk_dtype_bytes(r->in[0]->dtype);
    for (int64_t i = 0; i < r->n; i++) {
        int64_t size[2];
        int count;
        if (r->in[1]->shape.dim[1] != 4 || r->in[2]->shape.dim[0] != boxes ||
            !stk_op_ints(&r->args[ARG_CROP_SIZE], r->n_in > 3 ? r->in[3] : NULL, i, size, 2,
                         &count) ||
            count != 2 || size[0] < 1 || size[1] < 1 || c.height < 1 || c.width < 1) {
            return stk_op_fail(r, i, STOKER_EINVAL,
                               "boxes (n, 4), numbers (n), a size above 0 and images that are not "
                               "empty are needed");
        }
        const int32_t *number = stk_col_at(r->in[2], i);
        struct stk_shape shape = {4, {boxes, size[0], size[1], c.channels}};
        for (int64_t k = 0; k < boxes; k++) {
            if (number[k] < 0 || number[k] >= images->dim[0]) {
                return stk_op_fail(r, i, STOKER_EINVAL, "box %lld is of image %d of %lld",
                                   (long long)k, number[k], (long long)images->dim[0]);
            }
        }
        float *out = stk_op_append(r, 0, STK_DT_F32, &shape, err);
        if (!out) {
            return err->code;
        }
        c.out_height = size[0];
        c.out_width = size[1];
        for (int64_t k = 0; k < boxes; k++) {
            c.pixels = (const uint8_t *)stk_col_at(r->in[0], i) + (size_t)number[k] * image_bytes;
            c.box = (const float *)stk_col_at(r->in[1], i) + 4 * k;
            crop_one(&c, out);
            out += size[0] * size[1] * c.channels;
        }
    }
    return STOKER_OK;
}

const struct stk_op stk_op_crop_and_resize = {
    .name = "crop_and_resize",
    .summary = "Crops boxes from images and resizes them to one size",
    .cost_ns = 10,
    .signature = "any, any, any, any?",
    .infer = crop_infer,
    .run = crop_run,
    .args = crop_args};
