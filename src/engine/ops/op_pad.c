// SPDX-License-Identifier: Apache-2.0
// pad (constant, reflect, symmetric; attribute "paddings" INTS before/after per dimension, or the
// second input), tile (attribute "multiples", or the second input), matmul.
#include "base/assert.h"
#include "engine/memory/pad.h"
#include "engine/ops/op_move.h"

// The argument rows of each operation start at 0.
enum {
    ARG_PADDINGS = 0,
    ARG_MODE = 1,
    ARG_MULTIPLES = 0,
    ARG_TRANSPOSE_A = 0,
    ARG_TRANSPOSE_B = 1
};
static const struct stk_arg_row pad_args[] = {
    [ARG_PADDINGS] =
        STK_ARG("paddings", INTS, "padding before and after each dimension", .is_input_too = true),
    [ARG_MODE] = STK_ARG("mode", INT, "value to pad with", .choices = "CONSTANT,REFLECT,SYMMETRIC"),
    {0}};
static const struct stk_arg_row tile_args[] = {
    [ARG_MULTIPLES] =
        STK_ARG("multiples", INTS, "repeats along each dimension", .is_input_too = true),
    {0}};
static const struct stk_arg_row matmul_args[] = {
    [ARG_TRANSPOSE_A] = STK_ARG("transpose_a", BOOL, "transpose the first"),
    [ARG_TRANSPOSE_B] = STK_ARG("transpose_b", BOOL, "transpose the second"),
    {0}};

enum { CONSTANT, REFLECT, SYMMETRIC };

// Index of the input with the fill value; without one, there are at most this many inputs.
static int fill_input(const struct stk_arg_value *args)
{
    return args[ARG_PADDINGS].attr ? 1 : 2;
}

static bool paddings_of(const struct stk_arg_value *args, const struct stk_col *in, int64_t i,
                        int rank, int64_t *pads)
{
    int count;
    return stk_op_ints(&args[ARG_PADDINGS], in, i, pads, 2 * STK_RANK_MAX, &count) &&
           count == 2 * rank;
}

static enum stoker_status pad_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    int64_t pads[2 * STK_RANK_MAX];
    int count;
    int fill = fill_input(c->args);
    if (c->n_in > fill && c->in[fill].dtype != c->in[0].dtype) {
        return stk_err_set(err, STOKER_EINVAL, "pad: %s can't be padded with %s",
                           stk_dtype_name(c->in[0].dtype), stk_dtype_name(c->in[fill].dtype));
    }
    stk_spec_copy(&c->out[0], &c->in[0]);
    struct stk_shape *out = &c->out[0].shape;
    bool is_static = stk_op_static_ints(c, ARG_PADDINGS, 1, pads, 2 * STK_RANK_MAX, &count);
    for (int i = 0; i < out->rank; i++) {
        if (is_static && count != 2 * out->rank) {
            return stk_err_set(err, STOKER_EINVAL, "pad: %d paddings for %d dimensions", count / 2,
                               out->rank);
        }
        int64_t before = is_static ? pads[2 * i] : 0, after = is_static ? pads[2 * i + 1] : 0;
        if (before < 0 || after < 0 || before > STK_VALUES_MAX || after > STK_VALUES_MAX) {
            return stk_err_set(err, STOKER_EINVAL, "pad: paddings %lld and %lld are not 0 to 2^40",
                               (long long)before, (long long)after);
        }
        bool is_known = is_static && out->dim[i] >= 0 &&
                        !__builtin_add_overflow(out->dim[i], before + after, &out->dim[i]);
        out->dim[i] = is_known ? out->dim[i] : STK_UNKNOWN;
    }
    return STOKER_OK;
}

static int64_t mirror(int64_t at, int64_t length, int mode)
{
    if (at >= 0 && at < length) {
        return at;
    }
    int64_t edge = mode == REFLECT ? 0 : 1;
    return at < 0 ? -at - edge : 2 * length - 2 + edge - at;
}

