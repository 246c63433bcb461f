// SPDX-License-Identifier: Apache-2.0
// Shapes: reshape, expand_dims, squeeze, ensure_shape, shape, size, rank, transpose. All but
// transpose leave the values in place.
#include "engine/ops/op_move.h"

// The argument rows of each operation start at 0.
enum { ARG_SHAPE = 0, ARG_AXIS = 0, ARG_OUT_TYPE = 0, ARG_PERM = 0 };
static const struct stk_arg_row reshape_args[] = {
    [ARG_SHAPE] = STK_ARG("shape", INTS, "one dimension may be -1: the rest", .is_input_too = true),
    {0}};
static const struct stk_arg_row expand_args[] = {
    [ARG_AXIS] = STK_ARG("axis", INT, "position of the new dimension", .is_required = true), {0}};
static const struct stk_arg_row squeeze_args[] = {
    [ARG_AXIS] = STK_ARG("axis", INTS, "the dimensions to remove; default: all of length 1",
                         .is_open = true),
    {0}};
static const struct stk_arg_row ensure_args[] = {
    [ARG_SHAPE] = STK_ARG("shape", INTS, "-1: any length; default: any shape", .is_open = true),
    {0}};
static const struct stk_arg_row measure_args[] = {
    [ARG_OUT_TYPE] = STK_ARG("out_type", DTYPE, "type of the counts", .fallback = STK_DT_I32,
                             .choices = STK_OP_PLACES),
    {0}};
static const struct stk_arg_row transpose_args[] = {
    [ARG_PERM] = STK_ARG("perm", INTS, "the new order; default: reversed", .is_open = true), {0}};

// A requested shape with at most one -1, filled in from the number of values. False: it doesn't
// fit.
static bool fill_shape(struct stk_shape *shape, const int64_t *want, int rank, int64_t count)
{
    int64_t known = 1;
    int open = -1;
    *shape = (struct stk_shape){.rank = rank};
    for (int i = 0; i < rank; i++) {
        shape->dim[i] = want[i];
        if (want[i] < -1 || (want[i] == -1 && open >= 0)) {
            return false;
        }
        if (want[i] == -1) {
            open = i;
        } else if (__builtin_mul_overflow(known, want[i], &known)) {
            return false;
        }
    }
    if (count < 0) {
        return true;
    }
    if (open >= 0) {
        if (known == 0 || count % known) {
            return false;
        }
        shape->dim[open] = count / known;
    }
    return stk_shape_count(shape) == count;
}

static enum stoker_status reshape_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stoker_status s = stk_op_want_inputs(c, 1, 2, err);
    int64_t want[STK_RANK_MAX];
    int rank;
    if (s != STOKER_OK) {
        return s;
    }
    stk_spec_copy(&c->out[0], &c->in[0]);
    c->out[0].shape.rank = STK_UNKNOWN;
    if (!stk_op_static_ints(c, ARG_SHAPE, 1, want, STK_RANK_MAX, &rank)) {
        bool is_vector = c->n_in == 2 && c->in[1].shape.rank == 1 && c->in[1].shape.dim[0] >= 0 &&
                         c->in[1].shape.dim[0] <= STK_RANK_MAX;
        if (is_vector) {
            c->out[0].shape.rank = (int)c->in[1].shape.dim[0];
            for (int i = 0; i < c->out[0].shape.rank; i++) {
                c->out[0].shape.dim[i] = STK_UNKNOWN;
            }
        }
        return c->n_in == 2
                   ? STOKER_OK
                   : stk_err_set(err, STOKER_EINVAL,
                                 "reshape: needs a shape of at most %d dimensions", STK_RANK_MAX);
    }
    if (!fill_shape(&c->out[0].shape, want, rank, stk_shape_count(&c->in[0].shape))) {
        char have[STK_SHAPE_TEXT], text[STK_SHAPE_TEXT];
        struct stk_shape w = {.rank = rank};
        for (int i = 0; i < rank; i++) {
            w.dim[i] = want[i];
        }
        return stk_err_set(err, STOKER_EINVAL, "reshape: %s does not fit %s",
                           stk_shape_text(&c->in[0].shape, have), stk_shape_text(&w, text));
    }
    return STOKER_OK;
}

