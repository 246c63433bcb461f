// SPDX-License-Identifier: Apache-2.0
// Random values: random_uniform, random_normal, truncated_normal, random_shuffle. An element's bits
// depend on its index and on the stage's seed or the attribute "seed", not on threads or order.
// They aren't TensorFlow's bits.
#include <math.h>

#include "base/str.h"
#include "engine/ops/float_math.h"
#include "engine/ops/op_move.h"

enum { ARG_SEED, ARG_SHAPE, ARG_DTYPE, ARG_LOW, ARG_MAXVAL, ARG_STDDEV = ARG_MAXVAL };
// Arguments of all operations that draw values.
#define DRAW_ROWS                                                                                  \
    [ARG_SEED] = STK_OP_SEED_ROW,                                                                  \
    [ARG_SHAPE] = STK_ARG("shape", INTS, "of the values", .is_input_too = true),                   \
    [ARG_DTYPE] = STK_ARG("dtype", DTYPE, "their type", .fallback = STK_DT_F32)
static const struct stk_arg_row uniform_args[] = {
    DRAW_ROWS,
    [ARG_LOW] = STK_ARG("minval", FLOAT, "lower bound"),
    [ARG_MAXVAL] = STK_ARG("maxval", FLOAT, "upper bound, exclusive; required for integers",
                           .fallback = 1, .fallback_float = 1),
    {0}};
static const struct stk_arg_row normal_args[] = {
    DRAW_ROWS,
    [ARG_LOW] = STK_ARG("mean", FLOAT, "of the values"),
    [ARG_STDDEV] = STK_ARG("stddev", FLOAT, "their standard deviation", .fallback_float = 1),
    {0}};
static const struct stk_arg_row shuffle_args[] = {[ARG_SEED] = STK_OP_SEED_ROW, {0}};

enum { UNIFORM, NORMAL, TRUNCATED };

static uint64_t seed_of(const struct stk_op_run *r)
{
    int64_t seed = r->args[ARG_SEED].i;
    return seed >= 0 ? stk_hash_u64((uint64_t)seed + 1) : r->seed;
}

// Uniform in [0, 1), 53 bits.
static double unit(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

static enum stoker_status random_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    int64_t dims[STK_RANK_MAX];
    int rank;
    enum stk_dtype t = (enum stk_dtype)c->args[ARG_DTYPE].i;
    bool is_int = t == STK_DT_I32 || t == STK_DT_I64;
    if (!(t == STK_DT_F32 || t == STK_DT_F64 || stk_op_is_half(t) ||
          (is_int && c->op->arg == UNIFORM))) {
        return stk_err_set(err, STOKER_EINVAL, "%s: not for %s", c->op->name, stk_dtype_name(t));
    }
    if (is_int &&
        (c->args[ARG_MAXVAL].attr ? c->args[ARG_MAXVAL].i : INT64_MIN) <= c->args[ARG_LOW].i) {
        return stk_err_set(err, STOKER_EINVAL, "%s: integers need minval < maxval", c->op->name);
    }
    c->out[0].dtype = t;
    if (stk_op_static_ints(c, ARG_SHAPE, 0, dims, STK_RANK_MAX, &rank)) {
        c->out[0].shape.rank = rank;
        for (int i = 0; i < rank; i++) {
            c->out[0].shape.dim[i] = dims[i];
        }
    }
    return STOKER_OK;
}

static double draw(const struct stk_op_run *r, uint64_t seed, int64_t index, int64_t k)
{
    if (r->op->arg == UNIFORM) {
        return unit(stk_random_bits(seed, 1, index, (uint64_t)k));
    }
    for (uint64_t attempt = 0;; attempt++) { // Box and Muller
        uint64_t at = (uint64_t)k * 2 + (attempt << 40);
        double u = 1 - unit(stk_random_bits(seed, 2, index, at));
        double v = unit(stk_random_bits(seed, 2, index, at + 1));
        double z = sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
        if (r->op->arg == NORMAL || fabs(z) <= 2) {
            return z;
        }
    }
}

static void put_draw(void *out, enum stk_dtype t, int64_t k, double v)
{
    switch (t) {
    case STK_DT_F64:
        ((double *)out)[k] = v;
        break;
    case STK_DT_F16:
        ((uint16_t *)out)[k] = stk_half_from_float((float)v);
        break;
    case STK_DT_BF16:
        ((uint16_t *)out)[k] = stk_bfloat_from_float((float)v);
        break;
    default:
        ((float *)out)[k] = (float)v;
    }
}

enum { PAIRS = 128 }; // drawn at a time

// Box and Muller: two values from each draw, 24 bits for the distance and 24 for the angle.
static void draw_normals(const struct stk_op_run *r, float *out, uint64_t seed, int64_t index,
                         int64_t count)
{
    float distance[PAIRS], turns[PAIRS], cosine[PAIRS], sine[PAIRS];
    double mean = r->args[ARG_LOW].f, deviation = r->args[ARG_STDDEV].f;
    for (int64_t at = 0; at < count; at += 2 * PAIRS) {
        int64_t left = count - at, pairs = left < 2 * PAIRS ? (left + 1) / 2 : PAIRS;
        for (int64_t k = 0; k < pairs; k++) {
            uint64_t bits = stk_random_bits(seed, 2, index, (uint64_t)(at / 2 + k));
            distance[k] = (float)((bits >> 40) + 1) * 0x1p-24f;
            turns[k] = (float)(bits & 0xffffff) * 0x1p-24f;
        }
        stk_float_log(distance, distance, pairs);
        stk_float_circle(cosine, sine, turns, pairs);
        for (int64_t k = 0; k < pairs; k++) {
            distance[k] = sqrtf(-2 * distance[k]);
        }
        for (int64_t k = 0; k < left / 2 && k < pairs; k++) {
            out[at + 2 * k] = (float)(mean + deviation * (double)(distance[k] * cosine[k]));
            out[at + 2 * k + 1] = (float)(mean + deviation * (double)(distance[k] * sine[k]));
        }
        if (left < 2 * PAIRS && left % 2) {
            float last = distance[pairs - 1] * cosine[pairs - 1];
            out[count - 1] = (float)(mean + deviation * (double)last);
        }
    }
}

