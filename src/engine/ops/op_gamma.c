// SPDX-License-Identifier: Apache-2.0
// random_gamma: values of gamma distributions with scale 1; attribute "shape" gives how many for
// each shape parameter alpha in the input. Marsaglia and Tsang's method (2000) in double precision;
// alpha below 1 by way of alpha + 1. An element's bits depend on its index, as in op_random.c.
#include <math.h>

#include "base/str.h"
#include "engine/ops/op_util.h"

enum { ARG_SEED, ARG_SHAPE };
static const struct stk_arg_row gamma_args[] = {
    [ARG_SEED] = STK_OP_SEED_ROW,
    [ARG_SHAPE] =
        STK_ARG("shape", INTS, "leading dimensions, before alpha's own", .is_required = true),
    {0}};

#define DRAWS ((uint64_t)1 << 16) // most draws for one value

struct source {
    uint64_t seed, next;
    int64_t index;
};

// Uniform in (0, 1].
static double unit(struct source *s)
{
    uint64_t bits = stk_random_bits(s->seed, 4, s->index, s->next++);
    return ((double)(bits >> 11) + 1) * 0x1p-53;
}

static double normal(struct source *s)
{
    double u = unit(s), v = unit(s);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static double draw(struct source *s, double alpha)
{
    double boost = 1;
    if (!(alpha > 0)) {
        return NAN;
    }
    if (isinf(alpha)) {
        return alpha; // no draw would ever be accepted
    }
    if (alpha < 1) {
        boost = pow(unit(s), 1 / alpha);
        alpha += 1;
    }
    double d = alpha - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = normal(s), v = 1 + c * x;
        if (v <= 0) {
            continue;
        }
        v = v * v * v;
        if (log(unit(s)) < 0.5 * x * x + d - d * v + d * log(v)) {
            return boost * d * v;
        }
    }
}

// The result's shape. False: it has too many dimensions, or negative ones.
static bool shape_of(const struct stk_arg_value *args, const struct stk_shape *alpha,
                     struct stk_shape *out)
{
    int count = 0;
    *out = (struct stk_shape){0};
    if (!stk_op_ints(&args[ARG_SHAPE], NULL, 0, out->dim, STK_RANK_MAX, &count) ||
        count + alpha->rank > STK_RANK_MAX) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        if (out->dim[i] < 0) {
            return false;
        }
    }
    for (int i = 0; i < alpha->rank; i++) {
        out->dim[count + i] = alpha->dim[i];
    }
    out->rank = count + alpha->rank;
    return true;
}

static enum stoker_status gamma_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stk_dtype t = c->in[0].dtype;
    if (t != STK_DT_F32 && t != STK_DT_F64) {
        return stk_err_set(err, STOKER_EINVAL, "random_gamma: alpha is float32 or float64, not %s",
                           stk_dtype_name(t));
    }
    c->out[0].dtype = t;
    if (c->in[0].shape.rank >= 0 && !shape_of(c->args, &c->in[0].shape, &c->out[0].shape)) {
        return stk_err_set(err, STOKER_EINVAL,
                           "random_gamma: shape is a list of sizes, at most %d "
                           "dimensions with those of alpha",
                           STK_RANK_MAX);
    }
    return STOKER_OK;
}

static enum stoker_status gamma_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    struct stk_shape shape;
    int64_t seed = r->args[ARG_SEED].i;
    if (!shape_of(r->args, &in->shape, &shape)) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "too many dimensions");
    }
    uint8_t *out = stk_op_out(r, 0, in->dtype, &shape, err);
    if (!out) {
        return err->code;
    }
    int64_t each = stk_shape_count(&in->shape), count = stk_shape_count(&shape);
    for (int64_t i = 0; i < r->n; i++) {
        struct source s = {.seed = seed >= 0 ? stk_hash_u64((uint64_t)seed + 1) : r->seed,
                           .index = r->first_index + i};
        const void *alpha = stk_col_at(in, i);
        for (int64_t k = 0; k < count; k++) {
            s.next = (uint64_t)k * DRAWS;
            if (in->dtype == STK_DT_F32) {
                *(float *)out = (float)draw(&s, ((const float *)alpha)[k % each]);
            } else {
                *(double *)out = draw(&s, ((const double *)alpha)[k % each]);
            }
            out += stk_dtype_bytes(in->dtype);
        }
    }
    return STOKER_OK;
}

const struct stk_op stk_op_random_gamma = {
    .name = "random_gamma",
    .summary = "Gamma-distributed values with shape alpha and scale 1",
    .is_random = true,
    .cost_ns = 60,
    .signature = "any",
    .infer = gamma_infer,
    .run = gamma_run,
    .args = gamma_args};
