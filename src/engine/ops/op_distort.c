// SPDX-License-Identifier: Apache-2.0
// sample_distorted_bounding_box: a random crop of an image that shows enough of some object.
// Inputs: the image's size (height, width, channels), int32 or int64; boxes of objects, float32 of
// (..., 4), each (top, left, bottom, right) as shares of the sides; optionally a seed of two
// integers, which then draws the same for every element. Results: begin and size for `slice`, and
// the crop as a box (1, 1, 4). Attributes: "min_object_covered", "aspect_ratio_range",
// "area_range", "max_attempts", "use_image_if_no_bounding_boxes", "seed". Draws like TensorFlow: an
// aspect ratio, then a height that keeps the area in its range, then a place; the whole image if no
// attempt succeeds.
#include <math.h>

#include "base/str.h"
#include "engine/ops/op_util.h"

enum {
    ARG_SEED,
    ARG_MIN_OBJECT_COVERED,
    ARG_ASPECT_RATIO_RANGE,
    ARG_AREA_RANGE,
    ARG_MAX_ATTEMPTS,
    ARG_USE_IMAGE_IF_NO_BOUNDING_BOXES
};
static const struct stk_arg_row distort_args[] = {
    [ARG_SEED] = STK_OP_SEED_ROW,
    [ARG_MIN_OBJECT_COVERED] =
        STK_ARG("min_object_covered", FLOAT, "minimum share of an object that must be visible",
                .fallback_float = 0.1),
    [ARG_ASPECT_RATIO_RANGE] =
        STK_ARG("aspect_ratio_range", FLOATS, "range of width / height", .is_required = true),
    [ARG_AREA_RANGE] = STK_ARG("area_range", FLOATS, "range of the crop's share of the image",
                               .is_required = true),
    [ARG_MAX_ATTEMPTS] =
        STK_ARG("max_attempts", INT, "attempts before the whole image is used", .fallback = 100),
    [ARG_USE_IMAGE_IF_NO_BOUNDING_BOXES] = STK_ARG("use_image_if_no_bounding_boxes", BOOL,
                                                   "use the whole image if there are no boxes"),
    {0}};

#define SIDE_MAX 1000000
#define SALT 9 // for its random bits

struct bounds {
    double covered, ratio[2], area[2];
    int64_t attempts;
};

struct rect {
    int64_t x, y, x_end, y_end;
};

struct draws {
    uint64_t seed, next;
    int64_t index;
};

static double draw(struct draws *d)
{
    return (double)(stk_random_bits(d->seed, SALT, d->index, d->next++) >> 11) * 0x1p-53;
}

// Uniform in [0, n).
static int64_t draw_below(struct draws *d, int64_t n)
{
    return (int64_t)(draw(d) * (double)n);
}

static bool range_read(const struct stk_attr *t, double most, double out[static 2])
{
    if (!t || t->kind != STK_ATTR_FLOATS || t->count != 2) {
        return false;
    }
    out[0] = t->floats[0];
    out[1] = t->floats[1];
    return out[0] > 0 && out[0] <= out[1] && out[1] <= most;
}

static enum stoker_status bounds_read(const struct stk_arg_value *args, struct bounds *b,
                                      struct stoker_err *err)
{
    b->covered = args[ARG_MIN_OBJECT_COVERED].f;
    b->attempts = args[ARG_MAX_ATTEMPTS].i;
    const char *wrong = !(b->covered >= 0 && b->covered <= 1) ? "min_object_covered is from 0 to 1"
                        : b->attempts < 1                     ? "max_attempts is at least 1"
                        : !range_read(args[ARG_ASPECT_RATIO_RANGE].attr, 1e6, b->ratio)
                            ? "aspect_ratio_range is two positive numbers, the smaller one first"
                        : !range_read(args[ARG_AREA_RANGE].attr, 1, b->area)
                            ? "area_range is two numbers from 0 to 1, the smaller one first"
                            : NULL;
    return wrong ? stk_err_set(err, STOKER_EINVAL, "sample_distorted_bounding_box: %s", wrong)
                 : STOKER_OK;
}

