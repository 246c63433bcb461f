// SPDX-License-Identifier: Apache-2.0
// Shared by the operations: half precision, broadcasting, axes, lists of numbers.
#include "base/assert.h"
#include "engine/ops/op_util.h"

#include <stdio.h>
#include <string.h>

float stk_half_to_float(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = (h >> 10) & 31, mantissa = h & 0x3ff;
    uint32_t bits;
    if (exponent == 31) {
        bits = sign | 0x7f800000u | mantissa << 13;
    } else if (exponent) {
        bits = sign | (exponent + 112) << 23 | mantissa << 13;
    } else { // zero or subnormal: mantissa * 2^-24
        float f = (float)mantissa * 0x1p-24f;
        return sign ? -f : f;
    }
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

uint16_t stk_half_from_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
    if (rest > 0x7f800000) {
        return (uint16_t)(sign | 0x7e00);
    }
    if (rest >= 0x477ff000) { // rounds to 65536 or more
        return (uint16_t)(sign | 0x7c00);
    }
    if (rest < 0x38800000) { // subnormal: units of 2^-24, rounded by the addition
        float magnitude;
        memcpy(&magnitude, &rest, sizeof magnitude);
        magnitude += 0.5f;
        memcpy(&rest, &magnitude, sizeof rest);
        return (uint16_t)(sign | (rest - 0x3f000000));
    }
    rest += 0xfff + (rest >> 13 & 1);
    return (uint16_t)(sign | ((rest >> 13) - (112 << 10)));
}

uint16_t stk_bfloat_from_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000) {
        return (uint16_t)(bits >> 16 | 0x40);
    }
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// A contiguous float32 copy of a half-precision column.
static bool widen(struct stk_col *to, struct stk_pool *pool, const struct stk_col *from, int64_t n)
{
    if (!stk_col_uniform(to, pool, STK_DT_F32, &from->shape, n)) {
        return false;
    }
    int64_t each = stk_shape_count(&from->shape);
    for (int64_t i = 0; i < n; i++) {
        const uint16_t *h = stk_col_at(from, i);
        float *f = stk_col_at(to, i);
        for (int64_t k = 0; k < each; k++) {
            f[k] = from->dtype == STK_DT_F16 ? stk_half_to_float(h[k]) : stk_bfloat_to_float(h[k]);
        }
    }
    return true;
}

static enum stoker_status narrow(struct stk_op_run *r, int k, const struct stk_col *from,
                                 enum stk_dtype dtype, struct stoker_err *err)
{
    uint16_t *h = stk_op_out(r, k, dtype, &from->shape, err);
    if (!h) {
        return err->code;
    }
    int64_t each = stk_shape_count(&from->shape);
    int64_t n = from->n < r->n ? from->n : r->n; // none if the first element failed
    for (int64_t i = 0; i < n; i++) {
        const float *f = stk_col_at(from, i);
        for (int64_t v = 0; v < each; v++) {
            h[i * each + v] =
                dtype == STK_DT_F16 ? stk_half_from_float(f[v]) : stk_bfloat_from_float(f[v]);
        }
    }
    return STOKER_OK;
}

const void *stk_op_scalar(const struct stk_col *c, int64_t i)
{
    return stk_col_shape(c, i).rank == 0 ? stk_col_at(c, i) : NULL;
}

enum stoker_status stk_op_run_halves(struct stk_op_run *r, struct stoker_err *err,
                                     enum stoker_status (*run)(struct stk_op_run *,
                                                               struct stoker_err *))
{
    struct stk_col in[8] = {0}, out[4] = {0};
    struct stk_spec spec[4];
    const struct stk_col *in_at[8];
    struct stk_op_run wide = *r;
    enum stoker_status s = STOKER_OK;
    if (r->n_in > 8 || r->n_out > 4) {
        return stk_err_set(err, STOKER_EINVAL, "%s: not for half precision", r->op->name);
    }
    for (int j = 0; j < r->n_in; j++) {
        in_at[j] = r->in[j];
        if (stk_op_is_half(r->in[j]->dtype)) {
            in_at[j] = &in[j];
            if (s == STOKER_OK && !widen(&in[j], r->pool, r->in[j], r->n)) {
                s = stk_op_no_memory(r, err);
            }
        }
    }
    for (int k = 0; k < r->n_out; k++) {
        spec[k] = r->spec[k];
        spec[k].dtype = stk_op_is_half(spec[k].dtype) ? STK_DT_F32 : spec[k].dtype;
    }
    wide.in = in_at;
    wide.out = out;
    wide.spec = spec;
    s = s == STOKER_OK ? run(&wide, err) : s;
    r->failed = wide.failed;
    for (int k = 0; s == STOKER_OK && k < r->n_out; k++) {
        if (stk_op_is_half(r->spec[k].dtype)) {
            s = narrow(r, k, &out[k], r->spec[k].dtype, err);
        } else {
            stk_col_clear(&r->out[k]);
            stk_col_share(&r->out[k], &out[k]);
        }
    }
    for (int j = 0; j < r->n_in; j++) {
        stk_col_clear(&in[j]);
    }
    for (int k = 0; k < r->n_out; k++) {
        stk_col_clear(&out[k]);
    }
    return s;
}

int stk_op_broadcast(struct stk_shape *out, const struct stk_shape *a, const struct stk_shape *b)
{
    if (a->rank < 0 || b->rank < 0) {
        *out = (struct stk_shape){.rank = STK_UNKNOWN};
        return 0;
    }
    const struct stk_shape *longer = a->rank >= b->rank ? a : b;
    const struct stk_shape *shorter = longer == a ? b : a;
    int lead = longer->rank - shorter->rank;
    struct stk_shape s = *longer;
    for (int i = 0; i < shorter->rank; i++) {
        int64_t x = longer->dim[lead + i], y = shorter->dim[i];
        if (x == y || y == 1) {
            s.dim[lead + i] = x;
        } else if (x == 1) {
            s.dim[lead + i] = y;
        } else if (x < 0 || y < 0) { // one is unknown; the other is above 1 and decides
            s.dim[lead + i] = x < 0 ? y : x;
        } else {
            return -1;
        }
    }
    *out = s;
    return 0;
}