// If the shape is static, it is the same for all elements of a uniform block; otherwise each
// element has its own.
static enum stoker_status reshape_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0], *list = r->n_in > 1 ? r->in[1] : NULL;
    int64_t want[STK_RANK_MAX], count = stk_shape_count(&in->shape);
    struct stk_shape shape;
    int rank;
    bool is_same = r->args[ARG_SHAPE].attr || (list && list->stride == 0) || r->n == 1;
    for (int64_t i = 0; i < (is_same ? 1 : r->n); i++) {
        if (!stk_op_ints(&r->args[ARG_SHAPE], list, i, want, STK_RANK_MAX, &rank) ||
            !fill_shape(&shape, want, rank, count)) {
            return stk_op_fail(r, i, STOKER_EINVAL, "%lld values do not fit the requested shape",
                               (long long)count);
        }
        if (is_same) {
            return stk_op_pass(r, 0, 0, &shape, err);
        }
        void *to = stk_op_append(r, 0, in->dtype, &shape, err);
        if (!to) {
            return err->code;
        }
        memcpy(to, stk_col_at(in, i), (size_t)count * stk_dtype_bytes(in->dtype));
    }
    return stk_keep_join(&r->out[0].keep, in->keep) ? STOKER_OK : stk_op_no_memory(r, err);
}

const struct stk_op stk_op_reshape = {.name = "reshape",
                                      .summary = "Changes the shape",
                                      .infer = reshape_infer,
                                      .run = reshape_run,
                                      .args = reshape_args};

static enum stoker_status expand_shape(const struct stk_op *op, const struct stk_arg_value *args,
                                       struct stk_shape *s, struct stoker_err *err)
{
    int axis;
    int64_t asked = args[ARG_AXIS].i;
    if (s->rank < 0) {
        return STOKER_OK;
    }
    if (s->rank == STK_RANK_MAX || !stk_op_axis(asked, s->rank + 1, &axis)) {
        return stk_err_set(err, STOKER_EINVAL, "%s: no axis %lld in %d dimensions", op->name,
                           (long long)asked, s->rank + 1);
    }
    memmove(s->dim + axis + 1, s->dim + axis, (size_t)(s->rank - axis) * sizeof s->dim[0]);
    s->dim[axis] = 1;
    s->rank++;
    return STOKER_OK;
}

static enum stoker_status expand_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    return expand_shape(c->op, c->args, &c->out[0].shape, err);
}

static enum stoker_status expand_run(struct stk_op_run *r, struct stoker_err *err)
{
    struct stk_shape shape = r->in[0]->shape;
    enum stoker_status s = expand_shape(r->op, r->args, &shape, err);
    return s == STOKER_OK ? stk_op_pass(r, 0, 0, &shape, err) : s;
}

const struct stk_op stk_op_expand_dims = {.name = "expand_dims",
                                          .summary = "Adds a dimension of 1 at `axis`",
                                          .signature = "any -> same",
                                          .infer = expand_infer,
                                          .run = expand_run,
                                          .args = expand_args};

// Removes the given axes, or all of length 1. False: one of them is longer.
static enum stoker_status squeeze_shape(const struct stk_op *op, const struct stk_arg_value *args,
                                        struct stk_shape *s, struct stoker_err *err)
{
    uint32_t axes;
    const struct stk_attr *t = args[ARG_AXIS].attr;
    bool takes_ones = !t || (t->kind == STK_ATTR_INTS && t->count == 0);
    enum stoker_status status =
        takes_ones ? STOKER_OK : stk_op_axes(op, &args[ARG_AXIS], s->rank, &axes, err);
    struct stk_shape out = {.rank = 0};
    for (int i = 0; status == STOKER_OK && i < s->rank; i++) {
        bool is_out = takes_ones ? s->dim[i] == 1 : (axes >> i & 1) != 0;
        if (is_out && s->dim[i] != 1 && s->dim[i] >= 0) {
            status = stk_err_set(err, STOKER_EINVAL, "squeeze: axis %d has length %lld, not 1", i,
                                 (long long)s->dim[i]);
        }
        if (!is_out) {
            out.dim[out.rank++] = s->dim[i];
        }
    }
    *s = out;
    return status;
}

