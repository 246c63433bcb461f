// SPDX-License-Identifier: Apache-2.0
// image_warp: applies a projective transform to an image: rotations, shears, translations,
// perspectives. The matrix has eight numbers a: the result's pixel (x, y) is the image's at ((a0 x
// + a1 y + a2) / k, (a3 x + a4 y + a5) / k), k = a6 x + a7 y + 1, as in TensorFlow's
// ImageProjectiveTransformV3, including its rounding: float32 between pixels, nearest with halves
// away from 0, integers truncated.
// Rows are computed one at a time: coordinates first, then values. Nothing is kept between images.
#include <math.h>

#include "engine/ops/op_image.h"

enum { ARG_SIZE, ARG_METHOD, ARG_FILL_MODE, ARG_FILL_VALUE };
enum { NEAREST, BILINEAR };
enum { CONSTANT, EDGE, REFLECT, WRAP };
static const struct stk_arg_row warp_args[] = {
    [ARG_SIZE] = STK_ARG("size", INTS, "height and width of the result; default: the image's",
                         .is_open = true),
    [ARG_METHOD] = STK_ARG("method", TEXT, "interpolation", .choices = "nearest,bilinear",
                           .fallback_text = "nearest"),
    [ARG_FILL_MODE] =
        STK_ARG("fill_mode", TEXT, "fill mode outside the image",
                .choices = "constant,nearest,reflect,wrap", .fallback_text = "constant"),
    [ARG_FILL_VALUE] = STK_ARG("fill_value", FLOAT, "fill value outside the image"),
    {0}};

struct warp {
    const uint8_t *in;
    const float *a;
    int64_t height, width, channels;
    enum stk_dtype dtype;
    int method, fill_mode;
    float fill_value;
};

// The result's height and width. -1: unknown, or not a size.
static bool size_of(const struct stk_arg_value *args, const struct stk_shape *in, int64_t size[2])
{
    int count = 0;
    int rows = in->rank - 3;
    size[0] = in->rank < 3 ? STK_UNKNOWN : in->dim[rows];
    size[1] = in->rank < 3 ? STK_UNKNOWN : in->dim[rows + 1];
    if (!args[ARG_SIZE].attr) {
        return true;
    }
    return stk_op_ints(&args[ARG_SIZE], NULL, 0, size, 2, &count) && count == 2 && size[0] > 0 &&
           size[1] > 0 && size[0] <= STK_IMAGE_MAX_SIDE && size[1] <= STK_IMAGE_MAX_SIDE;
}

static bool is_matrix(const struct stk_spec *s)
{
    return s->dtype == STK_DT_F32 && (s->shape.rank < 0 || s->shape.rank == 1) &&
           (s->shape.rank < 0 || s->shape.dim[0] < 0 || s->shape.dim[0] == 8);
}

static enum stoker_status warp_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    int64_t size[2];
    const struct stk_spec *in = &c->in[0];
    bool is_image = (in->dtype == STK_DT_U8 || in->dtype == STK_DT_F32) &&
                    (in->shape.rank < 0 || in->shape.rank == 3 || in->shape.rank == 4);
    if (!is_image || !is_matrix(&c->in[1])) {
        return stk_err_set(
            err, STOKER_EINVAL,
            "image_warp: takes an image, or a stack of them, of uint8 or float32, and "
            "eight float32 numbers");
    }
    if (!size_of(c->args, &in->shape, size)) {
        return stk_err_set(err, STOKER_EINVAL, "image_warp: size is two positive integers");
    }
    c->out[0].dtype = in->dtype;
    c->out[0].shape = in->shape;
    if (in->shape.rank >= 3) {
        c->out[0].shape.dim[in->shape.rank - 3] = size[0];
        c->out[0].shape.dim[in->shape.rank - 2] = size[1];
    }
    return STOKER_OK;
}

// Maps a coordinate outside [0, length - 1] to its substitute inside, like TensorFlow.
static float brought_in(float at, int64_t length, int mode)
{
    float n = (float)length, last = n - 1;
    if (mode == CONSTANT || (at >= 0 && at <= last)) {
        return at;
    }
    if (length == 1) {
        return 0;
    }
    if (mode == REFLECT && at < 0) {
        at += at < 2 * n ? 2 * n * truncf(-at / (2 * n)) : 0;
        at = at < -n ? at + 2 * n : -at - 1;
    } else if (mode == REFLECT) {
        at -= 2 * n * truncf(at / (2 * n));
        at = at >= n ? 2 * n - at - 1 : at;
    } else if (mode == WRAP) {
        at += at < 0 ? n * (truncf(-at / last) + 1) : -n * truncf(at / last);
    }
    return at < 0 ? 0 : at < last ? at : last;
}

