// SPDX-License-Identifier: Apache-2.0
// random_resized_crop: a random part of a uint8 image (height, width, 1 to 4 channels), resized,
// randomly mirrored and perhaps normalized, in one pass over the part. Arguments: see op_augment.h.
// With the same seed it picks the same part as jpeg_random_resized_crop.
#include "engine/ops/op_augment.h"

#include <string.h>

#include "base/assert.h"
#include "base/alloc.h"
#include "base/str.h"

enum { CHANNELS_MAX = 4 };
enum { PIL_BILINEAR, BILINEAR }; // method

static bool is_jpeg(const struct stk_op_infer *c)
{
    return c->op == &stk_op_jpeg_random_resized_crop;
}

static bool floats_of(const struct stk_attr *t, int64_t count, double *values)
{
    if (!t) {
        return true; // the defaults stay
    }
    if (t->kind != STK_ATTR_FLOATS || t->count != count) {
        return false;
    }
    memcpy(values, t->floats, (size_t)count * sizeof values[0]);
    return true;
}

enum stoker_status stk_op_augment_read(const struct stk_op_infer *c, int64_t channels,
                                       struct stk_op_augment *g, struct stoker_err *err)
{
    const struct stk_arg_value *a = c->args;
    const struct stk_attr *size = a[STK_OP_AUGMENT_SIZE].attr;
    const struct stk_attr *given_mean = a[STK_OP_AUGMENT_MEAN].attr;
    const struct stk_attr *given_std = a[STK_OP_AUGMENT_STD].attr;
    double mean[CHANNELS_MAX] = {0, 0, 0, 0}, std[CHANNELS_MAX] = {1, 1, 1, 1};
    *g = (struct stk_op_augment){.scale = {0.08, 1},
                                 .ratio = {3.0 / 4, 4.0 / 3},
                                 .flip = a[STK_OP_AUGMENT_FLIP].f,
                                 .is_planar = a[STK_OP_AUGMENT_PLANAR].i != 0,
                                 .is_fast = is_jpeg(c) && a[STK_OP_AUGMENT_FAST].i != 0,
                                 .is_float = given_mean || given_std,
                                 .seed = a[STK_OP_AUGMENT_SEED].i};
    bool fits = channels <= CHANNELS_MAX && size && size->kind == STK_ATTR_INTS &&
                size->count == 2 && size->ints[0] > 0 && size->ints[1] > 0 &&
                size->ints[0] < STK_IMAGE_MAX_SIDE && size->ints[1] < STK_IMAGE_MAX_SIDE &&
                floats_of(a[STK_OP_AUGMENT_SCALE].attr, 2, g->scale) &&
                floats_of(a[STK_OP_AUGMENT_RATIO].attr, 2, g->ratio) &&
                floats_of(given_mean, channels, mean) && floats_of(given_std, channels, std);
    if (!fits) {
        return stk_err_set(
            err, STOKER_EINVAL,
            "%s: size needs two sides, scale and ratio two numbers, mean and std %lld "
            "(one for each channel)",
            c->op->name, (long long)channels);
    }
    memcpy(g->size, size->ints, sizeof g->size);
    g->resize.method =
        a[STK_OP_AUGMENT_METHOD].i == BILINEAR ? STK_IMAGE_BILINEAR : STK_IMAGE_PIL_BILINEAR;
    g->resize.is_planar = g->is_planar;
    if (g->is_float) {
        float m[CHANNELS_MAX], d[CHANNELS_MAX];
        for (int64_t k = 0; k < CHANNELS_MAX; k++) {
            m[k] = (float)mean[k];
            d[k] = (float)std[k];
        }
        stk_image_mean_std(&g->resize, m, d, (uint32_t)channels, 255);
    }
    return STOKER_OK;
}

enum stoker_status stk_op_augment_prepare(const struct stk_op_infer *c, int64_t channels,
                                          void **out, struct stoker_err *err)
{
    struct stk_op_augment *g = stk_alloc(sizeof *g);
    enum stoker_status s = g ? stk_op_augment_read(c, channels, g, err) : stk_err_nomem(err);
    if (s != STOKER_OK) {
        stk_free(g);
        g = NULL;
    }
    *out = g;
    return s;
}

struct stk_shape stk_op_augment_shape(const struct stk_op_augment *g, int64_t channels)
{
    return g->is_planar ? (struct stk_shape){3, {channels, g->size[0], g->size[1]}}
                        : (struct stk_shape){3, {g->size[0], g->size[1], channels}};
}

struct draws {
    uint64_t seed, next;
    int64_t index;
};

static uint64_t next_draw(void *state)
{
    struct draws *d = state;
    return stk_random_bits(d->seed, 5, d->index, d->next++);
}

