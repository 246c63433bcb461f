// SPDX-License-Identifier: Apache-2.0
// Joins and splits along an axis: concat, stack, split, unstack.
#include "base/assert.h"
#include "engine/ops/op_move.h"

enum { ARG_AXIS, ARG_NUM, ARG_SIZES };
static const struct stk_arg_row concat_args[] = {
    [ARG_AXIS] = STK_ARG("axis", INT, "the axis", .is_required = true), {0}};
static const struct stk_arg_row stack_args[] = {[ARG_AXIS] = STK_ARG("axis", INT, "the new axis"),
                                                {0}};
static const struct stk_arg_row split_args[] = {
    [ARG_AXIS] = STK_ARG("axis", INT, "the axis"),
    [ARG_NUM] = STK_ARG("num", INT, "number of equal parts, or sizes", .is_open = true),
    [ARG_SIZES] =
        STK_ARG("sizes", INTS, "sizes of the parts; one may be -1: the rest", .is_open = true),
    {0}};
static const struct stk_arg_row unstack_args[] = {
    [ARG_AXIS] = STK_ARG("axis", INT, "the axis"),
    [ARG_NUM] = STK_ARG("num", INT, "the axis's length, if unknown", .is_open = true),
    {0}};

static enum stoker_status same_types(const struct stk_op_infer *c, struct stoker_err *err)
{
    enum stoker_status s = stk_op_want_inputs(c, 1, STK_OP_INPUTS_MAX, err);
    for (int j = 1; s == STOKER_OK && j < c->n_in; j++) {
        if (c->in[j].dtype != c->in[0].dtype) {
            s = stk_err_set(err, STOKER_EINVAL, "%s: value %d is %s, the first is %s", c->op->name,
                            j, stk_dtype_name(c->in[j].dtype), stk_dtype_name(c->in[0].dtype));
        }
    }
    return s;
}

// Shape of the parts joined along the axis. False: another dimension differs.
static bool joined_shape(struct stk_shape *out, const struct stk_shape *part, int axis, bool is_new)
{
    for (int i = 0; i < out->rank; i++) {
        if (i == axis && !is_new) {
            bool is_known = out->dim[i] >= 0 && part->dim[i] >= 0 &&
                            !__builtin_add_overflow(out->dim[i], part->dim[i], &out->dim[i]);
            out->dim[i] = is_known ? out->dim[i] : STK_UNKNOWN;
        } else if (out->dim[i] < 0) {
            out->dim[i] = part->dim[i];
        } else if (part->dim[i] >= 0 && part->dim[i] != out->dim[i]) {
            return false;
        }
    }
    return true;
}

static enum stoker_status shapes_differ(const struct stk_op *op, const struct stk_shape *a,
                                        const struct stk_shape *b, struct stoker_err *err)
{
    char one[STK_SHAPE_TEXT], other[STK_SHAPE_TEXT];
    return stk_err_set(err, STOKER_EINVAL, "%s: shapes %s and %s do not fit together", op->name,
                       stk_shape_text(a, one), stk_shape_text(b, other));
}

enum { CONCAT, STACK };

static enum stoker_status join_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    bool is_new = c->op->arg == STACK;
    int64_t asked = c->args[ARG_AXIS].i;
    enum stoker_status s = same_types(c, err);
    if (s != STOKER_OK) {
        return s;
    }
    stk_spec_copy(&c->out[0], &c->in[0]);
    struct stk_shape *out = &c->out[0].shape;
    int axis = 0;
    for (int j = 0; j < c->n_in; j++) {
        const struct stk_shape *part = &c->in[j].shape;
        if (part->rank < 0) {
            out->rank = STK_UNKNOWN;
            return STOKER_OK;
        }
        if (part->rank != out->rank ||
            (j > 0 && !joined_shape(out, part, is_new ? -1 : axis, is_new))) {
            return shapes_differ(c->op, &c->in[0].shape, part, err);
        }
        if (j == 0 && !stk_op_axis(asked, part->rank + is_new, &axis)) {
            return stk_err_set(err, STOKER_EINVAL, "%s: no axis %lld in %d dimensions", c->op->name,
                               (long long)asked, part->rank + is_new);
        }
    }
    if (is_new) {
        if (out->rank == STK_RANK_MAX) {
            return stk_err_set(err, STOKER_EINVAL, "stack: %d dimensions already", STK_RANK_MAX);
        }
        memmove(out->dim + axis + 1, out->dim + axis,
                (size_t)(out->rank - axis) * sizeof out->dim[0]);
        out->dim[axis] = c->n_in;
        out->rank++;
    }
    return STOKER_OK;
}

