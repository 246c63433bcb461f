// SPDX-License-Identifier: Apache-2.0
// unique: a vector's distinct values, in order of first occurrence; for each value its index among
// them; and how often each occurs. Uses a hash table of indices. As in TensorFlow, 0 equals -0, and
// NaN equals nothing.
#include <string.h>

#include "base/farmhash.h"
#include "engine/ops/op_util.h"

enum { ARG_OUT_IDX };
static const struct stk_arg_row unique_args[] = {
    [ARG_OUT_IDX] = STK_ARG("out_idx", DTYPE, "of the numbers and counts", .fallback = STK_DT_I32,
                            .choices = STK_OP_PLACES),
    {0}};

static enum stoker_status unique_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    enum stoker_status s = stk_op_want_inputs(c, 1, 1, err);
    const struct stk_spec *in = &c->in[0];
    int64_t places = c->args[ARG_OUT_IDX].i;
    if (s != STOKER_OK) {
        return s;
    }
    if ((in->shape.rank >= 0 && in->shape.rank != 1) || in->dtype == STK_DT_DATASET) {
        char text[STK_SHAPE_TEXT];
        return stk_err_set(err, STOKER_EINVAL, "unique: takes a vector, not %s%s",
                           stk_dtype_name(in->dtype), stk_shape_text(&in->shape, text));
    }
    struct stk_shape some = {1, {STK_UNKNOWN}};
    c->n_out = 3;
    c->out[0] = (struct stk_spec){.dtype = in->dtype, .shape = some};
    c->out[1] = (struct stk_spec){.dtype = (enum stk_dtype)places, .shape = some};
    c->out[2] = (struct stk_spec){.dtype = (enum stk_dtype)places, .shape = some};
    if (in->shape.rank == 1) {
        c->out[1].shape = in->shape;
    }
    return STOKER_OK;
}

// A number's bits, with a single zero; *is_nan: it equals nothing.
static uint64_t bits_of(const void *p, enum stk_dtype t, bool *is_nan)
{
    uint64_t v = 0;
    size_t size = stk_dtype_bytes(t);
    memcpy(&v, p, size);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v >>= 64 - 8 * size;
#endif
    if (!stk_dtype_is_float(t)) {
        return v;
    }
    uint64_t infinity = t == STK_DT_F64    ? 0x7ff0000000000000u
                        : t == STK_DT_F32  ? 0x7f800000u
                        : t == STK_DT_BF16 ? 0x7f80u
                                           : 0x7c00u;
    uint64_t amount = v & ((1ull << (8 * size - 1)) - 1);
    *is_nan = amount > infinity;
    return amount == 0 ? 0 : v;
}

struct finder {
    enum stk_dtype dtype;
    const uint8_t *in;
    int64_t n, found;
    uint64_t mask;
    int64_t *slots;  // index among the distinct values, or -1
    int64_t *first;  // for each distinct value: its first position
    int64_t *number; // for each value: its index among the distinct ones
    int64_t *count;  // occurrences of each distinct value
};

static uint64_t hash_at(const struct finder *f, int64_t i, bool *is_nan)
{
    if (f->dtype == STK_DT_STRING) {
        struct stk_bytes s = ((const struct stk_bytes *)f->in)[i];
        return stk_farmhash64(s.data, s.size);
    }
    uint64_t v = bits_of(f->in + (size_t)i * stk_dtype_bytes(f->dtype), f->dtype, is_nan);
    v = (v ^ v >> 32) * 0x9e3779b97f4a7c15u;
    return v ^ v >> 29;
}

static bool is_same(const struct finder *f, int64_t i, int64_t j)
{
    if (f->dtype == STK_DT_STRING) {
        struct stk_bytes a = ((const struct stk_bytes *)f->in)[i],
                         b = ((const struct stk_bytes *)f->in)[j];
        return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
    }
    bool ignored;
    size_t size = stk_dtype_bytes(f->dtype);
    return bits_of(f->in + (size_t)i * size, f->dtype, &ignored) ==
           bits_of(f->in + (size_t)j * size, f->dtype, &ignored);
}

static void find(struct finder *f)
{
    f->found = 0;
    memset(f->slots, 0xff, (size_t)(f->mask + 1) * sizeof f->slots[0]);
    for (int64_t i = 0; i < f->n; i++) {
        bool is_nan = false;
        uint64_t at = hash_at(f, i, &is_nan) & f->mask;
        while (!is_nan && f->slots[at] >= 0 && !is_same(f, f->first[f->slots[at]], i)) {
            at = (at + 1) & f->mask;
        }
        int64_t k = is_nan ? -1 : f->slots[at];
        if (k < 0) {
            k = f->found++;
            f->first[k] = i;
            f->count[k] = 0;
            if (!is_nan) {
                f->slots[at] = k;
            }
        }
        f->number[i] = k;
        f->count[k]++;
    }
}

static void put_places(void *out, enum stk_dtype t, const int64_t *places, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        stk_op_put_place(out, t, i, places[i]);
    }
}

static enum stoker_status give(struct stk_op_run *r, const struct finder *f, struct stoker_err *err)
{
    struct stk_shape some = {1, {f->found}}, all = {1, {f->n}};
    size_t size = stk_dtype_bytes(f->dtype);
    uint8_t *values = stk_op_append(r, 0, f->dtype, &some, err);
    if (!values) {
        return err->code;
    }
    for (int64_t k = 0; k < f->found; k++) {
        memcpy(values + (size_t)k * size, f->in + (size_t)f->first[k] * size, size);
    }
    void *numbers = stk_op_append(r, 1, r->spec[1].dtype, &all, err);
    if (!numbers) {
        return err->code;
    }
    put_places(numbers, r->spec[1].dtype, f->number, f->n);
    void *counts = stk_op_append(r, 2, r->spec[2].dtype, &some, err);
    if (!counts) {
        return err->code;
    }
    put_places(counts, r->spec[2].dtype, f->count, f->found);
    return STOKER_OK;
}

static enum stoker_status unique_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct stk_col *in = r->in[0];
    struct finder f = {.dtype = in->dtype};
    if (in->shape.rank != 1) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "takes a vector, not %d dimensions",
                           in->shape.rank);
    }
    f.n = in->shape.dim[0];
    for (f.mask = 15; f.mask < 2 * (uint64_t)f.n; f.mask = 2 * f.mask + 1) {
    }
    size_t capacity = (size_t)(f.mask + 1) + 3 * (size_t)f.n;
    struct stk_buf *buf = stk_buf_get(r->pool, capacity * sizeof(int64_t));
    if (!buf) {
        return stk_op_no_memory_for(r, capacity * sizeof(int64_t), err);
    }
    f.slots = (int64_t *)buf->data;
    f.first = f.slots + f.mask + 1;
    f.number = f.first + f.n;
    f.count = f.number + f.n;
    enum stoker_status s = STOKER_OK;
    for (int64_t i = 0; s == STOKER_OK && i < r->n; i++) {
        f.in = stk_col_at(in, i);
        find(&f);
        s = give(r, &f, err);
    }
    stk_buf_drop(buf);
    return s == STOKER_OK && !stk_keep_join(&r->out[0].keep, in->keep) ? stk_op_no_memory(r, err)
                                                                       : s;
}

const struct stk_op stk_op_unique = {.name = "unique",
                                     .summary =
                                         "Unique values, each value's index among them, and counts",
                                     .cost_ns = 10,
                                     .infer = unique_infer,
                                     .run = unique_run,
                                     .args = unique_args};