enum stoker_status stk_op_augment_draw(const struct stk_op_run *r, int64_t i,
                                       const struct stk_op_augment *g, uint32_t height,
                                       uint32_t width, struct stk_image_box *box, bool *is_mirrored,
                                       struct stoker_err *err)
{
    struct draws d = {.seed = g->seed >= 0 ? stk_hash_u64((uint64_t)g->seed + 1) : r->seed,
                      .index = r->first_index + i};
    struct stk_image_random random = {next_draw, &d};
    enum stoker_status s =
        stk_image_random_resized_box(height, width, g->scale, g->ratio, &random, box, err);
    *is_mirrored = s == STOKER_OK && (double)(next_draw(&d) >> 11) * 0x1p-53 < g->flip;
    return s;
}

static enum stoker_status crop_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    struct stk_op_augment g;
    enum stoker_status s = stk_op_want_inputs(c, 1, 1, err);
    const struct stk_shape *in = &c->in[0].shape;
    if (s == STOKER_OK && (c->in[0].dtype != STK_DT_U8 || in->rank != 3 || in->dim[2] < 1 ||
                           in->dim[2] > CHANNELS_MAX)) {
        s = stk_err_set(
            err, STOKER_EINVAL,
            "random_resized_crop: takes a uint8 image (height, width, channels) of 1 to "
            "%d channels; reshape sets its shape, cast makes it uint8",
            CHANNELS_MAX);
    }
    s = s == STOKER_OK ? stk_op_augment_read(c, in->dim[2], &g, err) : s;
    if (s == STOKER_OK) {
        c->out[0].dtype = g.is_float ? STK_DT_F32 : STK_DT_U8;
        c->out[0].shape = stk_op_augment_shape(&g, in->dim[2]);
    }
    return s;
}

static enum stoker_status crop_one(struct stk_op_run *r, int64_t i, struct stk_image_context *c,
                                   const struct stk_op_augment *g, uint8_t *pixels)
{
    struct stk_shape s = stk_col_shape(r->in[0], i);
    int64_t channels = r->spec[0].shape.dim[g->is_planar ? 0 : 2];
    STK_ASSERT(channels >= 1 && channels <= CHANNELS_MAX);
    struct stk_image_resize_options resize = g->resize;
    struct stk_image view, out,
        in = stk_op_image_over(stk_col_at(r->in[0], i), s.dim[0], s.dim[1], s.dim[2], STK_IMAGE_U8);
    struct stk_image_box box;
    struct stoker_err why;
    stk_err_init(&why);
    if (s.rank != 3 || s.dim[2] != channels || s.dim[0] > STK_IMAGE_MAX_SIDE ||
        s.dim[1] > STK_IMAGE_MAX_SIDE) {
        return stk_op_fail(r, i, STOKER_EINVAL,
                           "an image of %lld channels of at most %d x %d is needed",
                           (long long)channels, STK_IMAGE_MAX_SIDE, STK_IMAGE_MAX_SIDE);
    }
    out = stk_op_image_over(pixels, g->size[0], g->size[1], g->is_planar ? 1 : channels,
                            g->is_float ? STK_IMAGE_F32 : STK_IMAGE_U8);
    out.channels = (uint32_t)channels;
    enum stoker_status status =
        stk_op_augment_draw(r, i, g, in.height, in.width, &box, &resize.is_mirrored, &why);
    status = status == STOKER_OK ? stk_image_crop(&in, &box, &view, &why) : status;
    status = status == STOKER_OK ? stk_image_resize(c, &view, &resize, &out, &why) : status;
    return status == STOKER_OK ? STOKER_OK : stk_op_image_failed(r, i, &why);
}

static enum stoker_status crop_prepare(const struct stk_op_infer *c, void **out,
                                       struct stoker_err *err)
{
    return stk_op_augment_prepare(c, c->in[0].shape.dim[2], out, err);
}

static enum stoker_status crop_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_op_augment *g = r->prepared;
    struct stk_image_context *c = stk_op_image_context(r);
    enum stoker_status s = c ? STOKER_OK : stk_err_nomem(err);
    uint8_t *out =
        s == STOKER_OK ? stk_op_out(r, 0, r->spec[0].dtype, &r->spec[0].shape, err) : NULL;
    size_t bytes = (size_t)stk_shape_count(&r->spec[0].shape) * stk_dtype_bytes(r->spec[0].dtype);
    if (!out) {
        return err->code;
    }
    for (int64_t i = 0; s == STOKER_OK && i < r->n && i < r->failed; i++) {
        s = crop_one(r, i, c, g, out + (size_t)i * bytes);
    }
    return s;
}

static const struct stk_arg_row crop_args[] = {STK_OP_AUGMENT_ROWS, {0}};

const struct stk_op stk_op_random_resized_crop = {
    .name = "random_resized_crop",
    .summary = "A random crop of an image, resized, randomly mirrored, normalized",
    .takes_varied = true,
    .is_random = true,
    .cost_ns = 5e4,
    .infer = crop_infer,
    .prepare = crop_prepare,
    .unprepare = stk_free,
    .args = crop_args,
    .scratch_bytes = sizeof(struct stk_op_image_scratch),
    .scratch_end = stk_op_image_scratch_end,
    .run = crop_run};
