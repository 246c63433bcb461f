// SPDX-License-Identifier: Apache-2.0
// where: x where the condition holds, else y (all three broadcast); with only the condition, the
// coordinates at which it holds. clip_by_value: limits values to two bounds.
#include "engine/ops/op_move.h"

static enum stoker_status where_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    if (c->n_in != 1 && c->n_in != 3) {
        return stk_err_set(err, STOKER_EINVAL, "where: takes a condition, or a condition, x and y");
    }
    if (c->n_in == 1) {
        c->out[0].dtype = STK_DT_I64;
        if (c->in[0].shape.rank >= 0) {
            c->out[0].shape = (struct stk_shape){2, {STK_UNKNOWN, c->in[0].shape.rank}};
        }
        return STOKER_OK;
    }
    struct stk_shape both;
    if (c->in[0].dtype != STK_DT_BOOL || c->in[1].dtype != c->in[2].dtype) {
        return stk_err_set(err, STOKER_EINVAL,
                           "where: needs bools and two values of one type, got %s, %s, %s",
                           stk_dtype_name(c->in[0].dtype), stk_dtype_name(c->in[1].dtype),
                           stk_dtype_name(c->in[2].dtype));
    }
    stk_spec_copy(&c->out[0], &c->in[1]);
    if (stk_op_broadcast(&both, &c->in[1].shape, &c->in[2].shape)) {
        return stk_op_bad_broadcast("where", &c->in[1].shape, &c->in[2].shape, err);
    }
    if (stk_op_broadcast(&c->out[0].shape, &both, &c->in[0].shape)) {
        return stk_op_bad_broadcast("where", &c->in[0].shape, &both, err);
    }
    return STOKER_OK;
}

static enum stoker_status coordinates(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    int64_t count = stk_shape_count(&in->shape);
    size_t size = stk_dtype_bytes(in->dtype);
    struct stk_shape shape = {2, {0, in->shape.rank}};
    static const uint8_t zero[16];
    if (in->dtype == STK_DT_STRING) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "a condition can't be strings");
    }
    for (int64_t i = 0; i < r->n; i++) {
        const uint8_t *v = stk_col_at(in, i);
        shape.dim[0] = 0;
        for (int64_t k = 0; k < count; k++) {
            shape.dim[0] += memcmp(v + (size_t)k * size, zero, size) != 0;
        }
        int64_t *out = stk_op_append(r, 0, STK_DT_I64, &shape, err);
        if (!out) {
            return err->code;
        }
        for (int64_t k = 0; k < count; k++) {
            int64_t rest = k;
            if (memcmp(v + (size_t)k * size, zero, size) == 0) {
                continue;
            }
            for (int d = in->shape.rank - 1; d >= 0; d--) {
                out[d] = rest % in->shape.dim[d];
                rest /= in->shape.dim[d];
            }
            out += in->shape.rank;
        }
    }
    return STOKER_OK;
}

static void choose(uint8_t *out, const uint8_t *c, const uint8_t *x, const uint8_t *y, int64_t n,
                   size_t size)
{
#define CHOOSE(T)                                                                                  \
    for (int64_t k = 0; k < n; k++) {                                                              \
        ((T *)out)[k] = c[k] ? ((const T *)x)[k] : ((const T *)y)[k];                              \
    }
    switch (size) {
    case 1:
        CHOOSE(uint8_t) break;
    case 2:
        CHOOSE(uint16_t) break;
    case 4:
        CHOOSE(uint32_t) break;
    case 8:
        CHOOSE(uint64_t) break;
    default:
        for (int64_t k = 0; k < n; k++) {
            memcpy(out + (size_t)k * size, (c[k] ? x : y) + (size_t)k * size, size);
        }
    }
#undef CHOOSE
}

static enum stoker_status where_run(struct stk_op_run *r, struct stoker_err *err)
{
    struct stk_shape shape;
    struct stk_col wide[3] = {{0}};
    if (r->n_in == 1) {
        return coordinates(r, err);
    }
    if (stk_op_broadcast(&shape, &r->in[1]->shape, &r->in[2]->shape) ||
        stk_op_broadcast(&shape, &shape, &r->in[0]->shape)) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "the shapes do not fit together");
    }
    uint8_t *out = stk_op_out(r, 0, r->in[1]->dtype, &shape, err);
    enum stoker_status s = out ? STOKER_OK : err->code;
    for (int j = 0; s == STOKER_OK && j < 3; j++) {
        s = stk_op_spread(&wide[j], r->pool, r->in[j], &shape, r->n) ? STOKER_OK
                                                                     : stk_op_no_memory(r, err);
    }
    size_t size = stk_dtype_bytes(r->in[1]->dtype);
    int64_t each = stk_shape_count(&shape);
    for (int64_t i = 0; s == STOKER_OK && i < r->n; i++) {
        choose(out + (size_t)(i * each) * size, stk_col_at(&wide[0], i), stk_col_at(&wide[1], i),
               stk_col_at(&wide[2], i), each, size);
    }
    for (int j = 0; j < 3; j++) {
        if (s == STOKER_OK && j > 0 && !stk_keep_join(&r->out[0].keep, r->in[j]->keep)) {
            s = stk_op_no_memory(r, err);
        }
        stk_col_clear(&wide[j]);
    }
    return s;
}