static enum stoker_status squeeze_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    const struct stk_attr *t = c->args[ARG_AXIS].attr;
    bool takes_ones = !t || (t->kind == STK_ATTR_INTS && t->count == 0);
    bool is_open = c->in[0].shape.rank < 0 || (takes_ones && !stk_shape_is_known(&c->in[0].shape));
    if (is_open) {
        c->out[0].shape.rank = STK_UNKNOWN;
        return STOKER_OK;
    }
    return squeeze_shape(c->op, c->args, &c->out[0].shape, err);
}

static enum stoker_status squeeze_run(struct stk_op_run *r, struct stoker_err *err)
{
    struct stk_shape shape = r->in[0]->shape;
    struct stoker_err why;
    stk_err_init(&why);
    if (squeeze_shape(r->op, r->args, &shape, &why) != STOKER_OK) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "%s", why.message);
    }
    return stk_op_pass(r, 0, 0, &shape, err);
}

const struct stk_op stk_op_squeeze = {.name = "squeeze",
                                      .summary = "Removes dimensions of 1",
                                      .signature = "any -> same",
                                      .infer = squeeze_infer,
                                      .run = squeeze_run,
                                      .args = squeeze_args};

static bool asked_shape(const struct stk_arg_value *args, struct stk_shape *want)
{
    const struct stk_attr *t = args[ARG_SHAPE].attr;
    if (!t || t->kind != STK_ATTR_INTS || t->count > STK_RANK_MAX) {
        return false;
    }
    *want = (struct stk_shape){.rank = (int)t->count};
    for (int i = 0; i < want->rank; i++) {
        want->dim[i] = t->ints[i];
    }
    return true;
}

static enum stoker_status ensure_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    struct stk_shape want;
    char have[STK_SHAPE_TEXT], text[STK_SHAPE_TEXT];
    stk_spec_copy(&c->out[0], &c->in[0]);
    if (!asked_shape(c->args, &want)) { // unknown rank: nothing to check
        return STOKER_OK;
    }
    if (!stk_shape_fits(&want, &c->in[0].shape)) {
        return stk_err_set(err, STOKER_EINVAL, "ensure_shape: the shape is %s, not %s",
                           stk_shape_text(&c->in[0].shape, have), stk_shape_text(&want, text));
    }
    for (int i = 0; c->in[0].shape.rank >= 0 && i < want.rank; i++) {
        want.dim[i] = want.dim[i] < 0 ? c->in[0].shape.dim[i] : want.dim[i];
    }
    c->out[0].shape = want;
    return STOKER_OK;
}

static enum stoker_status ensure_run(struct stk_op_run *r, struct stoker_err *err)
{
    struct stk_shape want;
    char have[STK_SHAPE_TEXT], text[STK_SHAPE_TEXT];
    if (asked_shape(r->args, &want) && !stk_shape_fits(&want, &r->in[0]->shape)) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "the shape is %s, not %s",
                           stk_shape_text(&r->in[0]->shape, have), stk_shape_text(&want, text));
    }
    return stk_op_pass(r, 0, 0, NULL, err);
}

const struct stk_op stk_op_ensure_shape = {.name = "ensure_shape",
                                           .summary = "Checks the value's shape",
                                           .signature = "any",
                                           .infer = ensure_infer,
                                           .run = ensure_run,
                                           .args = ensure_args};

enum { SHAPE, SIZE, RANK };

static enum stoker_status measure_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    (void)err;
    c->out[0].dtype = (enum stk_dtype)c->args[ARG_OUT_TYPE].i;
    c->out[0].shape = (struct stk_shape){.rank = c->op->arg == SHAPE ? 1 : 0};
    c->out[0].shape.dim[0] = c->in[0].shape.rank;
    return STOKER_OK;
}

