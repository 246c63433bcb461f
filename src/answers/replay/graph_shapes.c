// SPDX-License-Identifier: Apache-2.0
// Does a matrix kernel have dimensions that aren't multiples of 8, and how many operations does it
// need? Uses the shapes that PyTorch records for the operator around its launch
// (record_shapes=True): "[[32, 64], [64, 10], [10]]".
//
// For products, the last two dimensions of each input with two or more count; for convolutions, the
// channels: the second dimension of the data and the first two of the weights. Operations are
// counted only for products: 2 m k n times the batch, from the first input's elements and the
// second's columns. Limits: ignores groups, operations, paddings and layouts of convolutions;
// doesn't read the shapes of TensorFlow and XLA.
#include "answers/replay/graph.h"

#define MOST_BACK 256 // events before a launch to search for its operator
#define MOST_DIMS 8
#define MOST_MFLOPS (double)(UINT32_MAX >> 2)
#define MOST_INPUTS 2 // the rest is bias, strides, flags

struct input {
    int64_t dims[MOST_DIMS];
    int count;
};

// Inputs with at least two dimensions, up to MOST_INPUTS of them.
static int parse(struct stk_str text, struct input inputs[MOST_INPUTS])
{
    int n = 0;
    struct input in = {.count = 0};
    for (size_t i = 0; i < text.n && n < MOST_INPUTS; i++) {
        char c = text.p[i];
        if (c == '[') {
            in.count = 0;
        } else if (c >= '0' && c <= '9') {
            int64_t value = 0;
            for (; i < text.n && text.p[i] >= '0' && text.p[i] <= '9'; i++) {
                value = value < INT64_MAX / 100 ? value * 10 + (text.p[i] - '0') : value;
            }
            i--;
            if (in.count < MOST_DIMS) {
                in.dims[in.count++] = value;
            }
        } else if (c == ']') {
            if (in.count > 1) {
                inputs[n++] = in;
            }
            in.count = 0;
        }
    }
    return n;
}

static bool is_odd(int64_t dim)
{
    return dim > 1 && dim % 8 != 0;
}

static bool has_odd(const struct input in[MOST_INPUTS], bool is_convolution)
{
    if (is_convolution) {
        return is_odd(in[0].dims[1]) || is_odd(in[1].dims[0]) || is_odd(in[1].dims[1]);
    }
    bool odd = false;
    for (int i = 0; i < MOST_INPUTS; i++) {
        odd |= is_odd(in[i].dims[in[i].count - 1]) || is_odd(in[i].dims[in[i].count - 2]);
    }
    return odd;
}

// Of a matrix product, or of a batch of them; 0: the shapes don't fit one.
static double flops_of(const struct input in[MOST_INPUTS])
{
    const struct input *a = &in[0], *b = &in[1];
    double flops = 2.0 * (double)b->dims[b->count - 1];
    for (int i = 0; i < a->count; i++) {
        flops *= (double)a->dims[i];
    }
    return a->dims[a->count - 1] == b->dims[b->count - 2] ? flops : 0;
}

static uint32_t describe(struct stk_str name, struct stk_str shapes)
{
    struct input in[MOST_INPUTS];
    if (parse(shapes, in) < MOST_INPUTS) {
        return STK_ALIGNED;
    }
    bool is_convolution = stk_str_contains_nocase(name, STK_STR("conv"));
    double mflops = is_convolution ? 0 : flops_of(in) / 1e6;
    uint32_t size = mflops < MOST_MFLOPS ? (uint32_t)mflops << 2 : 0;
    return size | (uint32_t)(has_odd(in, is_convolution) ? STK_UNALIGNED : STK_ALIGNED);
}

uint32_t stk_graph_shapes(const struct stk_trace *t, uint32_t launch)
{
    const struct stk_track *row = &t->tracks[stk_track_of(t, launch)];
    uint8_t depth = t->depth[launch];
    for (uint32_t e = launch, n = 0; e-- > row->first && n < MOST_BACK && depth > 0; n++) {
        if (t->depth[e] >= depth) {
            continue;
        }
        depth = t->depth[e];
        struct stk_str shapes = stk_detail_text(t, e, STK_DETAIL_SHAPES);
        if (shapes.n) {
            return describe(stk_name_of(t, e), shapes);
        }
    }
    return STK_ALIGNMENT_UNKNOWN;
}
