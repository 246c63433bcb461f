// SPDX-License-Identifier: Apache-2.0
// The cost of a TensorFlow operation on the device, from its kernels' rows: its type
// ("path:MatMul") and the shapes of its inputs ("(half[4,384,1024];half[])"), as recorded by the
// annotation around a launch (tensorflow/core/framework/op_kernel.cc, TraceString).
// Known: products of matrices (operations and traffic), elementwise operations and comparisons
// (traffic alone). Traffic is each input read once and the output written once: a lower bound.
// Limits: attributes aren't recorded. The shapes show which sides of a product are transposed;
// neither is preferred to both, and an ambiguous product gets no figures. Convolutions and casts
// aren't counted: a convolution's output depends on strides and padding, and a cast's output type
// isn't recorded.
#include <string.h>

#include "base/assert.h"
#include "profile/readers/xplane/xplane_event.h"
#include "profile/store/tf_name.h"

#define TENSORS 16
#define AXES 8

struct shape {
    int64_t size[AXES];
    int axes; // -1: not known
    int64_t width;
};

static int64_t times(int64_t a, int64_t b)
{
    int64_t product;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? -1 : product;
}

static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum;
    return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? -1 : sum;
}

static int64_t width_of(struct stk_str type)
{
    static const struct {
        const char *name;
        int64_t width;
    } types[] = {{"float", 4}, {"half", 2},  {"bfloat16", 2}, {"double", 8}, {"int32", 4},
                 {"int64", 8}, {"uint8", 1}, {"int8", 1},     {"bool", 1},   {"int16", 2}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (stk_str_eq(type, stk_str_from(types[i].name))) {
            return types[i].width;
        }
    }
    return -1;
}

// "half[4,384]"; anything else has no known shape.
static struct shape shape_of(struct stk_str text)
{
    struct shape s = {.axes = -1, .width = -1};
    const char *open = memchr(text.p, '[', text.n), *end = text.p + text.n;
    if (!open || end[-1] != ']') {
        return s;
    }
    s.width = width_of((struct stk_str){text.p, (size_t)(open - text.p)});
    int axes = 0;
    for (const char *p = open + 1; p < end - 1; p++) {
        int64_t size = 0;
        const char *from = p;
        for (; p < end - 1 && *p >= '0' && *p <= '9'; p++) {
            size = plus(times(size, 10), *p - '0');
        }
        if (p == from || (p < end - 1 && *p != ',') || axes == AXES || size < 0) {
            return s;
        }
        s.size[axes++] = size;
    }
    s.axes = axes;
    return s;
}

// Inputs of "(a;b)"; how many there are.
static int shapes_of(struct stk_str text, struct shape *out)
{
    int count = 0;
    if (text.n < 2 || text.p[0] != '(' || text.p[text.n - 1] != ')') {
        return 0;
    }
    const char *p = text.p + 1, *end = text.p + text.n - 1;
    while (p < end && count < TENSORS) {
        const char *next = memchr(p, ';', (size_t)(end - p));
        size_t n = (size_t)((next ? next : end) - p);
        out[count++] = n ? shape_of((struct stk_str){p, n}) : (struct shape){.axes = -1};
        p += n + 1;
    }
    return count;
}

static int64_t elements(const struct shape *s)
{
    int64_t n = s->axes < 0 ? -1 : 1;
    for (int i = 0; i < s->axes; i++) {
        n = times(n, s->size[i]);
    }
    return n;
}

static int64_t bytes_of(const struct shape *s)
{
    return s->width > 0 ? times(elements(s), s->width) : -1;
}

// Batches of p x q by r x s, of which two sides in the middle are equal and summed over.
static void product(const struct shape *in, int count, struct stk_launch_config *c)
{
    int axes = count >= 2 ? in[0].axes : -1;
    if (axes < 2 || in[1].axes != axes) {
        return;
    }
    int64_t batch = 1, sizes[2][2];
    for (int i = 0; i < axes - 2; i++) {
        if (in[0].size[i] != in[1].size[i]) {
            return;
        }
        batch = times(batch, in[0].size[i]);
    }
    for (int t = 0; t < 2; t++) {
        sizes[t][0] = in[t].size[axes - 2];
        sizes[t][1] = in[t].size[axes - 1];
    }
    int64_t out = -1, summed = 0;
    for (int a = 0; a < 2; a++) { // the summed side of each
        for (int b = 0; b < 2; b++) {
            int64_t size = times(sizes[0][1 - a], sizes[1][1 - b]);
            bool both_transposed = a == 0 && b == 1;
            if (sizes[0][a] != sizes[1][b] || (both_transposed && sizes[0][1] == sizes[1][0])) {
                continue;
            }
            if (out >= 0 && out != size) {
                return;
            }
            out = size;
            summed = sizes[0][a];
        }
    }
    if (out < 0) {
        return;
    }
    c->flops = times(times(2, batch), times(out, summed));
    c->bytes = plus(plus(bytes_of(&in[0]), bytes_of(&in[1])),
                    in[0].width > 0 ? times(times(batch, out), in[0].width) : -1);
}

