// SPDX-License-Identifier: Apache-2.0
// Strings: hash buckets, and joining along axes.
#include <string.h>

#include "base/farmhash.h"
#include "base/texthash.h"
#include "engine/ops/op_util.h"

// The argument rows of each operation start at 0.
enum { ARG_NUM_BUCKETS, ARG_KEY };
enum { ARG_AXIS, ARG_KEEPDIMS, ARG_SEPARATOR };
static const struct stk_arg_row bucket_args[] = {
    [ARG_NUM_BUCKETS] = STK_ARG("num_buckets", INT, "number of buckets", .is_required = true), {0}};
static const struct stk_arg_row keyed_args[] = {
    [ARG_NUM_BUCKETS] = STK_ARG("num_buckets", INT, "number of buckets", .is_required = true),
    [ARG_KEY] = STK_ARG("key", INTS, "two numbers", .is_required = true),
    {0}};
static const struct stk_arg_row join_args[] = {
    [ARG_AXIS] = STK_ARG("axis", INTS, "the axes to join, in order; default: all, last first",
                         .is_open = true),
    [ARG_KEEPDIMS] = STK_ARG("keepdims", BOOL, "keep the axes with length 1"),
    [ARG_SEPARATOR] = STK_ARG("separator", TEXT, "separator"),
    {0}};

static struct stk_bytes text_at(const struct stk_col *c, int64_t each, int64_t k)
{
    return ((const struct stk_bytes *)stk_col_at(c, k / each))[k % each];
}

enum { FAST, STRONG, PLAIN };
#define PLAIN_SEED 0xdecafcaffeu // TensorFlow's

static enum stoker_status hash_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    if (c->args[ARG_NUM_BUCKETS].i < 1) {
        return stk_err_set(err, STOKER_EINVAL, "%s: num_buckets is at least 1", c->op->name);
    }
    const struct stk_attr *key = c->op->arg == STRONG ? c->args[ARG_KEY].attr : NULL;
    bool has_key = key && key->kind == STK_ATTR_INTS && key->count == 2;
    return has_key || c->op->arg != STRONG
               ? STOKER_OK
               : stk_err_set(err, STOKER_EINVAL, "%s: key is two integers", c->op->name);
}

static uint64_t hash_of(const struct stk_op_run *r, struct stk_bytes s)
{
    if (r->op->arg == FAST) {
        return stk_farmhash64(s.data, s.size);
    }
    if (r->op->arg == PLAIN) {
        return stk_murmur64(s.data, s.size, PLAIN_SEED);
    }
    const int64_t *key = r->args[ARG_KEY].attr->ints;
    return stk_siphash(s.data, s.size, (uint64_t[2]){(uint64_t)key[0], (uint64_t)key[1]});
}

static enum stoker_status hash_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    int64_t *out = stk_op_out(r, 0, STK_DT_I64, &in->shape, err);
    int64_t each = stk_shape_count(&in->shape);
    uint64_t buckets = (uint64_t)r->args[ARG_NUM_BUCKETS].i;
    for (int64_t k = 0; out && k < r->n * each; k++) {
        out[k] = (int64_t)(hash_of(r, text_at(in, each, k)) % buckets);
    }
    return out ? STOKER_OK : err->code;
}

#define HASH_OP(id, which, rows, about)                                                            \
    const struct stk_op stk_op_##id = {.name = #id,                                                \
                                       .summary = about,                                           \
                                       .is_elementwise = true,                                     \
                                       .cost_ns = 20,                                              \
                                       .signature = "string -> int64",                             \
                                       .infer = hash_infer,                                        \
                                       .run = hash_run,                                            \
                                       .args = rows,                                               \
                                       .arg = which};
HASH_OP(string_to_hash_bucket_fast, FAST, bucket_args,
        "FarmHash of each string modulo `num_buckets`")
HASH_OP(string_to_hash_bucket_strong, STRONG, keyed_args,
        "SipHash of each string, by `key`, modulo `num_buckets`")
HASH_OP(string_to_hash_bucket, PLAIN, bucket_args, "MurmurHash of each string modulo `num_buckets`")

// The axes in the given order, the first joined first; if absent, the last ones first.
static enum stoker_status join_axes(const struct stk_op *op, const struct stk_arg_value *args,
                                    int rank, int axes[STK_RANK_MAX], int *count,
                                    struct stoker_err *err)
{
    const struct stk_attr *t = args[ARG_AXIS].attr;
    int64_t n = !t ? rank : t->kind == STK_ATTR_INTS ? t->count : 1;
    uint32_t seen = 0;
    *count = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t axis = !t ? rank - 1 - i : t->kind == STK_ATTR_INTS ? t->ints[i] : t->i;
        int a;
        if (!stk_op_axis(axis, rank, &a) || seen >> a & 1) {
            return stk_err_set(err, STOKER_EINVAL, "%s: axis %lld of %d dimensions, or twice",
                               op->name, (long long)axis, rank);
        }
        seen |= 1u << a;
        axes[(*count)++] = a;
    }
    return STOKER_OK;
}