static enum stoker_status join_run(struct stk_op_run *r, struct stoker_err *err)
{
    bool is_new = r->op->arg == STACK;
    struct stk_shape shape = r->in[0]->shape;
    int axis;
    if (shape.rank + is_new > STK_RANK_MAX ||
        !stk_op_axis(r->args[ARG_AXIS].i, shape.rank + is_new, &axis)) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "no such axis in %d dimensions", shape.rank);
    }
    for (int j = 1; j < r->n_in; j++) {
        const struct stk_shape *part = &r->in[j]->shape;
        if (part->rank != shape.rank || !joined_shape(&shape, part, is_new ? -1 : axis, is_new)) {
            struct stoker_err why;
            (void)shapes_differ(r->op, &r->in[0]->shape, part, &why);
            return stk_op_fail(r, 0, STOKER_EINVAL, "%s", why.message);
        }
    }
    if (is_new) {
        memmove(shape.dim + axis + 1, shape.dim + axis,
                (size_t)(shape.rank - axis) * sizeof shape.dim[0]);
        shape.dim[axis] = r->n_in;
        shape.rank++;
    }
    size_t size = stk_dtype_bytes(r->in[0]->dtype);
    int64_t outer = stk_op_span(&shape, 0, axis), inner = stk_op_span(&shape, axis + 1, shape.rank);
    uint8_t *out = stk_op_out(r, 0, r->in[0]->dtype, &shape, err);
    if (!out) {
        return err->code;
    }
    outer = stk_shape_count(&shape) ? outer : 0;
    for (int64_t i = 0; i < r->n; i++) {
        for (int64_t o = 0; o < outer; o++) {
            for (int j = 0; j < r->n_in; j++) {
                int64_t along = is_new ? 1 : r->in[j]->shape.dim[axis];
                size_t bytes = (size_t)(along * inner) * size;
                memcpy(out, (uint8_t *)stk_col_at(r->in[j], i) + (size_t)o * bytes, bytes);
                out += bytes;
            }
        }
    }
    for (int j = 0; j < r->n_in; j++) {
        if (!stk_keep_join(&r->out[0].keep, r->in[j]->keep)) {
            return stk_op_no_memory(r, err);
        }
    }
    return STOKER_OK;
}

const struct stk_op stk_op_concat = {.name = "concat",
                                     .summary = "Concatenates along `axis`",
                                     .infer = join_infer,
                                     .run = join_run,
                                     .arg = CONCAT,
                                     .args = concat_args};
const struct stk_op stk_op_stack = {.name = "stack",
                                    .summary = "Stacks along a new `axis`",
                                    .infer = join_infer,
                                    .run = join_run,
                                    .arg = STACK,
                                    .args = stack_args};

enum { SPLIT, UNSTACK };

// Lengths of the parts: attribute "sizes" (INTS; one may be -1), or "num" equal ones.
static enum stoker_status part_sizes(const struct stk_op *op, const struct stk_arg_value *args,
                                     int64_t length, int64_t *sizes, int *count,
                                     struct stoker_err *err)
{
    const struct stk_attr *t = op->arg == SPLIT ? args[ARG_SIZES].attr : NULL;
    int64_t num = args[ARG_NUM].attr ? args[ARG_NUM].i : op->arg == UNSTACK ? length : 0, sum = 0;
    int open = -1;
    bool is_bad = false;
    if (t && t->kind == STK_ATTR_INTS && t->count <= STK_OP_OUTPUTS_MAX) {
        *count = (int)t->count;
        for (int k = 0; k < *count; k++) {
            sizes[k] = t->ints[k];
            if (sizes[k] < 0) {
                is_bad |= sizes[k] != -1 || open >= 0;
                open = k;
            } else {
                is_bad |= __builtin_add_overflow(sum, sizes[k], &sum);
            }
        }
        if (is_bad) {
            return stk_err_set(err, STOKER_EINVAL,
                               "%s: one of the sizes may be -1, no other is below 0", op->name);
        }
        if (open >= 0 && length >= 0) {
            sizes[open] = length - sum;
            sum = length;
        }
        if (length >= 0 && (sum != length || (open >= 0 && sizes[open] < 0))) {
            return stk_err_set(err, STOKER_EINVAL,
                               "%s: the sizes add up to %lld, the axis has %lld", op->name,
                               (long long)sum, (long long)length);
        }
        return STOKER_OK;
    }
    if (num <= 0 || num > STK_OP_OUTPUTS_MAX || (length >= 0 && length % num)) {
        return stk_err_set(err, STOKER_EINVAL, "%s: an axis of %lld does not give %lld equal parts",
                           op->name, (long long)length, (long long)num);
    }
    *count = (int)num;
    for (int k = 0; k < *count; k++) {
        sizes[k] = length < 0 ? STK_UNKNOWN : length / num;
    }
    if (op->arg == UNSTACK && length >= 0 && length != num) {
        return stk_err_set(err, STOKER_EINVAL, "unstack: the axis has %lld, not %lld",
                           (long long)length, (long long)num);
    }
    return STOKER_OK;
}

