// SPDX-License-Identifier: Apache-2.0
// scatter: changes rows (slices along the first dimension) of a value at given indices by updates,
// one row per index: set, added, subtracted, multiplied, or the smaller or larger. An index may
// occur several times; updates are applied in order. A negative one is ignored; one past the last
// row is an error of its element. The Python module builds scatter_nd, segment sums and
// dynamic_stitch on it.
#include <string.h>

#include "engine/ops/op_util.h"

enum { ARG_MODE };
enum { UPDATE, ADD, SUBTRACT, MULTIPLY, MINIMUM, MAXIMUM }; // in the order of the choices
static const struct stk_arg_row scatter_args[] = {
    [ARG_MODE] = STK_ARG("mode", TEXT, "how a row changes", .fallback_text = "update",
                         .choices = "update,add,subtract,multiply,minimum,maximum"),
    {0}};
enum { VALUE, PLACES, UPDATES }; // inputs

static enum stoker_status scatter_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stk_dtype t = c->in[VALUE].dtype;
    const struct stk_shape *v = &c->in[VALUE].shape, *p = &c->in[PLACES].shape;
    bool is_flag = t == STK_DT_BOOL && c->args[ARG_MODE].i == UPDATE;
    if (!is_flag && (!stk_op_is_number(t) || stk_op_is_half(t))) {
        return stk_err_set(err, STOKER_EINVAL, "scatter: not for %s", stk_dtype_name(t));
    }
    if (c->in[PLACES].dtype != STK_DT_I64 || c->in[UPDATES].dtype != t) {
        return stk_err_set(err, STOKER_EINVAL,
                           "scatter: takes int64 places and updates of the value's type, got %s, "
                           "and %s for %s",
                           stk_dtype_name(c->in[PLACES].dtype),
                           stk_dtype_name(c->in[UPDATES].dtype), stk_dtype_name(t));
    }
    if (v->rank == 0 || (p->rank >= 0 && p->rank != 1)) {
        return stk_err_set(err, STOKER_EINVAL, "scatter: takes rows, and a vector of places");
    }
    stk_spec_copy(&c->out[0], &c->in[VALUE]);
    return STOKER_OK;
}

#define CHANGE(N, T, U)                                                                            \
    case STK_DT_##N:                                                                               \
        for (int64_t k = 0; k < n; k++) {                                                          \
            T *v = (T *)to + k, u = ((const T *)from)[k];                                          \
            switch (mode) {                                                                        \
            case ADD:                                                                              \
                *v = (T)((U) * v + (U)u);                                                          \
                break;                                                                             \
            case SUBTRACT:                                                                         \
                *v = (T)((U) * v - (U)u);                                                          \
                break;                                                                             \
            case MULTIPLY:                                                                         \
                *v = (T)((U) * v * (U)u);                                                          \
                break;                                                                             \
            case MINIMUM:                                                                          \
                *v = u < *v ? u : *v;                                                              \
                break;                                                                             \
            default:                                                                               \
                *v = u > *v ? u : *v;                                                              \
            }                                                                                      \
        }                                                                                          \
        break;
static void change_row(enum stk_dtype t, int64_t mode, void *to, const void *from, int64_t n)
{
    switch (t) {
        STK_FOR_NUMBERS(CHANGE)
    default:
        break;
    }
}

// False: the block's shapes don't match.
static bool fits(const struct stk_op_run *r)
{
    const struct stk_shape *v = &r->in[VALUE]->shape, *p = &r->in[PLACES]->shape,
                           *u = &r->in[UPDATES]->shape;
    if (v->rank < 1 || p->rank != 1 || u->rank != v->rank || u->dim[0] != p->dim[0]) {
        return false;
    }
    for (int i = 1; i < v->rank; i++) {
        if (u->dim[i] != v->dim[i]) {
            return false;
        }
    }
    return true;
}

static enum stoker_status scatter_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[VALUE];
    enum stk_dtype t = in->dtype;
    if (!fits(r)) {
        return stk_op_fail(r, 0, STOKER_EINVAL,
                           "the updates' shape does not fit the value's and the places'");
    }
    uint8_t *out = stk_op_out(r, 0, t, &in->shape, err);
    if (!out) {
        return err->code;
    }
    int64_t mode = r->args[ARG_MODE].i, rows = in->shape.dim[0], n = r->in[PLACES]->shape.dim[0];
    int64_t width = stk_op_span(&in->shape, 1, in->shape.rank);
    size_t row = (size_t)width * stk_dtype_bytes(t), bytes = (size_t)rows * row;
    for (int64_t i = 0; i < r->n; i++) {
        uint8_t *to = out + (size_t)i * bytes;
        const int64_t *places = stk_col_at(r->in[PLACES], i);
        const uint8_t *updates = stk_col_at(r->in[UPDATES], i);
        if (bytes) {
            memcpy(to, stk_col_at(in, i), bytes);
        }
        for (int64_t k = 0; k < n; k++) {
            if (places[k] >= rows) {
                return stk_op_fail(r, i, STOKER_EINVAL, "place %lld of %lld rows",
                                   (long long)places[k], (long long)rows);
            }
            if (places[k] < 0 || row == 0) {
                continue;
            }
            uint8_t *at = to + (size_t)places[k] * row;
            if (mode == UPDATE) {
                memcpy(at, updates + (size_t)k * row, row);
            } else {
                change_row(t, mode, at, updates + (size_t)k * row, width);
            }
        }
    }
    return STOKER_OK;
}

const struct stk_op stk_op_scatter = {.name = "scatter",
                                      .summary = "Changes rows at given places",
                                      .cost_ns = 3,
                                      .signature = "any, any, any",
                                      .infer = scatter_infer,
                                      .run = scatter_run,
                                      .args = scatter_args};
