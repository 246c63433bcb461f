// SPDX-License-Identifier: Apache-2.0
// Parts of a value by position: strided_slice (what v[1:3, ..., None, -1] becomes), slice, gather,
// reverse, boolean_mask.
//
// strided_slice: attribute "index", INTS in groups of five for each item of the index: kind (0
// integer, 1 slice, 2 new axis, 3 ellipsis), begin, end, step, flags (1: no begin, 2: no end, 4:
// begin, 8: end, 16: step is the next input instead).
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "engine/ops/op_move.h"

// The argument rows of each operation start at 0.
enum { ARG_INDEX = 0, ARG_BEGIN = 0, ARG_SIZE = 1, ARG_AXIS = 0 };
static const struct stk_arg_row strided_args[] = {
    [ARG_INDEX] =
        STK_ARG("index", INTS, "five numbers for each item: kind, begin, end, step, flags",
                .is_required = true),
    {0}};
static const struct stk_arg_row slice_args[] = {
    [ARG_BEGIN] = STK_ARG("begin", INTS, "start in each dimension", .is_input_too = true),
    [ARG_SIZE] = STK_ARG("size", INTS, "number of values; -1: to the end", .is_input_too = true),
    {0}};
static const struct stk_arg_row gather_args[] = {[ARG_AXIS] = STK_ARG("axis", INT, "the axis"),
                                                 {0}};
static const struct stk_arg_row reverse_args[] = {
    [ARG_AXIS] = STK_ARG("axis", INTS, "which", .is_required = true), {0}};

enum {
    INTEGER = STK_OP_INTEGER,
    SLICE = STK_OP_SLICE,
    NEW_AXIS = STK_OP_NEW_AXIS,
    ELLIPSIS = STK_OP_ELLIPSIS,
    NO_BEGIN = STK_OP_NO_BEGIN,
    NO_END = STK_OP_NO_END,
    BEGIN_INPUT = STK_OP_BEGIN_INPUT,
    END_INPUT = STK_OP_END_INPUT,
    STEP_INPUT = STK_OP_STEP_INPUT
};

// What the index selects, in terms of the value's dimensions.
struct selection {
    struct stk_shape out;
    int64_t base, step[STK_RANK_MAX]; // steps of the result's dimensions
};

static bool read_scalar(const struct stk_col *c, int64_t i, int64_t *v)
{
    int count;
    struct stk_shape shape = stk_col_shape(c, i);
    return stk_shape_count(&shape) == 1 && stk_op_ints(NULL, c, i, v, 1, &count);
}

bool stk_op_index_clamp(const struct stk_op_index_item *it, int64_t length, int64_t *first,
                        int64_t *count)
{
    int64_t step = it->step, low = step > 0 ? 0 : -1, high = step > 0 ? length : length - 1;
    if (step == 0) {
        return false;
    }
    int64_t begin = it->begin < 0 ? it->begin + length : it->begin;
    int64_t end = it->end < 0 ? it->end + length : it->end;
    begin = it->flags & NO_BEGIN ? (step > 0 ? 0 : length - 1)
            : begin < low        ? low
            : begin > high       ? high
                                 : begin;
    end = it->flags & NO_END ? (step > 0 ? length : -1) : end < low ? low : end > high ? high : end;
    int64_t span = step > 0 ? end - begin : begin - end;
    uint64_t by = step > 0 ? (uint64_t)step : 0 - (uint64_t)step; // correct for INT64_MIN, too
    *first = begin;
    *count = span > 0 ? (int64_t)((uint64_t)(span - 1) / by) + 1 : 0;
    return true;
}

// A value's dimensions, consumed by an index's items one by one.
struct cursor {
    const struct stk_shape *in;
    int64_t from[STK_RANK_MAX]; // steps of the value's dimensions
    int axis, left;             // the next dimension; how many dimensions no item covers
    struct selection *s;
    char *why; // WHY_SIZE bytes
};