static void part_shape(struct stk_shape *s, int axis, int64_t size, bool is_gone)
{
    if (is_gone) {
        s->rank--;
        memmove(s->dim + axis, s->dim + axis + 1, (size_t)(s->rank - axis) * sizeof s->dim[0]);
    } else {
        s->dim[axis] = size;
    }
}

static enum stoker_status part_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    int64_t sizes[STK_OP_OUTPUTS_MAX], asked = c->args[ARG_AXIS].i;
    enum stoker_status s = stk_op_want_inputs(c, 1, 1, err);
    const struct stk_shape *in = &c->in[0].shape;
    int axis = 0, count;
    if (s != STOKER_OK) {
        return s;
    }
    if (in->rank >= 0 && !stk_op_axis(asked, in->rank, &axis)) {
        return stk_err_set(err, STOKER_EINVAL, "%s: no axis %lld in %d dimensions", c->op->name,
                           (long long)asked, in->rank);
    }
    s = part_sizes(c->op, c->args, in->rank < 0 ? -1 : in->dim[axis], sizes, &count, err);
    if (s != STOKER_OK) {
        return s;
    }
    c->n_out = count;
    for (int k = 0; k < count; k++) {
        stk_spec_copy(&c->out[k], &c->in[0]);
        if (in->rank >= 0) {
            part_shape(&c->out[k].shape, axis, sizes[k], c->op->arg == UNSTACK);
        }
    }
    return STOKER_OK;
}

static enum stoker_status part_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    int64_t sizes[STK_OP_OUTPUTS_MAX], first = 0;
    struct stoker_err why;
    int axis = 0, count = 0;
    stk_err_init(&why);
    if (!stk_op_axis(r->args[ARG_AXIS].i, in->shape.rank, &axis) ||
        part_sizes(r->op, r->args, in->shape.dim[axis], sizes, &count, &why) != STOKER_OK ||
        count != r->n_out) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "the value can't be split like this: %s",
                           why.message);
    }
    size_t size = stk_dtype_bytes(in->dtype);
    int64_t outer = stk_op_span(&in->shape, 0, axis);
    int64_t inner = stk_op_span(&in->shape, axis + 1, in->shape.rank);
    for (int k = 0; k < count; first += sizes[k], k++) {
        struct stk_shape shape = in->shape;
        part_shape(&shape, axis, sizes[k], r->op->arg == UNSTACK);
        uint8_t *out = stk_op_out(r, k, in->dtype, &shape, err);
        if (!out) {
            return err->code;
        }
        size_t bytes = (size_t)(sizes[k] * inner) * size;
        STK_ASSERT(sizes[k] >= 0 && first + sizes[k] <= in->shape.dim[axis]);
        for (int64_t i = 0; bytes && i < r->n; i++) {
            const uint8_t *from = (uint8_t *)stk_col_at(in, i) + (size_t)(first * inner) * size;
            for (int64_t o = 0; o < outer; o++, out += bytes) {
                memcpy(out, from + (size_t)(o * in->shape.dim[axis] * inner) * size, bytes);
            }
        }
        if (!stk_keep_join(&r->out[k].keep, in->keep)) {
            return stk_op_no_memory(r, err);
        }
    }
    return STOKER_OK;
}

const struct stk_op stk_op_split = {.name = "split",
                                    .summary = "Splits along `axis`",
                                    .infer = part_infer,
                                    .run = part_run,
                                    .arg = SPLIT,
                                    .args = split_args};
const struct stk_op stk_op_unstack = {.name = "unstack",
                                      .summary = "Splits into slices along `axis`",
                                      .infer = part_infer,
                                      .run = part_run,
                                      .arg = UNSTACK,
                                      .args = unstack_args};
