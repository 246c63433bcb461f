// SPDX-License-Identifier: Apache-2.0
// image_equalize: equalizes the histogram of each channel of a uint8 image, like Pillow's
// ImageOps.equalize, with its integer steps.
#include "engine/ops/op_util.h"

// One channel of one image: values `step` bytes apart.
static void equalize(uint8_t *out, const uint8_t *in, int64_t pixels, int64_t step)
{
    int64_t count[256] = {0}, sum, last = 0;
    uint8_t to[256];
    for (int64_t i = 0; i < pixels; i++) {
        count[in[i * step]]++;
    }
    for (int v = 0; v < 256; v++) {
        last = count[v] ? count[v] : last;
    }
    int64_t each = (pixels - last) / 255;
    sum = each / 2;
    for (int v = 0; v < 256; v++) {
        int64_t level = each ? sum / each : v;
        to[v] = (uint8_t)(level < 255 ? level : 255);
        sum += count[v];
    }
    for (int64_t i = 0; i < pixels; i++) {
        out[i * step] = to[in[i * step]];
    }
}

static enum stoker_status equalize_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    int rank = in->shape.rank;
    if (rank != 3 && rank != 4) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "takes an image of 3 dimensions, or a stack of 4");
    }
    uint8_t *out = stk_op_out(r, 0, STK_DT_U8, &in->shape, err);
    if (!out) {
        return err->code;
    }
    int64_t stack = rank == 4 ? in->shape.dim[0] : 1, channels = in->shape.dim[rank - 1];
    int64_t pixels = in->shape.dim[rank - 3] * in->shape.dim[rank - 2];
    for (int64_t i = 0; i < r->n; i++) {
        for (int64_t k = 0; k < stack; k++, out += pixels * channels) {
            const uint8_t *from = (const uint8_t *)stk_col_at(in, i) + k * pixels * channels;
            for (int64_t ch = 0; ch < channels; ch++) {
                equalize(out + ch, from + ch, pixels, channels);
            }
        }
    }
    return STOKER_OK;
}

const struct stk_op stk_op_image_equalize = {.name = "image_equalize",
                                             .summary = "Equalizes each channel's histogram",
                                             .cost_ns = 2,
                                             .signature = "uint8[...hwc] -> same",
                                             .run = equalize_run};