enum { WHY_SIZE = 96 };

static bool add_dimension(struct cursor *c, int64_t length, int64_t step)
{
    if (c->s->out.rank == STK_RANK_MAX) {
        snprintf(c->why, WHY_SIZE, "the result has more than %d dimensions", STK_RANK_MAX);
        return false;
    }
    c->s->step[c->s->out.rank] = step;
    c->s->out.dim[c->s->out.rank++] = length;
    return true;
}

static bool take_integer(struct cursor *c, int64_t index)
{
    int64_t length = c->in->dim[c->axis], at = index < 0 ? index + length : index;
    if (at < 0 || at >= length) {
        snprintf(c->why, WHY_SIZE, "index %lld is out of range for dimension %d, which has %lld",
                 (long long)index, c->axis, (long long)length);
        return false;
    }
    c->s->base += at * c->from[c->axis++];
    return true;
}

static bool take_slice(struct cursor *c, const struct stk_op_index_item *it)
{
    int64_t first, count, step = c->from[c->axis];
    if (!stk_op_index_clamp(it, c->in->dim[c->axis++], &first, &count)) {
        snprintf(c->why, WHY_SIZE, "a slice has step 0");
        return false;
    }
    c->s->base += first * step;
    return add_dimension(c, count, count > 1 ? step * it->step : 0); // a step past the end may have
                                                                     // any size
}

// All dimensions that no other item covers.
static bool take_rest(struct cursor *c)
{
    bool fits = true;
    for (; fits && c->left > 0; c->left--, c->axis++) {
        fits = add_dimension(c, c->in->dim[c->axis], c->from[c->axis]);
    }
    return fits;
}

bool stk_op_index_read(struct stk_op_index_item *it, const int64_t *ints,
                       const struct stk_col *const *inputs, int n_inputs, int64_t element,
                       int *next)
{
    memcpy(it, ints, sizeof *it);
    int64_t *fields[3] = {&it->begin, &it->end, &it->step};
    for (int f = 0; f < 3; f++) {
        if (it->flags & (BEGIN_INPUT << f) &&
            (*next >= n_inputs || !inputs[*next] ||
             !read_scalar(inputs[(*next)++], element, fields[f]))) {
            return false;
        }
    }
    return true;
}

// How many of the value's dimensions the items cover.
static int count_used(const struct stk_attr *t)
{
    int used = 0;
    for (int64_t k = 0; k < t->count / 5; k++) {
        used += t->ints[5 * k] == INTEGER || t->ints[5 * k] == SLICE;
    }
    return used;
}

// inputs: columns after the value, for computed begins and ends. why: WHY_SIZE bytes, the reason of
// a failure.
static bool select_part(const struct stk_attr *t, const struct stk_shape *in,
                        const struct stk_col *const *inputs, int n_inputs, int64_t element,
                        struct selection *s, char *why)
{
    struct cursor c = {.in = in, .left = in->rank - count_used(t), .s = s, .why = why};
    int next = 0;
    *s = (struct selection){0};
    stk_op_steps(in, c.from);
    if (c.left < 0) {
        snprintf(why, WHY_SIZE, "%d indices for a value of %d dimensions", count_used(t), in->rank);
        return false;
    }
    for (int64_t k = 0; k < t->count / 5; k++) {
        struct stk_op_index_item it;
        if (!stk_op_index_read(&it, &t->ints[5 * k], inputs, n_inputs, element, &next)) {
            snprintf(why, WHY_SIZE, "an index isn't an integer");
            return false;
        }
        bool fits = it.kind == INTEGER    ? take_integer(&c, it.begin)
                    : it.kind == SLICE    ? take_slice(&c, &it)
                    : it.kind == NEW_AXIS ? add_dimension(&c, 1, 0)
                                          : take_rest(&c);
        if (!fits) {
            return false;
        }
    }
    return take_rest(&c);
}

