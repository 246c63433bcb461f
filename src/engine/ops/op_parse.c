// SPDX-License-Identifier: Apache-2.0
// parse_example: tf.train.Example records into their features. The input is a string (one record an
// element: tf.io.parse_single_example) or a vector of strings (tf.io.parse_example). A block is
// parsed at once; features of fixed length are written directly into the results.
//
// Attributes, an item for each feature: "names" TEXTS; "kinds" INTS: 0 FixedLenFeature, 1
// VarLenFeature, 2 RaggedFeature of one dimension, 3 FixedLenSequenceFeature; "dtypes" INTS;
// "ranks" INTS and "dims" INTS, one shape after another; "has_default" INTS; "defaults" COLS, for
// those that have one.
// Results, feature by feature: FixedLen one; VarLen three (indices, values, dense_shape); Ragged
// one for a string, two for a vector (values, row_splits); FixedLenSequence one, for a vector
// padded with its default.
#include <string.h>

#include "engine/ops/op_parse.h"

enum { FIXED = STK_PARSE_FIXED, VARIABLE, RAGGED, SEQUENCE };

static enum stoker_status read_all(const struct stk_attrs *a, struct stk_parse *p,
                                   const struct stk_attr *names[2], struct stoker_err *err)
{
    enum stoker_status s =
        stk_parse_features_read("parse_example", a, "", p->features, &p->context, &names[0], err);
    p->lists = 0;
    return s == STOKER_OK && p->context == 0
               ? stk_err_set(err, STOKER_EINVAL, "parse_example: names no feature")
               : s;
}

static void set_spec(struct stk_spec *s, enum stk_dtype t, int rank, int64_t d0, int64_t d1)
{
    *s = (struct stk_spec){.dtype = t, .shape = {rank, {d0, d1}}};
}

static enum stoker_status parse_example_prepare(const struct stk_op_infer *c, void **out,
                                                struct stoker_err *err)
{
    return stk_parse_prepare(c, read_all, out, err);
}

static enum stoker_status parse_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    struct stk_parse p;
    const struct stk_attr *names[2];
    enum stoker_status s = stk_op_want_inputs(c, 1, 1, err);
    if (s == STOKER_OK &&
        (c->in[0].dtype != STK_DT_STRING || c->in[0].shape.rank < 0 || c->in[0].shape.rank > 1)) {
        s = stk_err_set(err, STOKER_EINVAL, "parse_example: takes a string or a vector of strings");
    }
    s = s == STOKER_OK ? read_all(c->attrs, &p, names, err) : s;
    if (s != STOKER_OK) {
        return s;
    }
    bool is_batch = c->in[0].shape.rank == 1;
    int64_t rows = is_batch ? c->in[0].shape.dim[0] : 0;
    int o = 0;
    for (int k = 0; k < p.context; k++) {
        const struct stk_parse_feature *f = &p.features[k];
        if (f->kind == FIXED || f->kind == SEQUENCE) {
            struct stk_spec *to = &c->out[o++];
            *to = (struct stk_spec){.dtype = f->dtype, .shape = f->shape};
            bool ok = f->kind == FIXED || stk_shape_prepend(&to->shape, STK_UNKNOWN);
            ok = ok && (!is_batch || stk_shape_prepend(&to->shape, rows));
            if (!ok) {
                return stk_err_set(err, STOKER_EINVAL, "parse_example: too many dimensions");
            }
        } else if (f->kind == VARIABLE) {
            set_spec(&c->out[o++], STK_DT_I64, 2, STK_UNKNOWN, is_batch ? 2 : 1);
            set_spec(&c->out[o++], f->dtype, 1, STK_UNKNOWN, 0);
            set_spec(&c->out[o++], STK_DT_I64, 1, is_batch ? 2 : 1, 0);
        } else {
            set_spec(&c->out[o++], f->dtype, 1, STK_UNKNOWN, 0);
            if (is_batch) {
                set_spec(&c->out[o++], STK_DT_I64, 1, rows < 0 ? rows : rows + 1, 0);
            }
        }
    }
    c->n_out = o;
    return STOKER_OK;
}

// The rest of element i of a column of varying length.
struct part {
    const uint8_t *values;
    int64_t count;
    const int64_t *splits; // of its rows; need not start at 0
};

