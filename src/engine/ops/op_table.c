// SPDX-License-Identifier: Apache-2.0
// table_find: the index of each value among the keys (a constant vector), or -1; of equal keys the
// last counts. Lookup tables consist of it and gather. Uses a hash table of indices, built once for
// all blocks.
#include <string.h>

#include "base/alloc.h"
#include "base/farmhash.h"
#include "engine/ops/op_util.h"

struct table {
    struct stk_col keys; // keeps the constant's memory alive
    uint64_t mask;
    int64_t slots[]; // indices of keys, or -1
};

// Keys are integers or strings, not floats.
static bool is_key_type(enum stk_dtype t)
{
    return stk_dtype_is_int(t) || t == STK_DT_STRING;
}

static uint64_t hash_of(enum stk_dtype t, const void *values, int64_t i)
{
    if (t == STK_DT_STRING) {
        struct stk_bytes s = ((const struct stk_bytes *)values)[i];
        return stk_farmhash64(s.data, s.size);
    }
    uint64_t v = 0;
    size_t size = stk_dtype_bytes(t);
    memcpy(&v, (const uint8_t *)values + (size_t)i * size, size);
    v = (v ^ v >> 32) * 0x9e3779b97f4a7c15u;
    return v ^ v >> 29;
}

static bool is_same(enum stk_dtype t, const void *a, int64_t i, const void *b, int64_t j)
{
    if (t == STK_DT_STRING) {
        struct stk_bytes x = ((const struct stk_bytes *)a)[i], y = ((const struct stk_bytes *)b)[j];
        return x.size == y.size && (x.size == 0 || memcmp(x.data, y.data, x.size) == 0);
    }
    size_t size = stk_dtype_bytes(t);
    return memcmp((const uint8_t *)a + (size_t)i * size, (const uint8_t *)b + (size_t)j * size,
                  size) == 0;
}

static enum stoker_status table_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    if (c->in[0].dtype != c->in[1].dtype || !is_key_type(c->in[0].dtype)) {
        return stk_err_set(err, STOKER_EINVAL,
                           "table_find: %s among keys of %s; whole numbers or strings of one type "
                           "are found",
                           stk_dtype_name(c->in[0].dtype), stk_dtype_name(c->in[1].dtype));
    }
    if (!c->constant[1] || c->in[1].shape.rank != 1) {
        return stk_err_set(err, STOKER_EINVAL, "table_find: the keys are a constant vector");
    }
    c->out[0].dtype = STK_DT_I64;
    c->out[0].shape = c->in[0].shape;
    return STOKER_OK;
}

static enum stoker_status table_prepare(const struct stk_op_infer *c, void **out,
                                        struct stoker_err *err)
{
    const struct stk_col *keys = c->constant[1];
    int64_t n = keys->shape.dim[0];
    uint64_t mask = 15;
    while (mask < 2 * (uint64_t)n) {
        mask = 2 * mask + 1;
    }
    struct table *t = stk_alloc_zero(1, sizeof *t + (size_t)(mask + 1) * sizeof t->slots[0]);
    if (!t) {
        return stk_err_nomem(err);
    }
    *out = t;
    stk_col_share(&t->keys, keys);
    t->mask = mask;
    memset(t->slots, 0xff, (size_t)(mask + 1) * sizeof t->slots[0]);
    const void *values = stk_col_at(keys, 0);
    for (int64_t i = 0; i < n; i++) {
        uint64_t at = hash_of(keys->dtype, values, i) & mask;
        while (t->slots[at] >= 0 && !is_same(keys->dtype, values, t->slots[at], values, i)) {
            at = (at + 1) & mask;
        }
        t->slots[at] = i;
    }
    return STOKER_OK;
}

static void table_unprepare(void *prepared)
{
    struct table *t = prepared;
    stk_col_clear(&t->keys);
    stk_free(t);
}

static enum stoker_status table_run(struct stk_op_run *r, struct stoker_err *err)
{
    const struct table *t = r->prepared;
    const struct stk_col *in = r->in[0];
    int64_t *out = stk_op_out(r, 0, STK_DT_I64, &in->shape, err);
    int64_t each = stk_shape_count(&in->shape);
    if (!out) {
        return err->code;
    }
    const void *keys = stk_col_at(&t->keys, 0);
    for (int64_t i = 0; i < r->n; i++) {
        const void *values = stk_col_at(in, i);
        for (int64_t k = 0; k < each; k++, out++) {
            uint64_t at = hash_of(in->dtype, values, k) & t->mask;
            while (t->slots[at] >= 0 && !is_same(in->dtype, keys, t->slots[at], values, k)) {
                at = (at + 1) & t->mask;
            }
            *out = t->slots[at];
        }
    }
    return STOKER_OK;
}

const struct stk_op stk_op_table_find = {.name = "table_find",
                                         .summary = "The index of each value among keys, or -1",
                                         .cost_ns = 10,
                                         .signature = "any, any",
                                         .infer = table_infer,
                                         .prepare = table_prepare,
                                         .unprepare = table_unprepare,
                                         .run = table_run};