static enum stoker_status distort_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    struct bounds b;
    enum stoker_status s = stk_op_want_inputs(c, 2, 3, err);
    s = s == STOKER_OK ? bounds_read(c->args, &b, err) : s;
    if (s == STOKER_OK && c->n_in == 3 && c->in[2].dtype != STK_DT_I32 &&
        c->in[2].dtype != STK_DT_I64) {
        return stk_err_set(err, STOKER_EINVAL,
                           "sample_distorted_bounding_box: the seed is int32 or int64, not %s",
                           stk_dtype_name(c->in[2].dtype));
    }
    enum stk_dtype t = c->in[0].dtype;
    const struct stk_shape *boxes = &c->in[1].shape;
    if (s == STOKER_OK && ((t != STK_DT_I32 && t != STK_DT_I64) || c->in[1].dtype != STK_DT_F32)) {
        return stk_err_set(err, STOKER_EINVAL,
                           "sample_distorted_bounding_box: takes int32 or int64 and float32, not "
                           "%s and %s",
                           stk_dtype_name(t), stk_dtype_name(c->in[1].dtype));
    }
    if (s == STOKER_OK && boxes->rank >= 0 &&
        (boxes->rank == 0 ||
         (boxes->dim[boxes->rank - 1] != 4 && boxes->dim[boxes->rank - 1] != STK_UNKNOWN))) {
        char text[STK_SHAPE_TEXT];
        return stk_err_set(err, STOKER_EINVAL,
                           "sample_distorted_bounding_box: boxes of shape %s, not (..., 4)",
                           stk_shape_text(boxes, text));
    }
    c->n_out = 3;
    c->out[0] = c->out[1] = (struct stk_spec){.dtype = t, .shape = {1, {3}}};
    c->out[2] = (struct stk_spec){.dtype = STK_DT_F32, .shape = {3, {1, 1, 4}}};
    return s;
}

// A crop with that aspect ratio (width over height). False: its area isn't in the range.
static bool crop_draw(struct draws *d, const struct bounds *b, int64_t height, int64_t width,
                      struct rect *out)
{
    double ratio = b->ratio[0] + draw(d) * (b->ratio[1] - b->ratio[0]);
    double whole = (double)height * (double)width;
    double least = b->area[0] * whole, most = b->area[1] * whole;
    int64_t h = llrint(sqrt(least / ratio)), h_max = llrint(sqrt(most / ratio));
    if (llrint((double)h_max * ratio) > width) {
        h_max = (int64_t)(((double)width + 0.5 - 1e-7) / ratio);
        h_max -= llrint((double)h_max * ratio) > width;
    }
    h_max = h_max < height ? h_max : height;
    h = h < h_max ? h + draw_below(d, h_max - h + 1) : h_max;
    int64_t w = llrint((double)h * ratio);
    if ((double)(h * w) < least) {
        w = llrint((double)++h * ratio);
    }
    if ((double)(h * w) > most) {
        w = llrint((double)--h * ratio);
    }
    double area = (double)h * (double)w;
    if (area < least || area > most || h > height || w > width || h < 1 || w < 1) {
        return false;
    }
    int64_t y = h < height ? draw_below(d, height - h) : 0;
    int64_t x = w < width ? draw_below(d, width - w) : 0;
    *out = (struct rect){x, y, x + w, y + h};
    return true;
}

static double overlap(int64_t a, int64_t a_end, int64_t b, int64_t b_end)
{
    int64_t n = (a_end < b_end ? a_end : b_end) - (a > b ? a : b);
    return n > 0 ? (double)n : 0;
}

static struct rect box_at(const float *v, int64_t height, int64_t width)
{
    return (struct rect){
        (int64_t)((double)v[1] * (double)width), (int64_t)((double)v[0] * (double)height),
        (int64_t)((double)v[3] * (double)width), (int64_t)((double)v[2] * (double)height)};
}

// Does the crop cover enough of an object?
static bool covers(const struct rect *crop, const struct bounds *b, const float *boxes, int64_t n,
                   int64_t height, int64_t width)
{
    for (int64_t k = 0; k < n; k++) {
        struct rect o = box_at(boxes + 4 * k, height, width);
        double area = (double)(o.x_end - o.x) * (double)(o.y_end - o.y);
        double seen = overlap(crop->x, crop->x_end, o.x, o.x_end) *
                      overlap(crop->y, crop->y_end, o.y, o.y_end);
        if (area >= 1 && seen / area >= b->covered) {
            return true;
        }
    }
    return false;
}

static bool boxes_are_valid(const float *boxes, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        const float *v = boxes + 4 * k;
        if (!(v[0] >= 0 && v[1] >= 0 && v[2] <= 1 && v[3] <= 1 && v[0] < v[2] && v[1] < v[3])) {
            return false;
        }
    }
    return true;
}