// All inputs are read, and an output is written: of the largest input's shape and type, of its
// shape with a byte per element (comparisons), or almost nothing (reductions).
enum output { OUTPUT_LARGEST, OUTPUT_BOOL, OUTPUT_SMALL };

static void traffic(const struct shape *in, int count, enum output output,
                    struct stk_launch_config *c)
{
    STK_ASSERT(count >= 0);
    int64_t total = 0, largest = 0, most = 0;
    for (int i = 0; i < count; i++) {
        int64_t bytes = bytes_of(&in[i]);
        if (bytes < 0) {
            return;
        }
        total = plus(total, bytes);
        largest = bytes > largest ? bytes : largest;
        most = elements(&in[i]) > most ? elements(&in[i]) : most;
    }
    int64_t written = output == OUTPUT_LARGEST ? largest : output == OUTPUT_BOOL ? most : 0;
    c->bytes = total > 0 ? plus(total, written) : -1;
}

void stk_xp_cost(struct stk_str type, struct stk_str shapes, struct stk_launch_config *c)
{
    static const char *const products[] = {"MatMul", "_FusedMatMul", "BatchMatMul", "BatchMatMulV2",
                                           "BatchMatMulV3"};
    static const char *const largest[] = {
        "Add",      "AddV2",    "AddN",        "Sub",
        "Mul",      "RealDiv",  "Relu",        "Relu6",
        "ReluGrad", "Elu",      "EluGrad",     "Tanh",
        "TanhGrad", "Sigmoid",  "Exp",         "Log",
        "Sqrt",     "Rsqrt",    "Square",      "Neg",
        "Maximum",  "Minimum",  "BiasAdd",     "Softmax",
        "GeluGrad", "Softplus", "SigmoidGrad", "RsqrtGrad",
        "Erf",      "Pow",      "LogSoftmax",  "SquaredDifference"};
    static const char *const comparisons[] = {"Greater", "GreaterEqual", "Less",    "LessEqual",
                                              "Equal",   "NotEqual",     "IsFinite"};
    static const char *const reductions[] = {"BiasAddGrad", "L2Loss"};
    static const struct {
        const char *const *names;
        size_t count;
        int output; // -1: a product
    } kinds[] = {{products, sizeof products / sizeof *products, -1},
                 {largest, sizeof largest / sizeof *largest, OUTPUT_LARGEST},
                 {comparisons, sizeof comparisons / sizeof *comparisons, OUTPUT_BOOL},
                 {reductions, sizeof reductions / sizeof *reductions, OUTPUT_SMALL}};
    struct shape in[TENSORS];
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        for (size_t i = 0; i < kinds[k].count; i++) {
            if (!stk_str_eq(type, stk_str_from(kinds[k].names[i]))) {
                continue;
            }
            int count = shapes_of(shapes, in);
            if (kinds[k].output < 0) {
                product(in, count, c);
            } else if (count > 0) {
                traffic(in, count, (enum output)kinds[k].output, c);
            }
            return;
        }
    }
}

int64_t stk_xp_update_elements(struct stk_str op, struct stk_str shapes, int64_t *width)
{
    struct stk_str type = stk_tf_name_parse(op).type;
    struct shape in[TENSORS];
    int64_t most = -1;
    if (!stk_str_starts(type, STK_STR("ResourceApply")) &&
        (!stk_str_eq(type, STK_STR("AssignSubVariableOp")) ||
         stk_str_contains(op, STK_STR("AssignMovingAvg")))) {
        return -1;
    }
    for (int i = 0, count = shapes_of(shapes, in); i < count; i++) {
        int64_t n = in[i].width > 0 ? elements(&in[i]) : -1;
        if (n > most) {
            most = n;
            *width = in[i].width;
        }
    }
    return most;
}