// The dimensions known beforehand.
static void open_shape(const struct stk_attr *t, const struct stk_shape *in, struct stk_shape *out)
{
    int64_t count_items = t->count / 5, used = count_used(t);
    int axis = 0;
    *out = (struct stk_shape){0};
    bool had_ellipsis = false;
    for (int64_t k = 0; k <= count_items; k++) {
        struct stk_op_index_item it = {.kind = ELLIPSIS};
        if (k < count_items) {
            memcpy(&it, &t->ints[5 * k], sizeof it);
        }
        if (it.kind == ELLIPSIS) {
            for (int64_t take = had_ellipsis ? 0 : in->rank - used; take > 0; take--) {
                out->dim[out->rank++] = in->dim[axis++];
            }
            had_ellipsis = true;
        } else if (it.kind == NEW_AXIS) {
            out->dim[out->rank++] = 1;
        } else {
            int64_t length = in->dim[axis++], first, count;
            bool is_whole = it.flags == (NO_BEGIN | NO_END) && it.step == 1;
            bool is_known = !(it.flags & (BEGIN_INPUT | END_INPUT | STEP_INPUT)) && length >= 0;
            if (it.kind == SLICE) {
                is_known = is_known && stk_op_index_clamp(&it, length, &first, &count);
                out->dim[out->rank++] = is_whole ? length : is_known ? count : STK_UNKNOWN;
            }
        }
    }
}

static enum stoker_status strided_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    const struct stk_attr *t = c->args[ARG_INDEX].attr;
    struct selection s;
    char why[WHY_SIZE];
    if (c->n_in < 1 || !t || t->kind != STK_ATTR_INTS || t->count % 5) {
        return stk_err_set(err, STOKER_EINVAL, "strided_slice: needs a value and its index");
    }
    stk_spec_copy(&c->out[0], &c->in[0]);
    c->out[0].shape.rank = STK_UNKNOWN;
    int used = count_used(t), added = 0;
    for (int64_t k = 0; k < t->count / 5; k++) {
        added += t->ints[5 * k] == NEW_AXIS;
    }
    if (c->in[0].shape.rank < 0) {
        return STOKER_OK;
    }
    if (used > c->in[0].shape.rank || c->in[0].shape.rank + added > STK_RANK_MAX) {
        return stk_err_set(err, STOKER_EINVAL,
                           "strided_slice: %d indices for a value of %d dimensions", used,
                           c->in[0].shape.rank);
    }
    bool is_static = stk_shape_is_known(&c->in[0].shape) && c->n_in == 1;
    if (is_static) {
        if (!select_part(t, &c->in[0].shape, NULL, 0, 0, &s, why)) {
            return stk_err_set(err, STOKER_EINVAL, "strided_slice: %s", why);
        }
        c->out[0].shape = s.out;
    } else {
        open_shape(t, &c->in[0].shape, &c->out[0].shape);
    }
    return STOKER_OK;
}

static enum stoker_status strided_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_attr *t = r->args[ARG_INDEX].attr;
    const struct stk_col *in = r->in[0];
    size_t size = stk_dtype_bytes(in->dtype);
    bool is_same = true;
    for (int j = 1; j < r->n_in; j++) {
        is_same = is_same && r->in[j]->stride == 0;
    }
    uint8_t *out = NULL;
    struct selection s;
    char why[WHY_SIZE];
    for (int64_t i = 0; i < r->n; i++) {
        if ((i == 0 || !is_same) &&
            !select_part(t, &in->shape, r->in + 1, r->n_in - 1, i, &s, why)) {
            return stk_op_fail(r, i, STOKER_EINVAL, "%s", why);
        }
        size_t bytes = (size_t)stk_shape_count(&s.out) * size;
        if (stk_op_share_run(r, &s.out, s.base, s.step)) {
            return STOKER_OK;
        }
        if (i == 0 && is_same) {
            out = stk_op_out(r, 0, in->dtype, &s.out, err);
        } else if (!is_same) {
            out = stk_op_append(r, 0, in->dtype, &s.out, err);
        }
        if (!out) {
            return err->code;
        }
        stk_op_move(is_same ? out + (size_t)i * bytes : out, &s.out, stk_col_at(in, i), s.base,
                    s.step, size);
    }
    return stk_keep_join(&r->out[0].keep, in->keep) ? STOKER_OK : stk_op_no_memory(r, err);
}

