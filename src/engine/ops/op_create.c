// SPDX-License-Identifier: Apache-2.0
// Creates values: zeros_like, ones_like, fill (zeros, ones and fill of a computed shape), range,
// one_hot.
#include <math.h>

#include "engine/ops/op_move.h"

// The argument rows of each operation start at 0.
enum { ARG_DTYPE = 0, ARG_DIMS = 0, ARG_DEPTH = 0, ARG_AXIS = 1 };
static const struct stk_arg_row like_args[] = {
    [ARG_DTYPE] = STK_ARG("dtype", DTYPE, "default: the input's", .is_open = true), {0}};
static const struct stk_arg_row fill_args[] = {
    [ARG_DIMS] = STK_ARG("dims", INTS, "the shape", .is_input_too = true), {0}};
static const struct stk_arg_row one_hot_args[] = {
    [ARG_DEPTH] = STK_ARG("depth", INT, "length of the vectors", .is_input_too = true),
    [ARG_AXIS] = STK_ARG("axis", INT, "the new axis", .fallback = -1),
    {0}};

static void put_number(void *to, enum stk_dtype t, double value)
{
    switch (t) {
    case STK_DT_BOOL:
        *(uint8_t *)to = value != 0;
        break;
#define PUT(N, T, U)                                                                               \
    case STK_DT_##N:                                                                               \
        *(T *)to = (T)value;                                                                       \
        break;
        STK_FOR_NUMBERS(PUT)
    case STK_DT_F16:
        *(uint16_t *)to = stk_half_from_float((float)value);
        break;
    case STK_DT_BF16:
        *(uint16_t *)to = stk_bfloat_from_float((float)value);
        break;
    default:
        break;
    }
}

static enum stoker_status like_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stoker_status s = stk_op_want_inputs(c, 1, 1, err);
    if (s == STOKER_OK) {
        c->out[0].shape = c->in[0].shape;
        c->out[0].dtype =
            c->args[ARG_DTYPE].attr ? (enum stk_dtype)c->args[ARG_DTYPE].i : c->in[0].dtype;
        if (c->out[0].dtype >= STK_DT_DATASET || (c->op->arg && c->out[0].dtype == STK_DT_STRING)) {
            s = stk_err_set(err, STOKER_EINVAL, "%s: not for %s", c->op->name,
                            stk_dtype_name(c->out[0].dtype));
        }
    }
    return s;
}

static enum stoker_status like_run(struct stk_op_run *r, struct stoker_err *err)
{
    enum stk_dtype t = r->spec[0].dtype;
    uint8_t *out = stk_op_out(r, 0, t, &r->in[0]->shape, err);
    int64_t count = r->n * stk_shape_count(&r->in[0]->shape);
    size_t size = stk_dtype_bytes(t);
    if (!out) {
        return err->code;
    }
    memset(out, 0, (size_t)count * size);
    for (int64_t k = 0; r->op->arg && k < count; k++) {
        put_number(out + (size_t)k * size, t, 1);
    }
    return STOKER_OK;
}

const struct stk_op stk_op_zeros_like = {.name = "zeros_like",
                                         .summary = "Zeros with the input's shape",
                                         .infer = like_infer,
                                         .run = like_run,
                                         .arg = 0,
                                         .args = like_args};
const struct stk_op stk_op_ones_like = {.name = "ones_like",
                                        .summary = "Ones with the input's shape",
                                        .infer = like_infer,
                                        .run = like_run,
                                        .arg = 1,
                                        .args = like_args};

// fill: dims (attribute, or the first input), then the scalar value as the last input.
static enum stoker_status fill_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    int64_t dims[STK_RANK_MAX];
    int rank;
    const struct stk_spec *value = &c->in[c->n_in - 1];
    if (value->shape.rank > 0) {
        return stk_err_set(err, STOKER_EINVAL, "fill: the value must be a scalar");
    }
    stk_spec_copy(&c->out[0], value);
    c->out[0].shape.rank = STK_UNKNOWN;
    if (stk_op_static_ints(c, ARG_DIMS, 0, dims, STK_RANK_MAX, &rank) &&
        (c->n_in == 2 || c->args[ARG_DIMS].attr)) {
        c->out[0].shape.rank = rank;
        for (int i = 0; i < rank; i++) {
            c->out[0].shape.dim[i] = dims[i];
            if (dims[i] < 0) {
                return stk_err_set(err, STOKER_EINVAL, "fill: a dimension is %lld",
                                   (long long)dims[i]);
            }
        }
    } else if (c->n_in == 2 && c->in[0].shape.rank == 1 && c->in[0].shape.dim[0] >= 0 &&
               c->in[0].shape.dim[0] <= STK_RANK_MAX) {
        c->out[0].shape.rank = (int)c->in[0].shape.dim[0];
        for (int i = 0; i < c->out[0].shape.rank; i++) {
            c->out[0].shape.dim[i] = STK_UNKNOWN;
        }
    }
    return STOKER_OK;
}