// The pixel at that point; NULL: the constant.
static const uint8_t *pixel_at(const struct warp *w, float y, float x)
{
    if (!(y >= 0 && y < (float)w->height && x >= 0 && x < (float)w->width)) {
        return NULL;
    }
    int64_t at = ((int64_t)y * w->width + (int64_t)x) * w->channels;
    return w->in + (size_t)at * stk_dtype_bytes(w->dtype);
}

static float value_of(const struct warp *w, const uint8_t *pixel, int64_t k)
{
    return !pixel                  ? w->fill_value
           : w->dtype == STK_DT_U8 ? (float)pixel[k]
                                   : ((const float *)pixel)[k];
}

static void put(const struct warp *w, void *out, int64_t k, float v)
{
    if (w->dtype == STK_DT_U8) {
        ((uint8_t *)out)[k] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
    } else {
        ((float *)out)[k] = v;
    }
}

static void put_nearest(const struct warp *w, void *out, float y, float x)
{
    const uint8_t *p = pixel_at(w, roundf(y), roundf(x));
    for (int64_t k = 0; k < w->channels; k++) {
        put(w, out, k, value_of(w, p, k));
    }
}

static void put_between(const struct warp *w, void *out, float y, float x)
{
    float top = floorf(y), left = floorf(x), down = y - top, right = x - left;
    const uint8_t *p[4] = {pixel_at(w, top, left), pixel_at(w, top, left + 1),
                           pixel_at(w, top + 1, left), pixel_at(w, top + 1, left + 1)};
    for (int64_t k = 0; k < w->channels; k++) {
        float above = (1 - right) * value_of(w, p[0], k) + right * value_of(w, p[1], k);
        float below = (1 - right) * value_of(w, p[2], k) + right * value_of(w, p[3], k);
        put(w, out, k, (1 - down) * above + down * below);
    }
}

static void warp_image(const struct warp *w, uint8_t *out, const int64_t size[2])
{
    size_t pixel = (size_t)w->channels * stk_dtype_bytes(w->dtype);
    for (int64_t i = 0; i < size[0]; i++) {
        for (int64_t j = 0; j < size[1]; j++, out += pixel) {
            float x = (float)j, y = (float)i, k = w->a[6] * x + w->a[7] * y + 1;
            float from_x = (w->a[0] * x + w->a[1] * y + w->a[2]) / k;
            float from_y = (w->a[3] * x + w->a[4] * y + w->a[5]) / k;
            if (k == 0 || !isfinite(from_x) || !isfinite(from_y)) {
                from_x = from_y = -1e9f; // beyond the horizon
            }
            from_x = brought_in(from_x, w->width, w->fill_mode);
            from_y = brought_in(from_y, w->height, w->fill_mode);
            if (w->method == BILINEAR) {
                put_between(w, out, from_y, from_x);
            } else {
                put_nearest(w, out, from_y, from_x);
            }
        }
    }
}

static enum stoker_status warp_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    int rank = in->shape.rank;
    int64_t size[2];
    if ((rank != 3 && rank != 4) || r->in[1]->shape.rank != 1 || r->in[1]->shape.dim[0] != 8 ||
        !size_of(r->args, &in->shape, size)) {
        return stk_op_fail(r, 0, STOKER_EINVAL,
                           "takes an image of 3 dimensions, or a stack of 4, and eight numbers");
    }
    struct stk_shape shape = in->shape;
    shape.dim[rank - 3] = size[0];
    shape.dim[rank - 2] = size[1];
    uint8_t *out = stk_op_out(r, 0, in->dtype, &shape, err);
    if (!out) {
        return err->code;
    }
    int64_t stack = rank == 4 ? in->shape.dim[0] : 1;
    struct warp w = {.height = in->shape.dim[rank - 3],
                     .width = in->shape.dim[rank - 2],
                     .channels = in->shape.dim[rank - 1],
                     .dtype = in->dtype,
                     .method = (int)r->args[ARG_METHOD].i,
                     .fill_mode = (int)r->args[ARG_FILL_MODE].i,
                     .fill_value = (float)r->args[ARG_FILL_VALUE].f};
    size_t bytes = stk_dtype_bytes(in->dtype);
    size_t from = (size_t)(w.height * w.width * w.channels) * bytes;
    size_t to = (size_t)(size[0] * size[1] * w.channels) * bytes;
    if (from == 0 && to > 0 && r->n * stack > 0) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "an image without pixels");
    }
    for (int64_t i = 0; i < r->n; i++) {
        w.a = stk_col_at(r->in[1], i);
        for (int64_t k = 0; k < stack; k++, out += to) {
            w.in = (const uint8_t *)stk_col_at(in, i) + (size_t)k * from;
            warp_image(&w, out, size);
        }
    }
    return STOKER_OK;
}

const struct stk_op stk_op_image_warp = {.name = "image_warp",
                                         .summary = "Applies a projective transform to an image",
                                         .cost_ns = 4,
                                         .signature = "any, any",
                                         .infer = warp_infer,
                                         .run = warp_run,
                                         .args = warp_args};
