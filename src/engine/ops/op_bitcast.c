// SPDX-License-Identifier: Apache-2.0
// bitcast: the same bytes as another type. For a narrower type a dimension is added; for a wider
// one the last dimension, which must hold one value's bytes, is removed.
#include <string.h>

#include "engine/ops/op_util.h"

enum { ARG_TYPE };
static const struct stk_arg_row bitcast_args[] = {
    [ARG_TYPE] = STK_ARG("type", DTYPE, "the result's type", .is_required = true), {0}};

static bool has_bits(enum stk_dtype t)
{
    return stk_op_is_number(t);
}

// False: the bytes of `shape` aren't a whole number of values.
static bool cast_shape(struct stk_shape *shape, size_t from, size_t to)
{
    if (from > to) {
        if (shape->rank == STK_RANK_MAX) {
            return false;
        }
        shape->dim[shape->rank++] = (int64_t)(from / to);
    } else if (from < to) {
        int64_t want = (int64_t)(to / from);
        if (shape->rank == 0 ||
            (shape->dim[shape->rank - 1] != want && shape->dim[shape->rank - 1] != STK_UNKNOWN)) {
            return false;
        }
        shape->rank--;
    }
    return true;
}

static enum stoker_status bitcast_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stoker_status s = stk_op_want_inputs(c, 1, 1, err);
    int64_t type = c->args[ARG_TYPE].i;
    if (s != STOKER_OK) {
        return s;
    }
    if (type < 0 || type >= STK_DT_COUNT || !has_bits((enum stk_dtype)type) ||
        !has_bits(c->in[0].dtype)) {
        return stk_err_set(err, STOKER_EINVAL, "bitcast: takes numbers, not %s",
                           stk_dtype_name(c->in[0].dtype));
    }
    c->out[0] = (struct stk_spec){.dtype = (enum stk_dtype)type, .shape = c->in[0].shape};
    char text[STK_SHAPE_TEXT];
    if (c->in[0].shape.rank >= 0 &&
        !cast_shape(&c->out[0].shape, stk_dtype_bytes(c->in[0].dtype), stk_dtype_bytes(type))) {
        return stk_err_set(err, STOKER_EINVAL, "bitcast: %s%s cannot become %s",
                           stk_dtype_name(c->in[0].dtype), stk_shape_text(&c->in[0].shape, text),
                           stk_dtype_name((enum stk_dtype)type));
    }
    return STOKER_OK;
}

static enum stoker_status bitcast_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    enum stk_dtype to = r->spec[0].dtype;
    struct stk_shape shape = in->shape;
    char text[STK_SHAPE_TEXT];
    if (!cast_shape(&shape, stk_dtype_bytes(in->dtype), stk_dtype_bytes(to))) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "%s%s cannot become %s", stk_dtype_name(in->dtype),
                           stk_shape_text(&in->shape, text), stk_dtype_name(to));
    }
    uint8_t *out = stk_op_out(r, 0, to, &shape, err);
    size_t size = stk_col_bytes_each(in);
    for (int64_t i = 0; out && size && i < r->n; i++) {
        memcpy(out + (size_t)i * size, stk_col_at(in, i), size);
    }
    return out ? STOKER_OK : err->code;
}

const struct stk_op stk_op_bitcast = {.name = "bitcast",
                                      .summary = "Reinterprets the bytes as another type",
                                      .cost_ns = 0.2,
                                      .infer = bitcast_infer,
                                      .run = bitcast_run,
                                      .args = bitcast_args};