static void draw_ints(const struct stk_op_run *r, void *out, uint64_t seed, int64_t index,
                      int64_t count)
{
    int64_t low = r->args[ARG_LOW].i;
    uint64_t span = (uint64_t)r->args[ARG_MAXVAL].i - (uint64_t)low;
    for (int64_t k = 0; k < count; k++) {
        uint64_t bits = stk_random_bits(seed, 1, index, (uint64_t)k);
        uint64_t v = (uint64_t)low + (uint64_t)(((unsigned __int128)bits * span) >> 64);
        stk_op_put_place(out, r->spec[0].dtype, k, (int64_t)v);
    }
}

static enum stoker_status random_run(struct stk_op_run *r, struct stoker_err *err)
{
    enum stk_dtype t = r->spec[0].dtype;
    bool is_uniform = r->op->arg == UNIFORM;
    double low = r->args[ARG_LOW].f;
    double scale = is_uniform ? r->args[ARG_MAXVAL].f - low : r->args[ARG_STDDEV].f;
    uint64_t seed = seed_of(r);
    int64_t dims[STK_RANK_MAX];
    for (int64_t i = 0; i < r->n; i++) {
        struct stk_shape shape = {0};
        if (!stk_op_ints(&r->args[ARG_SHAPE], r->n_in ? r->in[0] : NULL, i, dims, STK_RANK_MAX,
                         &shape.rank)) {
            return stk_op_fail(r, i, STOKER_EINVAL, "the shape isn't a list of at most %d integers",
                               STK_RANK_MAX);
        }
        memcpy(shape.dim, dims, sizeof dims);
        int64_t count = stk_shape_is_known(&shape) ? stk_shape_count(&shape) : -1;
        if (count < 0) {
            return stk_op_fail(r, i, STOKER_EINVAL,
                               "a dimension is negative, or all are too large");
        }
        void *out = stk_op_append(r, 0, t, &shape, err);
        if (!out) {
            return err->code;
        }
        if (stk_dtype_is_int(t)) {
            draw_ints(r, out, seed, r->first_index + i, count);
            continue;
        }
        if (t == STK_DT_F32 && r->op->arg == NORMAL) {
            draw_normals(r, out, seed, r->first_index + i, count);
            continue;
        }
        for (int64_t k = 0; k < count; k++) {
            put_draw(out, t, k, low + scale * draw(r, seed, r->first_index + i, k));
        }
    }
    return STOKER_OK;
}

#define RANDOM(id, which, rows, about)                                                             \
    const struct stk_op stk_op_##id = {.name = #id,                                                \
                                       .summary = about,                                           \
                                       .is_random = true,                                          \
                                       .cost_ns = 10,                                              \
                                       .infer = random_infer,                                      \
                                       .run = random_run,                                          \
                                       .args = rows,                                               \
                                       .arg = which};
RANDOM(random_uniform, UNIFORM, uniform_args, "Uniform between minval and maxval")
RANDOM(random_normal, NORMAL, normal_args, "Normal with mean and stddev")
RANDOM(truncated_normal, TRUNCATED, normal_args, "Normal, within two deviations")

static enum stoker_status shuffle_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    return c->in[0].shape.rank == 0
               ? stk_err_set(err, STOKER_EINVAL, "random_shuffle: a scalar has no order")
               : STOKER_OK;
}

static enum stoker_status shuffle_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    if (in->shape.rank == 0) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "a scalar has no order");
    }
    int64_t length = in->shape.dim[0];
    size_t row = (size_t)stk_op_span(&in->shape, 1, in->shape.rank) * stk_dtype_bytes(in->dtype);
    uint8_t *out = stk_op_out(r, 0, in->dtype, &in->shape, err);
    struct stk_buf *order = out ? stk_buf_get(r->pool, (size_t)length * sizeof(int64_t)) : NULL;
    if (!order) {
        return out ? stk_op_no_memory(r, err) : err->code;
    }
    int64_t *at = (int64_t *)order->data;
    uint64_t seed = seed_of(r);
    for (int64_t i = 0; i < r->n; i++) {
        for (int64_t k = 0; k < length; k++) { // Fisher and Yates, from the inside out
            uint64_t bits = stk_random_bits(seed, 3, r->first_index + i, (uint64_t)k);
            int64_t j = (int64_t)(((unsigned __int128)bits * (uint64_t)(k + 1)) >> 64);
            at[k] = at[j];
            at[j] = k;
        }
        for (int64_t k = 0; k < length; k++, out += row) {
            memcpy(out, (uint8_t *)stk_col_at(in, i) + (size_t)at[k] * row, row);
        }
    }
    stk_buf_drop(order);
    return stk_keep_join(&r->out[0].keep, in->keep) ? STOKER_OK : stk_op_no_memory(r, err);
}

const struct stk_op stk_op_random_shuffle = {.name = "random_shuffle",
                                             .summary = "Shuffles slices",
                                             .is_random = true,
                                             .signature = "any -> same",
                                             .infer = shuffle_infer,
                                             .run = shuffle_run,
                                             .args = shuffle_args};