static enum stoker_status fill_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *value = r->in[r->n_in - 1], *list = r->n_in == 2 ? r->in[0] : NULL;
    size_t size = stk_dtype_bytes(value->dtype);
    int64_t dims[STK_RANK_MAX];
    for (int64_t i = 0; i < r->n; i++) {
        struct stk_shape shape = {0};
        if (!stk_op_ints(&r->args[ARG_DIMS], list, i, dims, STK_RANK_MAX, &shape.rank)) {
            return stk_op_fail(r, i, STOKER_EINVAL, "dims isn't a list of at most %d integers",
                               STK_RANK_MAX);
        }
        for (int k = 0; k < shape.rank; k++) {
            shape.dim[k] = dims[k];
        }
        int64_t count = stk_shape_is_known(&shape) ? stk_shape_count(&shape) : -1;
        if (count < 0) {
            return stk_op_fail(r, i, STOKER_EINVAL,
                               "a dimension is negative, or all are too large");
        }
        const void *one = stk_op_scalar(value, i);
        if (!one) {
            return stk_op_fail(r, i, STOKER_EINVAL, "the value must be a scalar");
        }
        uint8_t *out = stk_op_append(r, 0, value->dtype, &shape, err);
        if (!out) {
            return err->code;
        }
        for (int64_t k = 0; k < count; k++) {
            memcpy(out + (size_t)k * size, one, size);
        }
    }
    return stk_keep_join(&r->out[0].keep, value->keep) ? STOKER_OK : stk_op_no_memory(r, err);
}

const struct stk_op stk_op_fill = {.name = "fill",
                                   .summary = "Fills a shape with one value",
                                   .signature = "any, any?",
                                   .infer = fill_infer,
                                   .run = fill_run,
                                   .args = fill_args};

// range: start, limit, delta: three scalars of one type.
static double scalar_of(const struct stk_col *c, int64_t i)
{
    const void *p = stk_col_at(c, i);
    switch (c->dtype) {
#define READ(N, T, U)                                                                              \
    case STK_DT_##N:                                                                               \
        return (double)*(const T *)p;
        STK_FOR_NUMBERS(READ)
    default:
        return 0;
    }
}

static int64_t int_at(const struct stk_col *c, int64_t i, int64_t k)
{
    const void *p = stk_col_at(c, i);
    switch (c->dtype) {
#define READ_INT(N, T, U)                                                                          \
    case STK_DT_##N:                                                                               \
        return (int64_t)((const T *)p)[k];
        STK_FOR_INTS(READ_INT)
    default:
        return -1;
    }
}

// How many numbers element i has; exact for integers. -1: delta is 0, or too many.
static int64_t range_count(const struct stk_col *const *in, int64_t i)
{
    bool is_int = stk_dtype_is_int(in[0]->dtype);
    double delta = scalar_of(in[2], i);
    if (delta == 0) {
        return -1;
    }
    double n = ceil((scalar_of(in[1], i) - scalar_of(in[0], i)) / delta);
    if (is_int && in[0]->dtype != STK_DT_U64) {
        __int128 step = int_at(in[2], i, 0),
                 span = (__int128)int_at(in[1], i, 0) - int_at(in[0], i, 0);
        span = step > 0 ? span : -span;
        step = step > 0 ? step : -step;
        n = (double)(span > 0 ? (span - 1) / step + 1 : 0);
    }
    return n <= 0 ? 0 : n < (double)STK_VALUES_MAX ? (int64_t)n : -1;
}

static enum stoker_status range_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stoker_status s = stk_op_want_inputs(c, 3, 3, err);
    for (int j = 0; s == STOKER_OK && j < 3; j++) {
        bool fits = c->in[j].dtype == c->in[0].dtype && c->in[j].shape.rank <= 0 &&
                    stk_op_is_number(c->in[j].dtype) && !stk_op_is_half(c->in[j].dtype);
        s = fits ? STOKER_OK
                 : stk_err_set(err, STOKER_EINVAL,
                               "range: start, limit and delta must be scalars of one type");
    }
    if (s == STOKER_OK) {
        c->out[0].dtype = c->in[0].dtype;
        c->out[0].shape = (struct stk_shape){1, {STK_UNKNOWN}};
        if (c->constant[0] && c->constant[1] && c->constant[2]) {
            int64_t count = range_count(c->constant, 0);
            c->out[0].shape.dim[0] = count < 0 ? STK_UNKNOWN : count;
        }
    }
    return s;
}