static void put(struct stk_op_run *r, int64_t i, const struct rect *c, int64_t height,
                int64_t width)
{
    int64_t begin[3] = {c->y, c->x, 0}, size[3] = {c->y_end - c->y, c->x_end - c->x, -1};
    float *box = stk_col_at(&r->out[2], i);
    for (int k = 0; k < 3; k++) {
        stk_op_put_place(stk_col_at(&r->out[0], i), r->out[0].dtype, k, begin[k]);
        stk_op_put_place(stk_col_at(&r->out[1], i), r->out[1].dtype, k, size[k]);
    }
    box[0] = (float)((double)c->y / (double)height);
    box[1] = (float)((double)c->x / (double)width);
    box[2] = (float)((double)c->y_end / (double)height);
    box[3] = (float)((double)c->x_end / (double)width);
}

// What an element's draws come from: its seed if that is an input, else the operation's and the
// element's number. False: the seed isn't two numbers.
static bool draws_start(const struct stk_op_run *r, int64_t i, struct draws *d)
{
    int64_t own[2], fixed = r->args[ARG_SEED].i;
    int numbers = 0;
    *d = (struct draws){.seed = fixed >= 0 ? stk_hash_u64((uint64_t)fixed + 1) : r->seed,
                        .index = r->first_index + i};
    if (r->n_in < 3) {
        return true;
    }
    if (!stk_op_ints(NULL, r->in[2], i, own, 2, &numbers) || numbers != 2) {
        return false;
    }
    *d = (struct draws){.seed = stk_hash_u64(stk_hash_u64((uint64_t)own[0]) + (uint64_t)own[1])};
    return true;
}

static enum stoker_status distort_run(struct stk_op_run *r, struct stoker_err *err)
{
    static const float image[4] = {0, 0, 1, 1};
    struct bounds b;
    const struct stk_shape shapes[3] = {{1, {3}}, {1, {3}}, {3, {1, 1, 4}}};
    int64_t n = stk_shape_count(&r->in[1]->shape) / 4;
    bool by_image = n == 0 && r->args[ARG_USE_IMAGE_IF_NO_BOUNDING_BOXES].i != 0;
    enum stoker_status s = bounds_read(r->args, &b, err);
    for (int k = 0; s == STOKER_OK && k < 3; k++) {
        s = stk_op_out(r, k, r->spec[k].dtype, &shapes[k], err) ? STOKER_OK : err->code;
    }
    for (int64_t i = 0; s == STOKER_OK && i < r->n; i++) {
        struct draws d;
        const float *boxes = n ? stk_col_at(r->in[1], i) : image;
        int64_t size[3];
        int numbers = 0;
        if (!draws_start(r, i, &d)) {
            return stk_op_fail(r, i, STOKER_EINVAL, "the seed is two numbers");
        }
        if (!stk_op_ints(NULL, r->in[0], i, size, 3, &numbers) || numbers != 3 || size[0] < 1 ||
            size[1] < 1 || size[0] > SIDE_MAX || size[1] > SIDE_MAX) {
            return stk_op_fail(r, i, STOKER_EINVAL, "the size is (height, width, channels)");
        }
        if ((n == 0 && !by_image) || !boxes_are_valid(boxes, n)) {
            return stk_op_fail(r, i, STOKER_EINVAL, "%s",
                               n == 0 ? "there are no boxes; use_image_if_no_bounding_boxes=True "
                                        "takes the whole image for one"
                                      : "a box is (top, left, bottom, right), from 0 to 1");
        }
        struct rect crop = {0, 0, size[1], size[0]}, tried;
        for (int64_t k = 0; k < b.attempts; k++) {
            if (crop_draw(&d, &b, size[0], size[1], &tried) &&
                covers(&tried, &b, boxes, by_image ? 1 : n, size[0], size[1])) {
                crop = tried;
                break;
            }
        }
        put(r, i, &crop, size[0], size[1]);
    }
    return s;
}

const struct stk_op stk_op_sample_distorted_bounding_box = {
    .name = "sample_distorted_bounding_box",
    .summary = "A random crop that shows part of an object",
    .is_random = true,
    .cost_ns = 200,
    .infer = distort_infer,
    .run = distort_run,
    .args = distort_args};