const struct stk_op stk_op_strided_slice = {.name = "strided_slice",
                                            .summary = "v[begin:end:step, ...]",
                                            .infer = strided_infer,
                                            .run = strided_run,
                                            .args = strided_args};

// slice: begin and size (-1: to the end), as attributes or the next inputs.
static bool slice_item(const struct stk_op_run *r, int64_t i, int64_t *begin, int64_t *size,
                       int rank)
{
    int n_begin, n_size;
    const struct stk_col *b = r->n_in > 1 ? r->in[1] : NULL;
    const struct stk_col *z = r->n_in > 2 ? r->in[2] : r->args[ARG_BEGIN].attr ? b : NULL;
    return stk_op_ints(&r->args[ARG_BEGIN], b, i, begin, STK_RANK_MAX, &n_begin) &&
           stk_op_ints(&r->args[ARG_SIZE], z, i, size, STK_RANK_MAX, &n_size) && n_begin == rank &&
           n_size == rank;
}

static enum stoker_status slice_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    int64_t size[STK_RANK_MAX], begin[STK_RANK_MAX];
    int count, begins;
    stk_spec_copy(&c->out[0], &c->in[0]);
    struct stk_shape *out = &c->out[0].shape;
    int size_input = c->args[ARG_BEGIN].attr ? 1 : 2;
    bool has_size = stk_op_static_ints(c, ARG_SIZE, size_input, size, STK_RANK_MAX, &count);
    bool has_begin = stk_op_static_ints(c, ARG_BEGIN, 1, begin, STK_RANK_MAX, &begins);
    if (has_size && out->rank >= 0 && count != out->rank) {
        return stk_err_set(err, STOKER_EINVAL, "slice: %d sizes for %d dimensions", count,
                           out->rank);
    }
    for (int i = 0; i < out->rank; i++) {
        if (has_size && size[i] < -1) {
            return stk_err_set(err, STOKER_EINVAL, "slice: size %lld; -1 means all to the end",
                               (long long)size[i]);
        }
        int64_t whole = out->dim[i];
        bool knows_place = whole >= 0 && has_begin && i < begins;
        bool is_within = knows_place && begin[i] >= 0 && begin[i] <= whole;
        out->dim[i] = STK_UNKNOWN;
        if (has_size && size[i] >= 0) {
            out->dim[i] = size[i];
        } else if (has_size && is_within) {
            out->dim[i] = whole - begin[i];
        }
        if (knows_place && (!is_within || out->dim[i] > whole - begin[i])) {
            return stk_err_set(err, STOKER_EINVAL,
                               "slice: %lld values from place %lld of dimension %d, which has %lld",
                               (long long)out->dim[i], (long long)begin[i], i, (long long)whole);
        }
    }
    return STOKER_OK;
}