static enum stoker_status range_run(struct stk_op_run *r, struct stoker_err *err)
{
    enum stk_dtype t = r->in[0]->dtype;
    size_t size = stk_dtype_bytes(t);
    for (int64_t i = 0; i < r->n; i++) {
        const void *first = stk_op_scalar(r->in[0], i), *step = stk_op_scalar(r->in[2], i);
        if (!first || !step || !stk_op_scalar(r->in[1], i)) {
            return stk_op_fail(r, i, STOKER_EINVAL, "start, limit and delta must be scalars");
        }
        int64_t n = range_count(r->in, i);
        if (n < 0) {
            return stk_op_fail(r, i, STOKER_EINVAL, "delta is 0, or there are too many values");
        }
        struct stk_shape shape = {1, {n}};
        uint8_t *out = stk_op_append(r, 0, t, &shape, err);
        if (!out) {
            return err->code;
        }
        for (int64_t k = 0; k < shape.dim[0]; k++) {
            switch (t) {
#define COUNT(N, T, U)                                                                             \
    case STK_DT_##N:                                                                               \
        *(T *)(out + (size_t)k * size) =                                                           \
            (T)((U) * (const T *)first + (U)k * (U) * (const T *)step);                            \
        break;
                STK_FOR_NUMBERS(COUNT)
            default:
                break;
            }
        }
    }
    return STOKER_OK;
}

const struct stk_op stk_op_range = {.name = "range",
                                    .summary = "Numbers from start to limit",
                                    .infer = range_infer,
                                    .run = range_run};

// one_hot: indices, then on_value and off_value (scalars); depth (attribute, or the second input).
static int on_input(const struct stk_arg_value *args)
{
    return args[ARG_DEPTH].attr ? 1 : 2;
}

static enum stoker_status one_hot_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    int on = on_input(c->args), count, axis;
    int64_t depth = STK_UNKNOWN;
    if (c->n_in != on + 2 || !stk_dtype_is_int(c->in[0].dtype) ||
        c->in[on].dtype != c->in[on + 1].dtype || c->in[on].shape.rank > 0 ||
        c->in[on + 1].shape.rank > 0) {
        return stk_err_set(err, STOKER_EINVAL,
                           "one_hot: takes integers, a depth, and scalars of one type for on and "
                           "off");
    }
    (void)stk_op_static_ints(c, ARG_DEPTH, 1, &depth, 1, &count);
    stk_spec_copy(&c->out[0], &c->in[on]);
    struct stk_shape *out = &c->out[0].shape;
    *out = c->in[0].shape;
    if (out->rank < 0) {
        return STOKER_OK;
    }
    if (out->rank == STK_RANK_MAX || !stk_op_axis(c->args[ARG_AXIS].i, out->rank + 1, &axis)) {
        return stk_err_set(err, STOKER_EINVAL, "one_hot: no such axis in %d dimensions",
                           out->rank + 1);
    }
    memmove(out->dim + axis + 1, out->dim + axis, (size_t)(out->rank - axis) * sizeof out->dim[0]);
    out->dim[axis] = depth;
    out->rank++;
    return STOKER_OK;
}

static enum stoker_status one_hot_run(struct stk_op_run *r, struct stoker_err *err)
{
    int on = on_input(r->args), count, axis;
    const struct stk_col *in = r->in[0];
    struct stk_shape shape = in->shape;
    int64_t depth, places = stk_shape_count(&in->shape);
    if (shape.rank == STK_RANK_MAX) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "the indices have %d dimensions already",
                           shape.rank);
    }
    if (!stk_op_ints(&r->args[ARG_DEPTH], r->in[1], 0, &depth, 1, &count) || depth < 0 ||
        !stk_op_axis(r->args[ARG_AXIS].i, shape.rank + 1, &axis)) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "the depth must be an integer of 0 or more");
    }
    memmove(shape.dim + axis + 1, shape.dim + axis,
            (size_t)(shape.rank - axis) * sizeof shape.dim[0]);
    shape.dim[axis] = depth;
    shape.rank++;
    int64_t inner = stk_op_span(&in->shape, axis, in->shape.rank);
    size_t size = stk_dtype_bytes(r->in[on]->dtype);
    uint8_t *out = stk_op_out(r, 0, r->in[on]->dtype, &shape, err);
    if (!out) {
        return err->code;
    }
    for (int64_t i = 0; i < r->n; i++) {
        const void *yes = stk_op_scalar(r->in[on], i), *no = stk_op_scalar(r->in[on + 1], i);
        if (!yes || !no) {
            return stk_op_fail(r, i, STOKER_EINVAL, "the values for on and off must be scalars");
        }
        uint8_t *to = out + (size_t)(i * places * depth) * size;
        for (int64_t k = 0; k < places * depth; k++) {
            memcpy(to + (size_t)k * size, no, size);
        }
        for (int64_t k = 0; k < places; k++) {
            int64_t v = int_at(in, i, k);
            if (v >= 0 && v < depth) {
                int64_t at = (k / inner * depth + v) * inner + k % inner;
                memcpy(to + (size_t)at * size, yes, size);
            }
        }
    }
    return STOKER_OK;
}

const struct stk_op stk_op_one_hot = {.name = "one_hot",
                                      .summary = "A one-hot vector per index",
                                      .infer = one_hot_infer,
                                      .run = one_hot_run,
                                      .args = one_hot_args};