static struct part part_of(const struct stk_example_column *c, int64_t i, int64_t rows, size_t size)
{
    static const int64_t none[1];
    if (rows == 0) {
        return (struct part){NULL, 0, none};
    }
    const int64_t *splits = c->row_splits + i * rows;
    return (struct part){(const uint8_t *)c->values + (size_t)splits[0] * size,
                         splits[rows] - splits[0], splits};
}

static int64_t longest_row(const struct part *p, int64_t rows)
{
    int64_t longest = 0;
    for (int64_t k = 0; k < rows; k++) {
        int64_t length = p->splits[k + 1] - p->splits[k];
        longest = length > longest ? length : longest;
    }
    return longest;
}

static int results(const struct stk_parse_feature *f, bool is_batch)
{
    return f->kind == VARIABLE ? 3 : f->kind == RAGGED && is_batch ? 2 : 1;
}

static bool put_sparse(struct stk_op_run *r, int o, const struct stk_parse_feature *f,
                       const struct part *p, int64_t rows, bool is_batch, struct stoker_err *err)
{
    int width = is_batch ? 2 : 1;
    struct stk_shape indices = {2, {p->count, width}}, values = {1, {p->count}},
                     dense = {1, {width}};
    int64_t *at = stk_op_append(r, o, STK_DT_I64, &indices, err);
    for (int64_t row = 0; at && row < rows; row++) {
        for (int64_t k = 0; k < p->splits[row + 1] - p->splits[row]; k++) {
            if (is_batch) {
                *at++ = row;
            }
            *at++ = k;
        }
    }
    int64_t shape[2] = {is_batch ? rows : p->count, longest_row(p, rows)};
    return at && stk_parse_put(r, o + 1, f->dtype, &values, p->values, err) &&
           stk_parse_put(r, o + 2, STK_DT_I64, &dense, shape, err);
}

static bool put_ragged(struct stk_op_run *r, int o, const struct stk_parse_feature *f,
                       const struct part *p, int64_t rows, bool is_batch, struct stoker_err *err)
{
    struct stk_shape values = {1, {p->count}}, splits = {1, {rows + 1}};
    if (!stk_parse_put(r, o, f->dtype, &values, p->values, err)) {
        return false;
    }
    int64_t *at = is_batch ? stk_op_append(r, o + 1, STK_DT_I64, &splits, err) : NULL;
    for (int64_t k = 0; at && k <= rows; k++) {
        at[k] = p->splits[k] - p->splits[0];
    }
    return !is_batch || at;
}

// Rows of whole steps; short ones are padded with the default.
static bool put_sequence(struct stk_op_run *r, int o, const struct stk_parse_feature *f,
                         const struct part *p, int64_t i, int64_t rows, bool is_batch,
                         struct stoker_err *err)
{
    int64_t longest = longest_row(p, rows), each = f->elements > 0 ? f->elements : 1;
    size_t size = stk_dtype_bytes(f->dtype);
    struct stk_shape shape = f->shape;
    for (int64_t k = 0; k < rows; k++) {
        if ((p->splits[k + 1] - p->splits[k]) % each) {
            (void)stk_op_fail(r, i, STOKER_EINVAL,
                              "a list of %lld values isn't a sequence of %lld each",
                              (long long)(p->splits[k + 1] - p->splits[k]), (long long)each);
            longest = 0;
        }
    }
    longest = longest / each * each;
    bool ok =
        stk_shape_prepend(&shape, longest / each) && (!is_batch || stk_shape_prepend(&shape, rows));
    uint8_t *to = ok ? stk_op_append(r, o, f->dtype, &shape, err) : NULL;
    for (int64_t k = 0; to && longest && k < rows; k++) {
        int64_t length = p->splits[k + 1] - p->splits[k];
        memcpy(to, p->values + (size_t)(p->splits[k] - p->splits[0]) * size, (size_t)length * size);
        for (int64_t v = length; v < longest; v++) {
            static const uint8_t zero[16];
            memcpy(to + (size_t)v * size, f->fallback ? stk_col_at(f->fallback, 0) : zero, size);
        }
        to += (size_t)longest * size;
    }
    return to != NULL;
}