enum stoker_status stk_op_bad_broadcast(const char *op, const struct stk_shape *a,
                                        const struct stk_shape *b, struct stoker_err *err)
{
    char one[STK_SHAPE_TEXT], other[STK_SHAPE_TEXT];
    return stk_err_set(err, STOKER_EINVAL, "%s: shapes %s and %s do not fit together", op,
                       stk_shape_text(a, one), stk_shape_text(b, other));
}

// Copies one element with dimensions repeated where `from` has 1 and `to` more.
static void spread_each(uint8_t *to, const struct stk_shape *shape, const uint8_t *from,
                        const struct stk_shape *have, size_t size)
{
    int64_t step[STK_RANK_MAX], at[STK_RANK_MAX] = {0}, values = 1;
    STK_ASSERT(shape->rank >= have->rank && shape->rank <= STK_RANK_MAX);
    int lead = shape->rank - have->rank;
    for (int i = shape->rank - 1; i >= 0; i--) {
        bool is_spread = i < lead || have->dim[i - lead] == 1;
        step[i] = is_spread ? 0 : values;
        values *= i < lead ? 1 : have->dim[i - lead];
    }
    int64_t count = stk_shape_count(shape), offset = 0;
    for (int64_t k = 0; k < count; k++) {
        memcpy(to + (size_t)k * size, from + (size_t)offset * size, size);
        for (int i = shape->rank - 1; i >= 0; i--) {
            offset += step[i];
            if (++at[i] < shape->dim[i]) {
                break;
            }
            offset -= step[i] * shape->dim[i];
            at[i] = 0;
        }
    }
}

bool stk_op_spread(struct stk_col *to, struct stk_pool *pool, const struct stk_col *from,
                   const struct stk_shape *shape, int64_t n)
{
    if (stk_shape_equal(&from->shape, shape)) {
        stk_col_share(to, from);
        to->n = n;
        return true;
    }
    bool is_constant = from->stride == 0;
    if (!stk_col_uniform(to, pool, from->dtype, shape, is_constant ? 1 : n)) {
        return false;
    }
    for (int64_t i = 0; i < to->n; i++) {
        spread_each(stk_col_at(to, i), shape, stk_col_at(from, i), &from->shape,
                    stk_dtype_bytes(from->dtype));
    }
    if (is_constant) {
        to->stride = 0;
        to->n = n;
    }
    return stk_keep_join(&to->keep, from->keep);
}

bool stk_op_axis(int64_t axis, int rank, int *out)
{
    STK_ASSERT(rank >= 0 && rank <= STK_RANK_MAX + 1);
    if (axis < -rank || axis >= rank) {
        return false;
    }
    *out = (int)(axis < 0 ? axis + rank : axis);
    return true;
}

enum stoker_status stk_op_axes(const struct stk_op *op, const struct stk_arg_value *given, int rank,
                               uint32_t *axes, struct stoker_err *err)
{
    const struct stk_attr *t = given->attr;
    int64_t one = given->i;
    const int64_t *list = t && t->kind == STK_ATTR_INTS ? t->ints : &one;
    int64_t count = t && t->kind == STK_ATTR_INTS ? t->count : 1;
    if (!t) {
        *axes = (1u << rank) - 1;
        return STOKER_OK;
    }
    *axes = 0;
    for (int64_t i = 0; i < count; i++) {
        int axis;
        if (!stk_op_axis(list[i], rank, &axis)) {
            return stk_err_set(err, STOKER_EINVAL, "%s: no axis %lld in %d dimensions", op->name,
                               (long long)list[i], rank);
        }
        *axes |= 1u << axis;
    }
    return STOKER_OK;
}

static bool ints_of_col(const struct stk_col *c, int64_t i, int64_t *values, int capacity,
                        int *count)
{
    struct stk_shape shape = stk_col_shape(c, i);
    int64_t n = stk_shape_count(&shape);
    const void *p = stk_col_at(c, i);
    STK_ASSERT(i >= 0 && i < c->n && capacity > 0);
    if (n > capacity || (c->dtype != STK_DT_I32 && c->dtype != STK_DT_I64)) {
        return false;
    }
    for (int64_t k = 0; k < n; k++) {
        values[k] = stk_op_get_place(p, c->dtype, k);
    }
    *count = (int)n;
    return true;
}

bool stk_op_ints(const struct stk_arg_value *given, const struct stk_col *input, int64_t i,
                 int64_t *values, int capacity, int *count)
{
    const struct stk_attr *t = given ? given->attr : NULL;
    if (!t) {
        return input && ints_of_col(input, i, values, capacity, count);
    }
    if (t->kind == STK_ATTR_INT) {
        values[0] = t->i;
        *count = 1;
        return true;
    }
    if (t->kind != STK_ATTR_INTS || t->count > capacity) {
        return false;
    }
    memcpy(values, t->ints, (size_t)t->count * sizeof values[0]);
    *count = (int)t->count;
    return true;
}

bool stk_op_static_ints(const struct stk_op_infer *c, int k, int j, int64_t *values, int capacity,
                        int *count)
{
    const struct stk_col *input = j < c->n_in ? c->constant[j] : NULL;
    STK_ASSERT(j >= 0);
    return stk_op_ints(&c->args[k], input, 0, values, capacity, count);
}
