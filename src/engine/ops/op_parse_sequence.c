// SPDX-License-Identifier: Apache-2.0
// parse_sequence_example: tf.train.SequenceExample records into the features of their context and
// of their lists. The input, a string or a vector of strings, and the attributes are as for
// parse_example; those of lists start with "list_". Results, feature by feature, context first;
// row_splits have one more value than there are records:
//   context: FixedLen: the value (of a vector: of each record); else: values, row_splits
//   lists: FixedLenSequence: steps (all, shape), row_splits of the steps; else: values, row_splits
//   of the values by step, row_splits of the steps by record
#include <string.h>

#include "base/alloc.h"
#include "engine/ops/op_parse.h"

static bool is_list(const struct stk_parse *p, int k)
{
    return k >= p->context;
}

static bool is_fixed(const struct stk_parse_feature *f)
{
    return f->kind == STK_PARSE_FIXED || f->kind == STK_PARSE_SEQUENCE;
}

// Results of feature k.
static int results(const struct stk_parse *p, int k)
{
    return is_fixed(&p->features[k]) ? 1 + is_list(p, k) : 2 + is_list(p, k);
}

static enum stoker_status read_all(const struct stk_attrs *a, struct stk_parse *p,
                                   const struct stk_attr *names[2], struct stoker_err *err)
{
    const char *op = "parse_sequence_example";
    enum stoker_status s =
        stk_parse_features_read(op, a, "", p->features, &p->context, &names[0], err);
    s = s == STOKER_OK ? stk_parse_features_read(op, a, "list_", &p->features[p->context],
                                                 &p->lists, &names[1], err)
                       : s;
    for (int k = 0; s == STOKER_OK && k < p->context + p->lists; k++) {
        int64_t wrong = is_list(p, k) ? STK_PARSE_FIXED : STK_PARSE_SEQUENCE;
        if (p->features[k].kind == wrong) {
            s = stk_err_set(err, STOKER_EINVAL,
                            "%s: FixedLenFeature is for the context, FixedLenSequenceFeature for "
                            "lists",
                            op);
        }
    }
    return s == STOKER_OK && p->context + p->lists == 0
               ? stk_err_set(err, STOKER_EINVAL, "%s: names no feature", op)
               : s;
}

static enum stoker_status parse_sequence_example_prepare(const struct stk_op_infer *c, void **out,
                                                         struct stoker_err *err)
{
    return stk_parse_prepare(c, read_all, out, err);
}

static enum stoker_status sequence_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    const struct stk_attr *names[2];
    enum stoker_status s = stk_op_want_inputs(c, 1, 1, err);
    int rank = c->in[0].shape.rank;
    if (s == STOKER_OK && (c->in[0].dtype != STK_DT_STRING || rank < 0 || rank > 1)) {
        s = stk_err_set(err, STOKER_EINVAL,
                        "parse_sequence_example: takes a string or a vector of strings");
    }
    struct stk_parse *p = s == STOKER_OK ? stk_alloc_zero(1, sizeof *p) : NULL;
    if (!p) {
        return s == STOKER_OK ? stk_err_nomem(err) : s;
    }
    s = read_all(c->attrs, p, names, err);
    int64_t rows = rank == 1 ? c->in[0].shape.dim[0] : 1;
    struct stk_shape splits = {1, {rows < 0 ? STK_UNKNOWN : rows + 1}};
    int o = 0;
    for (int k = 0; s == STOKER_OK && k < p->context + p->lists; k++) {
        const struct stk_parse_feature *f = &p->features[k];
        if (o + results(p, k) > STK_OP_OUTPUTS_MAX) {
            s = stk_err_set(err, STOKER_EINVAL, "parse_sequence_example: too many features");
            break;
        }
        struct stk_spec *to = &c->out[o];
        *to = (struct stk_spec){.dtype = f->dtype, .shape = f->shape};
        if (!is_fixed(f)) {
            to->shape = (struct stk_shape){1, {STK_UNKNOWN}};
        } else if (is_list(p, k) || rank == 1) {
            (void)stk_shape_prepend(&to->shape, is_list(p, k) ? STK_UNKNOWN : rows);
        }
        for (int j = 1; j < results(p, k); j++) {
            bool is_last = j == results(p, k) - 1;
            to[j] = (struct stk_spec){.dtype = STK_DT_I64, .shape = {1, {STK_UNKNOWN}}};
            to[j].shape = is_last ? splits : to[j].shape;
        }
        o += results(p, k);
    }
    c->n_out = o;
    stk_free(p);
    return s;
}

