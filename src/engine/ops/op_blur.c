// SPDX-License-Identifier: Apache-2.0
// image_blur: a float32 image, each pixel the weighted sum of its neighborhood: column weights
// times row weights, both of odd length; pixels beyond the edge are mirrored (without repeating the
// edge). Rows first, then columns, in float32.
#include "engine/ops/op_util.h"

static bool are_weights(const struct stk_spec *s)
{
    return s->shape.rank < 1 || s->shape.dim[0] < 0 || s->shape.dim[0] % 2 == 1;
}

static enum stoker_status blur_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    if (!are_weights(&c->in[1]) || !are_weights(&c->in[2])) {
        return stk_err_set(err, STOKER_EINVAL,
                           "image_blur: takes an odd number of weights for each direction");
    }
    return STOKER_OK;
}

static int64_t mirrored(int64_t at, int64_t length)
{
    int64_t period = length > 1 ? 2 * (length - 1) : 1;
    at = (at % period + period) % period;
    return at < length ? at : period - at;
}

// One direction: `lines` lines of `length` steps; `step` floats apart, lines `line` floats apart.
struct walk {
    int64_t lines, length, step, line, width; // width: contiguous floats at each step
};

static void along(float *out, const float *in, const struct walk *w, const float *weights,
                  int64_t taps)
{
    for (int64_t l = 0; l < w->lines; l++) {
        for (int64_t i = 0; i < w->length; i++) {
            float *to = out + l * w->line + i * w->step;
            for (int64_t k = 0; k < w->width; k++) {
                to[k] = 0;
            }
            for (int64_t t = 0; t < taps; t++) {
                int64_t at = mirrored(i + t - taps / 2, w->length);
                const float *from = in + l * w->line + at * w->step;
                for (int64_t k = 0; k < w->width; k++) {
                    to[k] += weights[t] * from[k];
                }
            }
        }
    }
}

static enum stoker_status blur_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    int rank = in->shape.rank;
    const struct stk_shape *s = &in->shape;
    if ((rank != 3 && rank != 4) || r->in[1]->shape.rank != 1 || r->in[2]->shape.rank != 1 ||
        r->in[1]->shape.dim[0] % 2 == 0 || r->in[2]->shape.dim[0] % 2 == 0) {
        return stk_op_fail(r, 0, STOKER_EINVAL,
                           "takes an image of 3 dimensions, or a stack of 4, and an odd number of "
                           "weights for each direction");
    }
    float *out = stk_op_out(r, 0, STK_DT_F32, s, err);
    if (!out) {
        return err->code;
    }
    int64_t stack = rank == 4 ? s->dim[0] : 1, height = s->dim[rank - 3], width = s->dim[rank - 2];
    int64_t row = width * s->dim[rank - 1], image = height * row;
    struct stk_buf *b = stk_buf_get(r->pool, (size_t)image * sizeof(float) + 1);
    if (!b) {
        return stk_op_no_memory(r, err);
    }
    struct walk columns = {height, width, s->dim[rank - 1], row, s->dim[rank - 1]};
    struct walk rows = {1, height, row, 0, row};
    for (int64_t i = 0; i < r->n && image > 0; i++) {
        for (int64_t k = 0; k < stack; k++, out += image) {
            const float *from = (const float *)stk_col_at(in, i) + k * image;
            along((float *)b->data, from, &columns, stk_col_at(r->in[2], i),
                  r->in[2]->shape.dim[0]);
            along(out, (const float *)b->data, &rows, stk_col_at(r->in[1], i),
                  r->in[1]->shape.dim[0]);
        }
    }
    stk_buf_drop(b);
    return STOKER_OK;
}

const struct stk_op stk_op_image_blur = {.name = "image_blur",
                                         .summary = "Weighted sums of neighboring pixels",
                                         .cost_ns = 4,
                                         .signature =
                                             "float32[...hwc], float32[n], float32[n] -> same",
                                         .infer = blur_infer,
                                         .run = blur_run};
