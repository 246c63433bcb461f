// SPDX-License-Identifier: Apache-2.0
// Does a matrix kernel work on dimensions that are no multiples of 8? By the shapes that PyTorch
// records of the operator around its launch (record_shapes=True): "[[32, 64], [64, 10], [10]]".
//
// Of products the last two dimensions of each input with two or more count, of convolutions the
// channels: the second dimension of the data and the first two of the weights. Limits: groups of
// convolutions, paddings and layouts are not seen; TensorFlow's and XLA's shapes are not read.
#include "replay/graph.h"

#define MOST_BACK 256 // events before a launch among which its operator is looked for
#define MOST_DIMS 8
#define MOST_INPUTS 2 // what follows is bias, strides, flags

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

static bool has_odd(struct stk_str name, struct stk_str shapes)
{
    struct input in[MOST_INPUTS];
    int n = parse(shapes, in);
    if (n < MOST_INPUTS) {
        return false;
    }
    if (stk_str_contains_nocase(name, STK_STR("conv"))) {
        return is_odd(in[0].dims[1]) || is_odd(in[1].dims[0]) || is_odd(in[1].dims[1]);
    }
    bool odd = false;
    for (int i = 0; i < n; i++) {
        odd |= is_odd(in[i].dims[in[i].count - 1]) || is_odd(in[i].dims[in[i].count - 2]);
    }
    return odd;
}

enum stk_graph_alignment stk_graph_alignment(const struct stk_trace *t, uint32_t launch)
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
            return has_odd(stk_name_of(t, e), shapes) ? STK_UNALIGNED : STK_ALIGNED;
        }
    }
    return STK_ALIGNMENT_UNKNOWN;
}
