// SPDX-License-Identifier: Apache-2.0
// extract_patches: windows of images, (n, height, width, depth), each as one vector of its values.
// Attributes: "sizes", "strides", "rates" INTS of rows and columns; "same" INT: zero-padded so that
// every stride-th pixel has its window, else only windows that fit.
#include <string.h>

#include "engine/ops/op_util.h"

enum { ARG_SIZES, ARG_STRIDES, ARG_RATES, ARG_SAME };
static const struct stk_arg_row patches_args[] = {
    [ARG_SIZES] = STK_ARG("sizes", INTS, "patch size: rows and columns", .is_required = true),
    [ARG_STRIDES] = STK_ARG("strides", INTS, "distance between patches", .is_required = true),
    [ARG_RATES] = STK_ARG("rates", INTS, "distance between a patch's pixels", .is_required = true),
    [ARG_SAME] = STK_ARG("same", BOOL, "pad with zeros so that every stride has a patch"),
    {0}};

// One direction, rows or columns.
struct taps {
    int64_t in, out, size, stride, rate, before;
};

struct patches {
    struct taps rows, columns;
};

// False: invalid numbers.
static bool taps_read(struct taps *t, const struct stk_arg_value *args, int at)
{
    int64_t v[3][2];
    for (int k = 0; k < 3; k++) {
        int count = 0;
        if (!stk_op_ints(&args[ARG_SIZES + k], NULL, 0, v[k], 2, &count) || count != 2 ||
            v[k][at] < 1 || v[k][at] > INT32_MAX) {
            return false;
        }
    }
    *t = (struct taps){.size = v[0][at], .stride = v[1][at], .rate = v[2][at]};
    return true;
}

// How many windows a length has; -1: unknown length. False: not even one window fits, and the image
// is too small by more than a stride.
static bool taps_fit(struct taps *t, int64_t length, bool same)
{
    int64_t span = (t->size - 1) * t->rate + 1;
    t->in = length;
    t->out = -1;
    if (length < 0) {
        return true;
    }
    if (!same) {
        t->out = (length - span + t->stride) / t->stride;
        return length - span + t->stride >= 0;
    }
    t->out = length / t->stride + (length % t->stride != 0);
    int64_t missing = t->out > 0 ? (t->out - 1) * t->stride + span - length : 0;
    t->before = missing > 0 ? missing / 2 : 0;
    return true;
}

static bool fit(struct patches *p, const struct stk_arg_value *args, const struct stk_shape *in,
                struct stk_shape *out)
{
    bool same = args[ARG_SAME].i != 0;
    if (!taps_fit(&p->rows, in->dim[1], same) || !taps_fit(&p->columns, in->dim[2], same)) {
        return false;
    }
    int64_t taps = p->rows.size, depth = in->dim[3];
    if (__builtin_mul_overflow(taps, p->columns.size, &taps) ||
        (depth >= 0 && __builtin_mul_overflow(taps, depth, &taps))) {
        return false;
    }
    *out = (struct stk_shape){
        4, {in->dim[0], p->rows.out, p->columns.out, depth < 0 ? STK_UNKNOWN : taps}};
    return true;
}

static enum stoker_status patches_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    struct patches p;
    enum stoker_status s = stk_op_want_inputs(c, 1, 1, err);
    const struct stk_shape *in = &c->in[0].shape;
    char text[STK_SHAPE_TEXT];
    if (s != STOKER_OK) {
        return s;
    }
    enum stk_dtype t = c->in[0].dtype;
    if (!stk_op_is_number(t) && t != STK_DT_BOOL) {
        return stk_err_set(err, STOKER_EINVAL, "extract_patches: not for %s", stk_dtype_name(t));
    }
    if (!taps_read(&p.rows, c->args, 0) || !taps_read(&p.columns, c->args, 1)) {
        return stk_err_set(err, STOKER_EINVAL,
                           "extract_patches: sizes, strides and rates are at least 1");
    }
    c->out[0] = (struct stk_spec){.dtype = t, .shape = {4, {-1, -1, -1, -1}}};
    if (in->rank >= 0 && (in->rank != 4 || !fit(&p, c->args, in, &c->out[0].shape))) {
        return stk_err_set(
            err, STOKER_EINVAL,
            "extract_patches: images of shape %s; (n, height, width, depth) as large "
            "as a window are needed",
            stk_shape_text(in, text));
    }
    return STOKER_OK;
}

// One window: rows outside the image stay zero.
static void cut(uint8_t *out, const uint8_t *image, const struct patches *p, int64_t row,
                int64_t column, size_t pixel)
{
    for (int64_t i = 0; i < p->rows.size; i++) {
        int64_t y = row * p->rows.stride + i * p->rows.rate - p->rows.before;
        for (int64_t j = 0; j < p->columns.size; j++, out += pixel) {
            int64_t x = column * p->columns.stride + j * p->columns.rate - p->columns.before;
            if (y >= 0 && y < p->rows.in && x >= 0 && x < p->columns.in) {
                memcpy(out, image + (size_t)(y * p->columns.in + x) * pixel, pixel);
            } else {
                memset(out, 0, pixel);
            }
        }
    }
}

static enum stoker_status patches_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    const struct stk_shape *from = &in->shape;
    struct patches p;
    struct stk_shape shape;
    char text[STK_SHAPE_TEXT];
    (void)taps_read(&p.rows, r->args, 0);
    (void)taps_read(&p.columns, r->args, 1);
    if (from->rank != 4 || !fit(&p, r->args, from, &shape)) {
        return stk_op_fail(r, 0, STOKER_EINVAL,
                           "images of shape %s; (n, height, width, depth) as large as a window are "
                           "needed",
                           stk_shape_text(from, text));
    }
    uint8_t *out = stk_op_out(r, 0, in->dtype, &shape, err);
    if (!out) {
        return err->code;
    }
    if (stk_shape_count(&shape) == 0) {
        return STOKER_OK;
    }
    size_t size = stk_dtype_bytes(in->dtype), pixel = (size_t)from->dim[3] * size;
    size_t image = (size_t)stk_op_span(from, 1, 4) * size, window = (size_t)shape.dim[3] * size;
    for (int64_t i = 0; i < r->n * from->dim[0]; i++) {
        const uint8_t *at =
            (const uint8_t *)stk_col_at(in, i / from->dim[0]) + (size_t)(i % from->dim[0]) * image;
        for (int64_t y = 0; y < p.rows.out; y++) {
            for (int64_t x = 0; x < p.columns.out; x++, out += window) {
                cut(out, at, &p, y, x, pixel);
            }
        }
    }
    return STOKER_OK;
}

const struct stk_op stk_op_extract_patches = {.name = "extract_patches",
                                              .summary = "Patches of images as vectors",
                                              .cost_ns = 0.5,
                                              .infer = patches_infer,
                                              .run = patches_run,
                                              .args = patches_args};