static enum stoker_status put_varied(struct stk_op_run *r, const struct stk_parse *p, int64_t done,
                                     int64_t rows, bool is_batch, struct stoker_err *err)
{
    struct stk_parse_scratch *s = r->scratch;
    int o = 0;
    for (int k = 0; k < p->context; k++) {
        const struct stk_parse_feature *f = &p->features[k];
        for (int64_t i = 0; f->kind != FIXED && i < done; i++) {
            struct part part = part_of(&s->batch.columns[k], i, rows, stk_dtype_bytes(f->dtype));
            bool ok = f->kind == VARIABLE ? put_sparse(r, o, f, &part, rows, is_batch, err)
                      : f->kind == RAGGED ? put_ragged(r, o, f, &part, rows, is_batch, err)
                                          : put_sequence(r, o, f, &part, i, rows, is_batch, err);
            if (!ok) {
                return err->code;
            }
        }
        o += results(f, is_batch);
    }
    return STOKER_OK;
}

// Fixed features are parsed directly into the results.
static enum stoker_status bind_fixed(struct stk_op_run *r, const struct stk_parse *p, int64_t rows,
                                     bool is_batch, struct stoker_err *err)
{
    struct stk_parse_scratch *s = r->scratch;
    int o = 0;
    for (int k = 0; k < p->context; k++) {
        const struct stk_parse_feature *f = &p->features[k];
        struct stk_shape shape = f->shape;
        if (f->kind == FIXED) {
            if (is_batch && !stk_shape_prepend(&shape, rows)) {
                return stk_err_set(err, STOKER_EINVAL, "parse_example: too many dimensions");
            }
            void *to = stk_op_out(r, o, f->dtype, &shape, err);
            enum stoker_status status =
                to ? stk_example_bind(&s->batch, (size_t)k, to, (size_t)(r->n * rows), err)
                   : err->code;
            if (status != STOKER_OK) {
                return status;
            }
        }
        o += results(f, is_batch);
    }
    return STOKER_OK;
}

// A default string is in the function's memory, which the result may outlive: copy it.
static enum stoker_status own_defaults(struct stk_op_run *r, const struct stk_parse *p,
                                       bool is_batch, struct stoker_err *err)
{
    int o = 0;
    for (int k = 0; k < p->context; k++) {
        const struct stk_parse_feature *f = &p->features[k];
        if (f->fallback && f->dtype == STK_DT_STRING && !stk_col_own(&r->out[o], r->pool)) {
            return stk_op_no_memory(r, err);
        }
        o += results(f, is_batch);
    }
    return STOKER_OK;
}

static enum stoker_status parse_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_parse *p = r->prepared;
    struct stk_parse_scratch *s = r->scratch;
    const struct stk_col *in = r->in[0];
    bool is_batch = in->shape.rank == 1;
    int64_t rows = is_batch ? in->shape.dim[0] : 1, done = 0;
    enum stoker_status status = stk_parse_open_scratch(s, p, STK_EXAMPLE_SINGLE, err);
    if (status == STOKER_OK) {
        stk_example_batch_clear(&s->batch);
        status = bind_fixed(r, p, rows, is_batch, err);
    }
    if (status == STOKER_OK) {
        status = rows ? stk_parse_records(r, s->parser, &s->batch, rows, &done, err) : STOKER_OK;
        done = rows ? done : r->n;
    }
    if (status == STOKER_OK) {
        status = put_varied(r, p, done, rows, is_batch, err);
    }
    for (int k = 0; status == STOKER_OK && k < r->n_out; k++) {
        if (r->spec[k].dtype == STK_DT_STRING && !stk_keep_join(&r->out[k].keep, in->keep)) {
            status = stk_op_no_memory(r, err);
        }
    }
    return status == STOKER_OK ? own_defaults(r, p, is_batch, err) : status;
}

static const struct stk_arg_row parse_args[] = {STK_PARSE_ROWS(""), {0}};

const struct stk_op stk_op_parse_example = {.name = "parse_example",
                                            .summary = "Features of tf.train.Example records",
                                            .cost_ns = 100,
                                            .infer = parse_infer,
                                            .prepare = parse_example_prepare,
                                            .unprepare = stk_parse_unprepare,
                                            .scratch_bytes = sizeof(struct stk_parse_scratch),
                                            .scratch_end = stk_parse_scratch_end,
                                            .run = parse_run,
                                            .args = parse_args};