// count + 1 splits, minus the first of them.
static bool put_splits(struct stk_op_run *r, int o, const int64_t *splits, int64_t count,
                       struct stoker_err *err)
{
    struct stk_shape shape = {1, {count + 1}};
    int64_t *to = stk_op_append(r, o, STK_DT_I64, &shape, err);
    for (int64_t k = 0; to && k <= count; k++) {
        to[k] = splits[k] - splits[0];
    }
    return to != NULL;
}

// Feature k of element i, whose records are rows [i * rows, (i + 1) * rows).
static bool put_feature(struct stk_op_run *r, const struct stk_parse *p, int k, int o, int64_t i,
                        int64_t rows, struct stoker_err *err)
{
    static const int64_t none[1]; // of no records
    const struct stk_parse_scratch *s = r->scratch;
    const struct stk_parse_feature *f = &p->features[k];
    const struct stk_example_column *c = &s->batch.columns[k];
    size_t size = stk_dtype_bytes(f->dtype);
    const int64_t *by_row = rows == 0 ? none : c->row_splits ? c->row_splits + i * rows : NULL;
    const uint8_t *values = rows == 0 ? (const uint8_t *)none : c->values;
    if (f->kind == STK_PARSE_FIXED) {
        struct stk_shape shape = f->shape;
        bool ok = r->in[0]->shape.rank == 0 || stk_shape_prepend(&shape, rows);
        return ok && stk_parse_put(r, o, f->dtype, &shape,
                                   values + (size_t)(i * rows * f->elements) * size, err);
    }
    int64_t count = by_row[rows] - by_row[0];
    if (f->kind == STK_PARSE_SEQUENCE) {
        struct stk_shape shape = f->shape;
        return stk_shape_prepend(&shape, count) &&
               stk_parse_put(r, o, f->dtype, &shape,
                             values + (size_t)(by_row[0] * f->elements) * size, err) &&
               put_splits(r, o + 1, by_row, rows, err);
    }
    const int64_t *ends = is_list(p, k) && rows ? c->step_splits + by_row[0] : by_row;
    int64_t parts = is_list(p, k) ? count : rows;
    struct stk_shape shape = {1, {ends[parts] - ends[0]}};
    return stk_parse_put(r, o, f->dtype, &shape, values + (size_t)ends[0] * size, err) &&
           (!is_list(p, k) || put_splits(r, o + 1, ends, parts, err)) &&
           put_splits(r, o + 1 + is_list(p, k), by_row, rows, err);
}

static enum stoker_status sequence_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_parse *p = r->prepared;
    struct stk_parse_scratch *s = r->scratch;
    const struct stk_col *in = r->in[0];
    int64_t rows = in->shape.rank == 1 ? in->shape.dim[0] : 1, done = r->n;
    enum stoker_status status = stk_parse_open_scratch(s, p, STK_EXAMPLE_SEQUENCE, err);
    if (status == STOKER_OK && rows > 0) {
        stk_example_batch_clear(&s->batch);
        status = stk_parse_records(r, s->parser, &s->batch, rows, &done, err);
    }
    int o = 0;
    for (int k = 0; status == STOKER_OK && k < p->context + p->lists; k++) {
        const struct stk_parse_feature *f = &p->features[k];
        for (int64_t i = 0; i < done; i++) {
            if (!put_feature(r, p, k, o, i, rows, err)) {
                return err->code;
            }
        }
        // Strings are views into the records; defaults belong to the function: copy them.
        if (done && f->dtype == STK_DT_STRING &&
            (!stk_keep_join(&r->out[o].keep, in->keep) ||
             (f->fallback && !stk_col_own(&r->out[o], r->pool)))) {
            return stk_op_no_memory(r, err);
        }
        o += results(p, k);
    }
    return status;
}

static const struct stk_arg_row sequence_args[] = {
    STK_PARSE_ROWS(""), STK_PARSE_ROWS("list_"), {0}};

const struct stk_op stk_op_parse_sequence_example = {
    .name = "parse_sequence_example",
    .summary = "Features of tf.train.SequenceExample records",
    .cost_ns = 300,
    .infer = sequence_infer,
    .prepare = parse_sequence_example_prepare,
    .unprepare = stk_parse_unprepare,
    .scratch_bytes = sizeof(struct stk_parse_scratch),
    .scratch_end = stk_parse_scratch_end,
    .run = sequence_run,
    .args = sequence_args};