static enum stoker_status slice_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    int64_t begin[STK_RANK_MAX], size[STK_RANK_MAX], step[STK_RANK_MAX];
    stk_op_steps(&in->shape, step);
    for (int64_t i = 0; i < r->n; i++) {
        struct stk_shape shape = in->shape;
        int64_t base = 0;
        if (!slice_item(r, i, begin, size, in->shape.rank)) {
            return stk_op_fail(r, i, STOKER_EINVAL, "begin and size need %d values each",
                               in->shape.rank);
        }
        for (int k = 0; k < shape.rank; k++) {
            bool is_within = begin[k] >= 0 && begin[k] <= shape.dim[k];
            int64_t left = is_within ? shape.dim[k] - begin[k] : 0;
            int64_t count = size[k] == -1 ? left : size[k];
            if (!is_within || count > left || size[k] < -1) {
                return stk_op_fail(r, i, STOKER_EINVAL,
                                   "%lld values from place %lld of dimension %d, which has %lld",
                                   (long long)count, (long long)begin[k], k,
                                   (long long)shape.dim[k]);
            }
            base += begin[k] * step[k];
            shape.dim[k] = count;
        }
        if (stk_op_share_run(r, &shape, base, step)) {
            return STOKER_OK;
        }
        void *out = stk_op_append(r, 0, in->dtype, &shape, err);
        if (!out) {
            return err->code;
        }
        stk_op_move(out, &shape, stk_col_at(in, i), base, step, stk_dtype_bytes(in->dtype));
    }
    return stk_keep_join(&r->out[0].keep, in->keep) ? STOKER_OK : stk_op_no_memory(r, err);
}

const struct stk_op stk_op_slice = {.name = "slice",
                                    .summary = "`size` values from `begin` on",
                                    .signature = "any, any?, any?",
                                    .infer = slice_infer,
                                    .run = slice_run,
                                    .args = slice_args};

// gather: params, indices (any shape), axis.
static enum stoker_status gather_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stoker_status s = stk_op_want_inputs(c, 2, 2, err);
    int axis;
    if (s == STOKER_OK && !stk_dtype_is_int(c->in[1].dtype)) {
        s = stk_err_set(err, STOKER_EINVAL, "gather: indices are %s, not integers",
                        stk_dtype_name(c->in[1].dtype));
    }
    if (s != STOKER_OK) {
        return s;
    }
    const struct stk_shape *in = &c->in[0].shape, *index = &c->in[1].shape;
    struct stk_shape out = {.rank = STK_UNKNOWN};
    if (in->rank >= 0 && index->rank >= 0) {
        if (!stk_op_axis(c->args[ARG_AXIS].i, in->rank, &axis) ||
            in->rank - 1 + index->rank > STK_RANK_MAX) {
            return stk_err_set(err, STOKER_EINVAL, "gather: no such axis in %d dimensions",
                               in->rank);
        }
        out.rank = 0;
        for (int i = 0; i < in->rank; i++) {
            for (int k = 0; i == axis && k < index->rank; k++) {
                out.dim[out.rank++] = index->dim[k];
            }
            if (i != axis) {
                out.dim[out.rank++] = in->dim[i];
            }
        }
    }
    stk_spec_copy(&c->out[0], &c->in[0]);
    c->out[0].shape = out;
    return STOKER_OK;
}

#define INLINE static inline __attribute__((always_inline))

INLINE int64_t index_at(const void *index, enum stk_dtype t, int64_t k)
{
    switch (t) {
#define READ(N, T, U)                                                                              \
    case STK_DT_##N:                                                                               \
        return (int64_t)((const T *)index)[k];
        STK_FOR_INTS(READ)
    default:
        return -1;
    }
}

// Gathers `count` runs of `bytes` by index; returns how many it did: fewer if an index is out of
// range.
INLINE int64_t gather_each(uint8_t *out, const uint8_t *from, int64_t length, const void *index,
                           enum stk_dtype t, int64_t count, size_t bytes)
{
    for (int64_t k = 0; k < count; k++) {
        int64_t at = index_at(index, t, k);
        if (at < 0 || at >= length) {
            return k;
        }
        memcpy(out + (size_t)k * bytes, from + (size_t)at * bytes, bytes);
    }
    return count;
}

// Single values are the common case, and a call would cost more than copying one.
INLINE int64_t gather_sizes(uint8_t *out, const uint8_t *from, int64_t length, const void *index,
                            enum stk_dtype t, int64_t count, size_t bytes)
{
    switch (bytes) {
    case 1:
        return gather_each(out, from, length, index, t, count, 1);
    case 4:
        return gather_each(out, from, length, index, t, count, 4);
    case 8:
        return gather_each(out, from, length, index, t, count, 8);
    default:
        return gather_each(out, from, length, index, t, count, bytes);
    }
}

