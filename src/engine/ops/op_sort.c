// SPDX-License-Identifier: Apache-2.0
// Order along an axis: argmax, argmin, sort, argsort (stable), cumsum, cumprod.
#include "base/assert.h"
#include "engine/ops/op_move.h"

// The axis, then each operation's other argument.
enum { ARG_AXIS, ARG_OUTPUT_TYPE = 1, ARG_DESCENDING = 1, ARG_EXCLUSIVE = 1, ARG_REVERSE };
static const struct stk_arg_row extreme_args[] = {
    [ARG_AXIS] = STK_ARG("axis", INT, "the axis"),
    [ARG_OUTPUT_TYPE] = STK_ARG("output_type", DTYPE, "type of the indices", .fallback = STK_DT_I64,
                                .choices = STK_OP_PLACES),
    {0}};
static const struct stk_arg_row order_args[] = {
    [ARG_AXIS] = STK_ARG("axis", INT, "the axis", .fallback = -1),
    [ARG_DESCENDING] = STK_ARG("descending", BOOL, "sort in descending order"),
    {0}};
static const struct stk_arg_row cumsum_args[] = {
    [ARG_AXIS] = STK_ARG("axis", INT, "the axis"),
    [ARG_EXCLUSIVE] = STK_ARG("exclusive", BOOL, "exclude the value itself"),
    [ARG_REVERSE] = STK_ARG("reverse", BOOL, "start from the end"),
    {0}};

enum { ARGMAX, ARGMIN, SORT, ARGSORT, CUMSUM, CUMPROD };

// The value's lines along the axis, one after the other.
struct lines {
    int64_t outer, length, inner;
};

static bool lines_of(struct lines *l, const struct stk_shape *s, int64_t asked, int *axis)
{
    if (!stk_op_axis(asked, s->rank, axis)) {
        return false;
    }
    *l =
        (struct lines){stk_op_span(s, 0, *axis), s->dim[*axis], stk_op_span(s, *axis + 1, s->rank)};
    return true;
}

static enum stoker_status sort_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    int op = c->op->arg, axis;
    enum stk_dtype t = c->in[0].dtype;
    bool is_flag = t == STK_DT_BOOL && (op == ARGMAX || op == ARGMIN);
    if (!is_flag && (!stk_op_is_number(t) || stk_op_is_half(t))) {
        return stk_err_set(err, STOKER_EINVAL, "%s: not for %s", c->op->name, stk_dtype_name(t));
    }
    bool gives_places = op == ARGMAX || op == ARGMIN || op == ARGSORT;
    c->out[0].dtype = !gives_places   ? t
                      : op == ARGSORT ? STK_DT_I32
                                      : (enum stk_dtype)c->args[ARG_OUTPUT_TYPE].i;
    struct stk_shape *out = &c->out[0].shape;
    *out = c->in[0].shape;
    if (out->rank < 0) {
        return STOKER_OK;
    }
    if (!stk_op_axis(c->args[ARG_AXIS].i, out->rank, &axis)) {
        return stk_err_set(err, STOKER_EINVAL, "%s: no such axis in %d dimensions", c->op->name,
                           out->rank);
    }
    if (op == ARGMAX || op == ARGMIN) {
        out->rank--;
        memmove(out->dim + axis, out->dim + axis + 1,
                (size_t)(out->rank - axis) * sizeof out->dim[0]);
    }
    return STOKER_OK;
}

// NaN counts as the extreme, and the first one wins, as in TensorFlow's reducers.
#define EXTREME(N, T, U)                                                                           \
    case STK_DT_##N:                                                                               \
        for (int64_t k = 1; k < l->length; k++) {                                                  \
            T x = ((const T *)in)[first + k * l->inner],                                           \
              b = ((const T *)in)[first + best * l->inner];                                        \
            best = (is_max ? x > b : x < b) ? k : best;                                            \
        }                                                                                          \
        break;
static int64_t extreme(const void *in, enum stk_dtype t, const struct lines *l, int64_t first,
                       bool is_max)
{
    int64_t best = 0;
    switch (t) {
        STK_FOR_NUMBERS(EXTREME)
    default:
        break;
    }
    return best;
}

#define COMES_AFTER(N, T, U)                                                                       \
    case STK_DT_##N: {                                                                             \
        T x = ((const T *)in)[a], y = ((const T *)in)[b];                                          \
        return falls ? x < y : x > y;                                                              \
    }
static bool comes_after(const void *in, enum stk_dtype t, int64_t a, int64_t b, bool falls)
{
    switch (t) {
        STK_FOR_NUMBERS(COMES_AFTER)
    default:
        return false;
    }
}

// The indices of a line in sorted order, by merging; `spare` has room for as many.
static void order_line(const void *in, enum stk_dtype t, const struct lines *l, int64_t first,
                       bool falls, int64_t *order, int64_t *spare)
{
    for (int64_t k = 0; k < l->length; k++) {
        order[k] = k;
    }
    for (int64_t width = 1; width < l->length; width *= 2) {
        for (int64_t lo = 0; lo < l->length; lo += 2 * width) {
            int64_t mid = lo + width < l->length ? lo + width : l->length;
            int64_t hi = lo + 2 * width < l->length ? lo + 2 * width : l->length, a = lo, b = mid;
            for (int64_t k = lo; k < hi; k++) {
                bool takes_b =
                    a >= mid || (b < hi && comes_after(in, t, first + order[a] * l->inner,
                                                       first + order[b] * l->inner, falls));
                spare[k] = takes_b ? order[b++] : order[a++];
            }
        }
        memcpy(order, spare, (size_t)l->length * sizeof order[0]);
    }
}