const struct stk_op stk_op_where = {.name = "where",
                                    .summary = "x where the condition is true, else y",
                                    .infer = where_infer,
                                    .run = where_run};

// Can bounds of that shape be broadcast to the values' shape without changing it?
static bool bounds_fit(const struct stk_shape *bounds, const struct stk_shape *values)
{
    struct stk_shape both;
    if (stk_op_broadcast(&both, values, bounds)) {
        return false;
    }
    if (values->rank < 0 || both.rank < 0) {
        return true; // checked when it runs
    }
    for (int i = 0; i < values->rank && both.rank == values->rank; i++) {
        if (both.dim[i] != values->dim[i] && values->dim[i] >= 0) {
            return false;
        }
    }
    return both.rank == values->rank;
}

static enum stoker_status clip_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stoker_status s = stk_op_want_inputs(c, 3, 3, err);
    for (int j = 1; s == STOKER_OK && j < 3; j++) {
        if (c->in[j].dtype != c->in[0].dtype || !stk_op_is_number(c->in[0].dtype)) {
            s = stk_err_set(err, STOKER_EINVAL, "clip_by_value: %s between bounds of %s",
                            stk_dtype_name(c->in[0].dtype), stk_dtype_name(c->in[j].dtype));
        } else if (!bounds_fit(&c->in[j].shape, &c->in[0].shape)) {
            s = stk_op_bad_broadcast("clip_by_value", &c->in[0].shape, &c->in[j].shape, err);
        }
    }
    if (s == STOKER_OK) {
        stk_spec_copy(&c->out[0], &c->in[0]);
    }
    return s;
}

// One bound for all values is the usual case, and can be vectorized.
#define CLIP(N, T, U)                                                                              \
    static void clip_##N(T *restrict out, const T *restrict v, const T *low, const T *high,        \
                         int64_t n, bool is_one)                                                   \
    {                                                                                              \
        if (is_one) {                                                                              \
            T l = low[0], h = high[0];                                                             \
            for (int64_t k = 0; k < n; k++) {                                                      \
                T x = v[k] > h ? h : v[k];                                                         \
                out[k] = x < l ? l : x;                                                            \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (int64_t k = 0; k < n; k++) {                                                          \
            T x = v[k] > high[k] ? high[k] : v[k];                                                 \
            out[k] = x < low[k] ? low[k] : x;                                                      \
        }                                                                                          \
    }
STK_FOR_NUMBERS(CLIP)
#undef CLIP

static enum stoker_status clip_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    if (stk_op_is_half(in->dtype)) {
        return stk_op_run_halves(r, err, clip_run);
    }
    struct stk_col low = {0}, high = {0};
    for (int j = 1; j < 3; j++) {
        if (!bounds_fit(&r->in[j]->shape, &in->shape)) {
            return stk_op_fail(r, 0, STOKER_EINVAL, "the bounds' shape is not one of the values'");
        }
    }
    uint8_t *out = stk_op_out(r, 0, in->dtype, &in->shape, err);
    bool is_one = stk_shape_count(&r->in[1]->shape) == 1 &&
                  stk_shape_count(&r->in[2]->shape) == 1 && !r->in[1]->is_varied &&
                  !r->in[2]->is_varied; // one bound for each element
    enum stoker_status s = !out ? err->code
                           : is_one || (stk_op_spread(&low, r->pool, r->in[1], &in->shape, r->n) &&
                                        stk_op_spread(&high, r->pool, r->in[2], &in->shape, r->n))
                               ? STOKER_OK
                               : stk_op_no_memory(r, err);
    int64_t each = stk_shape_count(&in->shape);
    for (int64_t i = 0; s == STOKER_OK && i < r->n; i++) {
        const void *v = stk_col_at(in, i), *a = stk_col_at(is_one ? r->in[1] : &low, i),
                   *b = stk_col_at(is_one ? r->in[2] : &high, i);
        switch (in->dtype) {
#define CLIP(N, T, U)                                                                              \
    case STK_DT_##N:                                                                               \
        clip_##N((T *)(void *)out + i * each, v, a, b, each, is_one);                              \
        break;
            STK_FOR_NUMBERS(CLIP)
#undef CLIP
        default:
            break;
        }
    }
    stk_col_clear(&low);
    stk_col_clear(&high);
    return s;
}

const struct stk_op stk_op_clip_by_value = {.name = "clip_by_value",
                                            .summary = "Clips between two bounds",
                                            .infer = clip_infer,
                                            .run = clip_run};