// By element i of the index; its usual types have their own loops.
static int64_t gather_runs(uint8_t *out, const uint8_t *from, int64_t length,
                           const struct stk_col *index, int64_t i, int64_t count, size_t bytes)
{
    const void *places = stk_col_at(index, i);
    switch (index->dtype) {
    case STK_DT_I32:
        return gather_sizes(out, from, length, places, STK_DT_I32, count, bytes);
    case STK_DT_I64:
        return gather_sizes(out, from, length, places, STK_DT_I64, count, bytes);
    default:
        return gather_sizes(out, from, length, places, index->dtype, count, bytes);
    }
}

static enum stoker_status gather_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0], *index = r->in[1];
    struct stk_shape out_shape = {0};
    int axis;
    if (!stk_op_axis(r->args[ARG_AXIS].i, in->shape.rank, &axis) ||
        in->shape.rank - 1 + index->shape.rank > STK_RANK_MAX) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "no such axis in %d dimensions", in->shape.rank);
    }
    for (int i = 0; i < in->shape.rank; i++) {
        for (int k = 0; i == axis && k < index->shape.rank; k++) {
            out_shape.dim[out_shape.rank++] = index->shape.dim[k];
        }
        if (i != axis) {
            out_shape.dim[out_shape.rank++] = in->shape.dim[i];
        }
    }
    size_t size = stk_dtype_bytes(in->dtype);
    int64_t outer = stk_op_span(&in->shape, 0, axis), length = in->shape.dim[axis];
    int64_t inner = stk_op_span(&in->shape, axis + 1, in->shape.rank),
            count = stk_shape_count(&index->shape);
    size_t bytes = (size_t)inner * size;
    if (outer > 1 && stk_shape_count(&out_shape) == 0) {
        outer = 1; // the indices are still checked
    }
    STK_ASSERT(outer >= 0 && length >= 0 && inner >= 0 && out_shape.rank <= STK_RANK_MAX);
    uint8_t *out = stk_op_out(r, 0, in->dtype, &out_shape, err);
    if (!out) {
        return err->code;
    }
    for (int64_t i = 0; i < r->n; i++) {
        const uint8_t *from = stk_col_at(in, i);
        for (int64_t o = 0; o < outer; o++) {
            int64_t done = gather_runs(out, from + (size_t)(o * length) * bytes, length, index, i,
                                       count, bytes);
            if (done < count) {
                return stk_op_fail(r, i, STOKER_EINVAL, "index %lld is not in [0, %lld)",
                                   (long long)index_at(stk_col_at(index, i), index->dtype, done),
                                   (long long)length);
            }
            out += (size_t)count * bytes;
        }
    }
    return stk_keep_join(&r->out[0].keep, in->keep) ? STOKER_OK : stk_op_no_memory(r, err);
}

const struct stk_op stk_op_gather = {.name = "gather",
                                     .summary = "Selects slices along `axis` by index",
                                     .infer = gather_infer,
                                     .run = gather_run,
                                     .args = gather_args};

static enum stoker_status reverse_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    uint32_t axes;
    int rank = c->in[0].shape.rank;
    return rank < 0 ? STOKER_OK : stk_op_axes(c->op, &c->args[ARG_AXIS], rank, &axes, err);
}

static enum stoker_status reverse_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    int64_t step[STK_RANK_MAX], base = 0;
    uint32_t axes;
    enum stoker_status s = stk_op_axes(r->op, &r->args[ARG_AXIS], in->shape.rank, &axes, err);
    stk_op_steps(&in->shape, step);
    for (int i = 0; s == STOKER_OK && i < in->shape.rank; i++) {
        if (axes >> i & 1) {
            base += (in->shape.dim[i] - 1) * step[i];
            step[i] = -step[i];
        }
    }
    uint8_t *out = s == STOKER_OK ? stk_op_out(r, 0, in->dtype, &in->shape, err) : NULL;
    if (!out) {
        return s == STOKER_OK ? err->code : s;
    }
    size_t size = stk_dtype_bytes(in->dtype), bytes = (size_t)stk_shape_count(&in->shape) * size;
    for (int64_t i = 0; i < r->n; i++) {
        stk_op_move(out + (size_t)i * bytes, &in->shape, stk_col_at(in, i), base, step, size);
    }
    return stk_keep_join(&r->out[0].keep, in->keep) ? STOKER_OK : stk_op_no_memory(r, err);
}