#define ADD_UP(N, T, U)                                                                            \
    case STK_DT_##N: {                                                                             \
        U sum = is_product ? 1 : 0;                                                                \
        for (int64_t k = 0; k < l->length; k++) {                                                  \
            int64_t at = first + (reverse ? l->length - 1 - k : k) * l->inner;                     \
            U v = (U)((const T *)in)[at], next = is_product ? sum * v : sum + v;                   \
            ((T *)out)[at] = (T)(exclusive ? sum : next);                                          \
            sum = next;                                                                            \
        }                                                                                          \
        break;                                                                                     \
    }
static void add_up(void *out, const void *in, enum stk_dtype t, const struct lines *l,
                   int64_t first, bool reverse, bool exclusive, bool is_product)
{
    switch (t) {
        STK_FOR_NUMBERS(ADD_UP)
    default:
        break;
    }
}

static void sort_element(const struct stk_op_run *r, void *out, const void *in,
                         const struct lines *l, int64_t *order)
{
    enum stk_dtype t = r->in[0]->dtype, to = r->spec[0].dtype;
    t = t == STK_DT_BOOL ? STK_DT_U8 : t; // false is less than true
    STK_ASSERT(l->outer >= 0 && l->length >= 0 && l->inner >= 0);
    size_t size = stk_dtype_bytes(t);
    bool is_cumsum = r->op->arg == CUMSUM || r->op->arg == CUMPROD;
    bool is_extreme = r->op->arg == ARGMAX || r->op->arg == ARGMIN;
    bool falls = !is_cumsum && !is_extreme && r->args[ARG_DESCENDING].i != 0;
    for (int64_t line = 0; line < l->outer * l->inner; line++) {
        int64_t first = line / l->inner * l->length * l->inner + line % l->inner;
        if (is_extreme) {
            stk_op_put_place(out, to, line, extreme(in, t, l, first, r->op->arg == ARGMAX));
            continue;
        }
        if (is_cumsum) {
            add_up(out, in, t, l, first, r->args[ARG_REVERSE].i != 0, r->args[ARG_EXCLUSIVE].i != 0,
                   r->op->arg == CUMPROD);
            continue;
        }
        order_line(in, t, l, first, falls, order, order + l->length);
        for (int64_t k = 0; k < l->length; k++) {
            int64_t at = first + k * l->inner;
            if (r->op->arg == ARGSORT) {
                stk_op_put_place(out, to, at, order[k]);
            } else {
                memcpy((uint8_t *)out + (size_t)at * size,
                       (const uint8_t *)in + (size_t)(first + order[k] * l->inner) * size, size);
            }
        }
    }
}

static enum stoker_status sort_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    struct stk_shape shape = in->shape;
    struct lines l;
    int axis;
    bool is_extreme = r->op->arg == ARGMAX || r->op->arg == ARGMIN;
    if (!lines_of(&l, &shape, r->args[ARG_AXIS].i, &axis)) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "no such axis in %d dimensions", shape.rank);
    }
    if (is_extreme) {
        if (l.length == 0) {
            return stk_op_fail(r, 0, STOKER_EINVAL, "the axis is empty");
        }
        shape.rank--;
        memmove(shape.dim + axis, shape.dim + axis + 1,
                (size_t)(shape.rank - axis) * sizeof shape.dim[0]);
    }
    uint8_t *out = stk_op_out(r, 0, r->spec[0].dtype, &shape, err);
    if (out && stk_shape_count(&shape) == 0) { // however many empty lines there are
        return STOKER_OK;
    }
    struct stk_buf *order =
        out ? stk_buf_get(r->pool, (size_t)l.length * 2 * sizeof(int64_t)) : NULL;
    if (!order) {
        return out ? stk_op_no_memory(r, err) : err->code;
    }
    size_t bytes = (size_t)stk_shape_count(&shape) * stk_dtype_bytes(r->spec[0].dtype);
    for (int64_t i = 0; i < r->n; i++) {
        sort_element(r, out + (size_t)i * bytes, stk_col_at(in, i), &l, (int64_t *)order->data);
    }
    stk_buf_drop(order);
    return STOKER_OK;
}

#define ROW_OP(id, which, rows, about)                                                             \
    const struct stk_op stk_op_##id = {.name = #id,                                                \
                                       .summary = about,                                           \
                                       .cost_ns = 5,                                               \
                                       .signature = "any",                                         \
                                       .infer = sort_infer,                                        \
                                       .run = sort_run,                                            \
                                       .args = rows,                                               \
                                       .arg = which};
ROW_OP(argmax, ARGMAX, extreme_args, "Index of the largest value along `axis`")
ROW_OP(argmin, ARGMIN, extreme_args, "Index of the smallest value along `axis`")
ROW_OP(sort, SORT, order_args, "Sorts along `axis`")
ROW_OP(argsort, ARGSORT, order_args, "The indices that sort the values")
ROW_OP(cumsum, CUMSUM, cumsum_args, "Cumulative sums along `axis`")
ROW_OP(cumprod, CUMPROD, cumsum_args, "Cumulative products along `axis`")