static void mirror_element(uint8_t *out, const struct stk_shape *shape, const uint8_t *in,
                           const struct stk_shape *have, const int64_t *pads, size_t size, int mode)
{
    int64_t at[STK_RANK_MAX] = {0}, from[STK_RANK_MAX], count = stk_shape_count(shape);
    STK_ASSERT(shape->rank == have->rank && count >= 0);
    stk_op_steps(have, from);
    for (int64_t k = 0; k < count; k++, out += size) {
        int64_t offset = 0;
        for (int i = 0; i < shape->rank; i++) {
            offset += mirror(at[i] - pads[2 * i], have->dim[i], mode) * from[i];
        }
        memcpy(out, in + (size_t)offset * size, size);
        for (int i = shape->rank - 1; i >= 0 && ++at[i] == shape->dim[i]; i--) {
            at[i] = 0;
        }
    }
}

static enum stoker_status pad_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    int around = fill_input(r->args);
    const struct stk_col *list = around == 2 && r->n_in > 1 ? r->in[1] : NULL;
    const struct stk_col *fill = r->n_in > around ? r->in[around] : NULL;
    int mode = (int)r->args[ARG_MODE].i;
    size_t size = stk_dtype_bytes(in->dtype);
    static const uint8_t zeros[16];
    int64_t pads[2 * STK_RANK_MAX], before[STK_RANK_MAX];
    for (int64_t i = 0; i < r->n; i++) {
        struct stk_shape shape = in->shape;
        if (!paddings_of(r->args, list, i, shape.rank, pads)) {
            return stk_op_fail(r, i, STOKER_EINVAL, "needs two paddings for each of %d dimensions",
                               shape.rank);
        }
        for (int k = 0; k < shape.rank; k++) {
            int64_t most = mode == CONSTANT ? STK_VALUES_MAX : shape.dim[k] - (mode == REFLECT);
            if (pads[2 * k] < 0 || pads[2 * k + 1] < 0 || pads[2 * k] > most ||
                pads[2 * k + 1] > most) {
                return stk_op_fail(
                    r, i, STOKER_EINVAL, "paddings %lld and %lld do not suit a length of %lld",
                    (long long)pads[2 * k], (long long)pads[2 * k + 1], (long long)shape.dim[k]);
            }
            shape.dim[k] += pads[2 * k] + pads[2 * k + 1];
        }
        const void *value = fill ? stk_op_scalar(fill, i) : zeros;
        if (!value) {
            return stk_op_fail(r, i, STOKER_EINVAL, "the padding value must be a scalar");
        }
        uint8_t *out = stk_op_append(r, 0, in->dtype, &shape, err);
        if (!out) {
            return err->code;
        }
        if (mode == CONSTANT) {
            for (int k = 0; k < shape.rank; k++) {
                before[k] = pads[2 * k];
            }
            stk_pad_put(out, stk_col_at(in, i), &shape, &in->shape, before, size, value);
        } else {
            mirror_element(out, &shape, stk_col_at(in, i), &in->shape, pads, size, mode);
        }
    }
    bool ok = stk_keep_join(&r->out[0].keep, in->keep) &&
              (!fill || stk_keep_join(&r->out[0].keep, fill->keep));
    return ok ? STOKER_OK : stk_op_no_memory(r, err);
}

const struct stk_op stk_op_pad = {.name = "pad",
                                  .summary = "Pads by `paddings`",
                                  .signature = "any, any?, any?",
                                  .infer = pad_infer,
                                  .run = pad_run,
                                  .args = pad_args};

static enum stoker_status tile_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    int64_t times[STK_RANK_MAX];
    int count;
    stk_spec_copy(&c->out[0], &c->in[0]);
    struct stk_shape *out = &c->out[0].shape;
    bool is_static = stk_op_static_ints(c, ARG_MULTIPLES, 1, times, STK_RANK_MAX, &count);
    for (int i = 0; i < out->rank; i++) {
        if (is_static && count != out->rank) {
            return stk_err_set(err, STOKER_EINVAL, "tile: %d multiples for %d dimensions", count,
                               out->rank);
        }
        if (is_static &&
            (times[i] < 0 ||
             (out->dim[i] >= 0 && __builtin_mul_overflow(out->dim[i], times[i], &out->dim[i])))) {
            return stk_err_set(err, STOKER_EINVAL, "tile: a dimension can't be repeated %lld times",
                               (long long)times[i]);
        }
        out->dim[i] = is_static ? out->dim[i] : STK_UNKNOWN;
    }
    return STOKER_OK;
}

