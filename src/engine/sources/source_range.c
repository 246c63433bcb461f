// SPDX-License-Identifier: Apache-2.0
// range(start, stop, step): scalars counted up or down, int64 or the requested type. Indexed: any
// position is computed.
#include "base/assert.h"
#include "engine/run/iter.h"

struct range {
    int64_t at, n; // position; elements
    uint64_t start, step;
    enum stk_dtype dtype;
};

static int64_t range_cardinality(const struct stk_dataset *ds)
{
    int64_t start = stk_attrs_int(ds->attrs, "start", 0),
            stop = stk_attrs_int(ds->attrs, "stop", 0);
    int64_t step = stk_attrs_int(ds->attrs, "step", 1);
    const struct stk_attr *t = stk_attrs_get(ds->attrs, "stop");
    if (t && t->kind == STK_ATTR_BOUND) {
        return STK_CARDINALITY_UNKNOWN;
    }
    if (step == 0 || (step > 0 ? start >= stop : start <= stop)) {
        return 0;
    }
    // Differences of int64 fit uint64.
    uint64_t span = step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
    uint64_t by = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    uint64_t n = (span - 1) / by + 1;
    return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

static enum stoker_status range_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    const struct stk_attr *step = stk_attrs_get(ds->attrs, "step");
    if (step && step->kind != STK_ATTR_BOUND && stk_attrs_int(ds->attrs, "step", 1) == 0) {
        return stk_err_set(err, STOKER_EINVAL, "range: step is 0; it must be positive or negative");
    }
    ds->specs = stk_specs_new(1);
    if (!ds->specs) {
        return stk_err_nomem(err);
    }
    enum stk_dtype dtype = (enum stk_dtype)stk_attrs_int(ds->attrs, "dtype", STK_DT_I64);
    if (dtype != STK_DT_F16 && !stk_dtype_is_float(dtype) && !stk_dtype_is_int(dtype)) {
        return stk_err_set(err, STOKER_EINVAL, "range: cannot count in %s", stk_dtype_name(dtype));
    }
    ds->specs->items[0].dtype = dtype;
    return STOKER_OK;
}

static enum stoker_status range_open(struct stk_iter *it, struct stoker_err *err)
{
    (void)err;
    *(struct range *)it->state =
        (struct range){.n = range_cardinality(it->ds),
                       .start = (uint64_t)stk_attrs_int(it->ds->attrs, "start", 0),
                       .step = (uint64_t)stk_attrs_int(it->ds->attrs, "step", 1),
                       .dtype = it->ds->specs->items[0].dtype};
    return STOKER_OK;
}

static void put(const struct range *r, void *to, int64_t k, int64_t position)
{
    int64_t v = (int64_t)(r->start + r->step * (uint64_t)position);
    switch (r->dtype) {
    case STK_DT_U8:
    case STK_DT_I8:
        ((int8_t *)to)[k] = (int8_t)v;
        break;
    case STK_DT_U16:
    case STK_DT_I16:
        ((int16_t *)to)[k] = (int16_t)v;
        break;
    case STK_DT_U32:
    case STK_DT_I32:
        ((int32_t *)to)[k] = (int32_t)v;
        break;
    case STK_DT_F32:
        ((float *)to)[k] = (float)v;
        break;
    case STK_DT_F64:
        ((double *)to)[k] = (double)v;
        break;
    default:
        ((int64_t *)to)[k] = v;
        break;
    }
}

static enum stoker_status make_capacity(struct stk_iter *it, int64_t n, struct stk_block *out,
                                        struct stoker_err *err)
{
    const struct stk_spec *spec = &it->ds->specs->items[0];
    if (!stk_block_reset(out, 1) ||
        !stk_col_uniform(&out->cols[0], it->run->pool, spec->dtype, &spec->shape, n)) {
        return stk_err_set(err, STOKER_ELIMIT, "range: no memory for %lld elements", (long long)n);
    }
    out->n = n;
    return STOKER_OK;
}

static enum stoker_status range_at(struct stk_iter *it, const int64_t *index, int64_t n,
                                   struct stk_block *out, struct stoker_err *err)
{
    const struct range *r = it->state;
    enum stoker_status s = make_capacity(it, n, out, err);
    if (s == STOKER_OK && r->dtype == STK_DT_I64) {
        uint64_t start = r->start, step = r->step;
        int64_t *to = (int64_t *)out->cols[0].data;
        for (int64_t i = 0; i < n; i++) {
            to[i] = (int64_t)(start + step * (uint64_t)index[i]);
        }
        return STOKER_OK;
    }
    for (int64_t i = 0; s == STOKER_OK && i < n; i++) {
        put(r, out->cols[0].data, i, index[i]);
    }
    return s;
}

static enum stoker_status range_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                     struct stoker_err *err)
{
    struct range *r = it->state;
    int64_t left = r->n - r->at, n = want < left ? want : left;
    if (n <= 0) {
        return STOKER_OK;
    }
    enum stoker_status s = make_capacity(it, n, out, err);
    if (s != STOKER_OK) {
        return s;
    }
    if (r->dtype == STK_DT_I64) {
        int64_t *to = (int64_t *)out->cols[0].data;
        uint64_t step = r->step, v = r->start + step * (uint64_t)r->at;
        for (int64_t i = 0; i < n; i++) {
            to[i] = (int64_t)(v + (uint64_t)i * step);
        }
    } else {
        for (int64_t i = 0; i < n; i++) {
            put(r, out->cols[0].data, i, r->at + i);
        }
    }
    r->at += n;
    STK_ASSERT(r->at <= r->n);
    return STOKER_OK;
}

static enum stoker_status range_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                     struct stoker_err *err)
{
    struct range *r = it->state;
    int64_t left = r->n - r->at;
    (void)err;
    *done = n < left ? n : left;
    r->at += *done;
    return STOKER_OK;
}

static const struct stk_arg_row range_args[] = {
    STK_ARG("start", INT, "first value"),
    STK_ARG("stop", INT, "end, not included", .is_required = true),
    STK_ARG("step", INT, "difference between neighbors", .fallback = 1),
    STK_ARG("dtype", DTYPE, "type of the values", .fallback = STK_DT_I64),
    {0}};

const struct stk_dataset_kind stk_dataset_range = {.name = "range",
                                                   .summary = "Numbers from start to stop",
                                                   .role = STK_DS_SOURCE,
                                                   .args = range_args,
                                                   .infer = range_infer,
                                                   .cardinality = range_cardinality,
                                                   .state_bytes = sizeof(struct range),
                                                   .open = range_open,
                                                   .next = range_next,
                                                   .skip = range_skip,
                                                   .at = range_at};