static enum stoker_status measure_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_shape *in = &r->in[0]->shape;
    struct stk_shape shape = {.rank = r->op->arg == SHAPE ? 1 : 0, .dim = {in->rank}};
    int64_t values[STK_RANK_MAX];
    int count = r->op->arg == SHAPE ? in->rank : 1;
    for (int i = 0; i < count; i++) {
        values[i] = r->op->arg == SHAPE  ? in->dim[i]
                    : r->op->arg == SIZE ? stk_shape_count(in)
                                         : in->rank;
    }
    void *out = stk_op_out(r, 0, r->spec[0].dtype, &shape, err);
    if (!out) {
        return err->code;
    }
    for (int64_t k = 0; k < r->n * count; k++) {
        stk_op_put_place(out, r->spec[0].dtype, k, values[k % count]);
    }
    return STOKER_OK;
}

const struct stk_op stk_op_shape = {.name = "shape",
                                    .summary = "The shape as a vector",
                                    .signature = "any",
                                    .infer = measure_infer,
                                    .run = measure_run,
                                    .arg = SHAPE,
                                    .args = measure_args};
const struct stk_op stk_op_size = {.name = "size",
                                   .summary = "Number of values",
                                   .signature = "any",
                                   .infer = measure_infer,
                                   .run = measure_run,
                                   .arg = SIZE,
                                   .args = measure_args};
const struct stk_op stk_op_rank = {.name = "rank",
                                   .summary = "Number of dimensions",
                                   .signature = "any",
                                   .infer = measure_infer,
                                   .run = measure_run,
                                   .arg = RANK,
                                   .args = measure_args};

// perm, or the dimensions reversed. False: not a permutation.
static bool permutation(const struct stk_arg_value *args, int rank, int *perm)
{
    const struct stk_attr *t = args[ARG_PERM].attr;
    uint32_t seen = 0;
    for (int i = 0; i < rank; i++) {
        perm[i] = rank - 1 - i;
        if (t && (t->kind != STK_ATTR_INTS || t->count != rank ||
                  !stk_op_axis(t->ints[i], rank, &perm[i]))) {
            return false;
        }
        seen |= 1u << perm[i];
    }
    return seen == (1u << rank) - 1 && (!t || t->count == rank);
}

static enum stoker_status transpose_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    int perm[STK_RANK_MAX];
    const struct stk_shape *in = &c->in[0].shape;
    if (in->rank < 0) {
        return STOKER_OK;
    }
    if (!permutation(c->args, in->rank, perm)) {
        return stk_err_set(err, STOKER_EINVAL, "transpose: perm isn't an order of %d dimensions",
                           in->rank);
    }
    for (int i = 0; i < in->rank; i++) {
        c->out[0].shape.dim[i] = in->dim[perm[i]];
    }
    return STOKER_OK;
}

static enum stoker_status transpose_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    struct stk_shape shape = in->shape;
    int64_t from[STK_RANK_MAX], step[STK_RANK_MAX];
    int perm[STK_RANK_MAX];
    if (!permutation(r->args, in->shape.rank, perm)) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "perm isn't an order of %d dimensions",
                           in->shape.rank);
    }
    stk_op_steps(&in->shape, from);
    for (int i = 0; i < shape.rank; i++) {
        shape.dim[i] = in->shape.dim[perm[i]];
        step[i] = from[perm[i]];
    }
    size_t size = stk_dtype_bytes(in->dtype), bytes = (size_t)stk_shape_count(&shape) * size;
    uint8_t *out = stk_op_out(r, 0, in->dtype, &shape, err);
    for (int64_t i = 0; out && i < r->n; i++) {
        stk_op_move(out + (size_t)i * bytes, &shape, stk_col_at(in, i), 0, step, size);
    }
    if (!out) {
        return err->code;
    }
    return stk_keep_join(&r->out[0].keep, in->keep) ? STOKER_OK : stk_op_no_memory(r, err);
}

const struct stk_op stk_op_transpose = {.name = "transpose",
                                        .summary = "Reorders dimensions",
                                        .signature = "any -> same",
                                        .infer = transpose_infer,
                                        .run = transpose_run,
                                        .args = transpose_args};