static enum stoker_status tile_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0], *list = r->n_in > 1 ? r->in[1] : NULL;
    size_t size = stk_dtype_bytes(in->dtype);
    int64_t times[STK_RANK_MAX], from[STK_RANK_MAX];
    stk_op_steps(&in->shape, from);
    for (int64_t i = 0; i < r->n; i++) {
        struct stk_shape shape = in->shape;
        int count;
        bool fits = stk_op_ints(&r->args[ARG_MULTIPLES], list, i, times, STK_RANK_MAX, &count) &&
                    count == shape.rank;
        for (int k = 0; fits && k < shape.rank; k++) {
            fits = times[k] >= 0 && !__builtin_mul_overflow(shape.dim[k], times[k], &shape.dim[k]);
        }
        if (!fits || stk_shape_count(&shape) < 0) {
            return stk_op_fail(r, i, STOKER_EINVAL,
                               "needs a multiple of 0 or more for each of %d dimensions",
                               in->shape.rank);
        }
        uint8_t *out = stk_op_append(r, 0, in->dtype, &shape, err), *v = stk_col_at(in, i);
        int64_t at[STK_RANK_MAX] = {0}, total = stk_shape_count(&shape);
        if (!out) {
            return err->code;
        }
        for (int64_t n = 0; n < total; n++, out += size) {
            int64_t offset = 0;
            for (int k = 0; k < shape.rank; k++) {
                offset += at[k] % in->shape.dim[k] * from[k];
            }
            memcpy(out, v + (size_t)offset * size, size);
            for (int k = shape.rank - 1; k >= 0 && ++at[k] == shape.dim[k]; k--) {
                at[k] = 0;
            }
        }
    }
    return stk_keep_join(&r->out[0].keep, in->keep) ? STOKER_OK : stk_op_no_memory(r, err);
}

const struct stk_op stk_op_tile = {.name = "tile",
                                   .summary = "Repeats along each dimension",
                                   .signature = "any, any?",
                                   .infer = tile_infer,
                                   .run = tile_run,
                                   .args = tile_args};

// matmul of (..., m, k) and (..., k, n); leading dimensions equal, or absent on one side.
static bool matmul_shape(const struct stk_arg_value *args, const struct stk_shape *a,
                         const struct stk_shape *b, struct stk_shape *out, int64_t *k)
{
    bool ta = args[ARG_TRANSPOSE_A].i != 0, tb = args[ARG_TRANSPOSE_B].i != 0;
    if (a->rank < 2 || b->rank < 2) {
        return false;
    }
    const struct stk_shape *lead = a->rank >= b->rank ? a : b, *other = lead == a ? b : a;
    *out = *lead;
    for (int i = 0; other->rank > 2 && i < lead->rank - 2; i++) {
        if (other->rank != lead->rank ||
            (other->dim[i] != lead->dim[i] && other->dim[i] >= 0 && lead->dim[i] >= 0)) {
            return false;
        }
    }
    int64_t ka = a->dim[a->rank - (ta ? 2 : 1)], kb = b->dim[b->rank - (tb ? 1 : 2)];
    out->dim[out->rank - 2] = a->dim[a->rank - (ta ? 1 : 2)];
    out->dim[out->rank - 1] = b->dim[b->rank - (tb ? 2 : 1)];
    *k = ka;
    return ka == kb || ka < 0 || kb < 0;
}