const struct stk_op stk_op_reverse = {.name = "reverse",
                                      .summary = "Reverses along axes",
                                      .signature = "any -> same",
                                      .infer = reverse_infer,
                                      .run = reverse_run,
                                      .args = reverse_args};

// boolean_mask: the slices of the leading dimensions where the mask (known rank) is true.
static enum stoker_status mask_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stoker_status s = stk_op_want_inputs(c, 2, 2, err);
    if (s == STOKER_OK && (c->in[1].dtype != STK_DT_BOOL || c->in[1].shape.rank == 0)) {
        s = stk_err_set(err, STOKER_EINVAL, "boolean_mask: the mask must be bools, not a scalar");
    }
    if (s != STOKER_OK) {
        return s;
    }
    stk_spec_copy(&c->out[0], &c->in[0]);
    const struct stk_shape *in = &c->in[0].shape, *mask = &c->in[1].shape;
    c->out[0].shape.rank = STK_UNKNOWN;
    if (in->rank >= 0 && mask->rank >= 0) {
        struct stk_shape lead = *in;
        lead.rank = mask->rank;
        if (mask->rank > in->rank || !stk_shape_fits(&lead, mask)) {
            return stk_err_set(err, STOKER_EINVAL,
                               "boolean_mask: the mask's shape is not the value's");
        }
        c->out[0].shape.rank = in->rank - mask->rank + 1;
        c->out[0].shape.dim[0] = STK_UNKNOWN;
        for (int i = mask->rank; i < in->rank; i++) {
            c->out[0].shape.dim[i - mask->rank + 1] = in->dim[i];
        }
    }
    return STOKER_OK;
}

static enum stoker_status mask_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0], *mask = r->in[1];
    struct stk_shape lead = in->shape, shape = {.rank = in->shape.rank - mask->shape.rank + 1};
    lead.rank = mask->shape.rank;
    if (mask->shape.rank == 0 || mask->shape.rank > in->shape.rank ||
        !stk_shape_equal(&lead, &mask->shape)) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "the mask's shape is not the value's");
    }
    for (int i = mask->shape.rank; i < in->shape.rank; i++) {
        shape.dim[i - mask->shape.rank + 1] = in->shape.dim[i];
    }
    int64_t places = stk_shape_count(&mask->shape);
    size_t bytes = (size_t)stk_op_span(&in->shape, mask->shape.rank, in->shape.rank) *
                   stk_dtype_bytes(in->dtype);
    for (int64_t i = 0; i < r->n; i++) {
        const uint8_t *m = stk_col_at(mask, i), *from = stk_col_at(in, i);
        shape.dim[0] = 0;
        for (int64_t k = 0; k < places; k++) {
            shape.dim[0] += m[k] != 0;
        }
        uint8_t *out = stk_op_append(r, 0, in->dtype, &shape, err);
        if (!out) {
            return err->code;
        }
        for (int64_t k = 0; k < places; k++) {
            if (m[k]) {
                memcpy(out, from + (size_t)k * bytes, bytes);
                out += bytes;
            }
        }
    }
    return stk_keep_join(&r->out[0].keep, in->keep) ? STOKER_OK : stk_op_no_memory(r, err);
}

const struct stk_op stk_op_boolean_mask = {.name = "boolean_mask",
                                           .summary = "Selects slices where a mask is true",
                                           .infer = mask_infer,
                                           .run = mask_run};