static struct stk_shape joined_shape(const struct stk_shape *in, const int *axes, int count,
                                     bool keeps)
{
    struct stk_shape out = {0};
    for (int d = 0; d < in->rank; d++) {
        bool goes = false;
        for (int i = 0; i < count; i++) {
            goes = goes || axes[i] == d;
        }
        if (!goes || keeps) {
            out.dim[out.rank++] = goes ? 1 : in->dim[d];
        }
    }
    return out;
}

static enum stoker_status join_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    int axes[STK_RANK_MAX], count, rank = c->in[0].shape.rank;
    enum stoker_status s = STOKER_OK;
    c->out[0] = (struct stk_spec){.dtype = STK_DT_STRING, .shape = {.rank = STK_UNKNOWN}};
    if (rank >= 0 && (s = join_axes(c->op, c->args, rank, axes, &count, err)) == STOKER_OK) {
        c->out[0].shape = joined_shape(&c->in[0].shape, axes, count, c->args[ARG_KEEPDIMS].i != 0);
    }
    return s;
}

struct join {
    int rank, count;
    int axes[STK_RANK_MAX];
    int64_t steps[STK_RANK_MAX]; // values per step of each dimension
    const struct stk_shape *shape;
    const char *separator;
    size_t separator_size;
};

// Advances along the joined axes, the first of them fastest. False: that was the last.
static bool step_on(const struct join *j, int64_t at[STK_RANK_MAX], int64_t *offset)
{
    for (int i = 0; i < j->count; i++) {
        int d = j->axes[i];
        *offset += j->steps[d];
        if (++at[i] < j->shape->dim[d]) {
            return true;
        }
        *offset -= j->steps[d] * j->shape->dim[d];
        at[i] = 0;
    }
    return false;
}

static bool join_one(struct stk_op_run *r, const struct join *j, const struct stk_bytes *from,
                     struct stk_col_capacity *capacity, struct stk_bytes *out)
{
    int64_t at[STK_RANK_MAX] = {0}, offset = 0;
    size_t size = 0;
    for (int i = 0; i < j->count; i++) {
        if (j->shape->dim[j->axes[i]] == 0) {
            *out = (struct stk_bytes){0};
            return true;
        }
    }
    do {
        size += from[offset].size + j->separator_size;
    } while (step_on(j, at, &offset));
    size -= j->separator_size;
    uint8_t *to = stk_col_capacity_for(&r->out[0], r->pool, capacity, size);
    if (!to) {
        return false;
    }
    *out = (struct stk_bytes){to, size};
    for (bool more = true; more;) {
        struct stk_bytes s = from[offset];
        if (s.size) {
            memcpy(to, s.data, s.size);
        }
        to += s.size;
        more = step_on(j, at, &offset);
        if (more && j->separator_size) {
            memcpy(to, j->separator, j->separator_size);
            to += j->separator_size;
        }
    }
    return true;
}

static enum stoker_status join_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    const struct stk_attr *separator = r->args[ARG_SEPARATOR].attr;
    struct join j = {.rank = in->shape.rank, .shape = &in->shape};
    struct stk_col_capacity capacity = {0};
    enum stoker_status s = join_axes(r->op, r->args, j.rank, j.axes, &j.count, err);
    if (s != STOKER_OK) {
        return s;
    }
    if (separator && separator->kind == STK_ATTR_TEXT) {
        j.separator = separator->text;
        j.separator_size = (size_t)separator->count;
    }
    struct stk_shape shape =
        joined_shape(&in->shape, j.axes, j.count, r->args[ARG_KEEPDIMS].i != 0);
    struct stk_bytes *out = stk_op_out(r, 0, STK_DT_STRING, &shape, err);
    int64_t step = 1, count = stk_shape_count(&shape);
    for (int d = j.rank - 1; d >= 0; d--) {
        j.steps[d] = step;
        step *= in->shape.dim[d];
    }
    struct stk_shape ones = joined_shape(&in->shape, j.axes, j.count, true);
    for (int64_t k = 0; out && k < r->n * count; k++) {
        const struct stk_bytes *from = stk_col_at(in, k / count);
        int64_t rest = k % count, offset = 0;
        for (int d = j.rank - 1; d >= 0; d--) {
            offset += rest % ones.dim[d] * j.steps[d];
            rest /= ones.dim[d];
        }
        if (!join_one(r, &j, from + offset, &capacity, &out[k])) {
            return stk_op_no_memory(r, err);
        }
    }
    return out ? STOKER_OK : err->code;
}

const struct stk_op stk_op_string_reduce_join = {.name = "string_reduce_join",
                                                 .summary = "Joins strings along axes",
                                                 .cost_ns = 50,
                                                 .signature = "string",
                                                 .infer = join_infer,
                                                 .run = join_run,
                                                 .args = join_args};