static enum stoker_status matmul_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    int64_t k;
    enum stoker_status s = stk_op_want_inputs(c, 2, 2, err);
    bool has_type = s == STOKER_OK && c->in[0].dtype == c->in[1].dtype &&
                    (c->in[0].dtype == STK_DT_F32 || c->in[0].dtype == STK_DT_F64 ||
                     c->in[0].dtype == STK_DT_I32 || c->in[0].dtype == STK_DT_I64);
    if (s == STOKER_OK && !has_type) {
        s = stk_err_set(err, STOKER_EINVAL,
                        "matmul: needs two values of float32, float64, int32 or int64");
    }
    if (s != STOKER_OK) {
        return s;
    }
    c->out[0].dtype = c->in[0].dtype;
    if (c->in[0].shape.rank >= 0 && c->in[1].shape.rank >= 0 &&
        !matmul_shape(c->args, &c->in[0].shape, &c->in[1].shape, &c->out[0].shape, &k)) {
        return stk_op_bad_broadcast("matmul", &c->in[0].shape, &c->in[1].shape, err);
    }
    return STOKER_OK;
}

#define MULTIPLY(N, T, U)                                                                          \
    static void multiply_##N(T *out, const T *a, const T *b, int64_t m, int64_t n, int64_t k,      \
                             int64_t a_row, int64_t a_col, int64_t b_row, int64_t b_col)           \
    {                                                                                              \
        for (int64_t i = 0; i < m; i++) {                                                          \
            for (int64_t j = 0; j < n; j++) {                                                      \
                U sum = 0;                                                                         \
                for (int64_t x = 0; x < k; x++) {                                                  \
                    sum += (U)a[i * a_row + x * a_col] * (U)b[x * b_row + j * b_col];              \
                }                                                                                  \
                out[i * n + j] = (T)sum;                                                           \
            }                                                                                      \
        }                                                                                          \
    }
MULTIPLY(F32, float, float)
MULTIPLY(F64, double, double)
MULTIPLY(I32, int32_t, uint32_t)
MULTIPLY(I64, int64_t, uint64_t)

static enum stoker_status matmul_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *a = r->in[0], *b = r->in[1];
    struct stk_shape shape;
    int64_t k;
    if (!matmul_shape(r->args, &a->shape, &b->shape, &shape, &k)) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "the shapes do not fit together");
    }
    bool ta = r->args[ARG_TRANSPOSE_A].i != 0, tb = r->args[ARG_TRANSPOSE_B].i != 0;
    int64_t m = shape.dim[shape.rank - 2], n = shape.dim[shape.rank - 1];
    int64_t times = stk_op_span(&shape, 0, shape.rank - 2);
    STK_ASSERT(m >= 0 && n >= 0 && k >= 0 && times >= 0);
    size_t size = stk_dtype_bytes(a->dtype);
    uint8_t *out = stk_op_out(r, 0, a->dtype, &shape, err);
    if (!out) {
        return err->code;
    }
    times = m && n ? times : 0;
    for (int64_t i = 0; i < r->n; i++) {
        for (int64_t t = 0; t < times; t++, out += (size_t)(m * n) * size) {
            const uint8_t *x =
                (uint8_t *)stk_col_at(a, i) + (size_t)(a->shape.rank > 2 ? t * m * k : 0) * size;
            const uint8_t *y =
                (uint8_t *)stk_col_at(b, i) + (size_t)(b->shape.rank > 2 ? t * n * k : 0) * size;
            switch (a->dtype) {
#define CALL(N, T)                                                                                 \
    case STK_DT_##N:                                                                               \
        multiply_##N((T *)out, (const T *)x, (const T *)y, m, n, k, ta ? 1 : k, ta ? m : 1,        \
                     tb ? 1 : n, tb ? k : 1);                                                      \
        break;
                CALL(F32, float)
                CALL(F64, double) CALL(I32, int32_t) CALL(I64, int64_t) default : break;
            }
        }
    }
    return STOKER_OK;
}

const struct stk_op stk_op_matmul = {.name = "matmul",
                                     .summary = "Matrix product",
                                     .cost_ns = 50,
                                     .infer = matmul_infer,
                                     .run = matmul_run,
                                     .args = matmul_args};
