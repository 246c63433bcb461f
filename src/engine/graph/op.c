// SPDX-License-Identifier: Apache-2.0
// The table of operations, including those of plug-ins, and helpers that `run` functions share.
#include "engine/graph/op.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/str.h"
#include "base/text.h"

#define ADDED_MAX 1024

const struct stk_op *const stk_op_all[] = {
#define X(name) &stk_op_##name,
#include "engine/ops.def"
#undef X
};
const int stk_op_count = (int)(sizeof stk_op_all / sizeof stk_op_all[0]);

// Plug-in operations. The count grows only after the operation is in place.
static const struct stk_op *added[ADDED_MAX];
static int added_count;
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

static const struct stk_op *find_added(const char *name)
{
    int n = __atomic_load_n(&added_count, __ATOMIC_ACQUIRE);
    for (int i = 0; i < n; i++) {
        if (strcmp(added[i]->name, name) == 0) {
            return added[i];
        }
    }
    return NULL;
}

const struct stk_op *stk_op_at(int i)
{
    int n = __atomic_load_n(&added_count, __ATOMIC_ACQUIRE);
    return i < 0                  ? NULL
           : i < stk_op_count     ? stk_op_all[i]
           : i - stk_op_count < n ? added[i - stk_op_count]
                                  : NULL;
}

int stk_op_register(const struct stk_op *op)
{
    int at = -1;
    STK_ASSERT(op->name && op->infer && op->run);
    pthread_mutex_lock(&adding);
    if (added_count < ADDED_MAX && !stk_op_find(op->name)) {
        at = added_count;
        added[at] = op;
        __atomic_store_n(&added_count, at + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&adding);
    return at < 0 ? -1 : stk_op_count + at;
}

const struct stk_op *stk_op_find(const char *name)
{
    for (int i = 0; i < stk_op_count; i++) {
        if (strcmp(stk_op_all[i]->name, name) == 0) {
            return stk_op_all[i];
        }
    }
    return find_added(name);
}

void *stk_op_out(struct stk_op_run *r, int k, enum stk_dtype dtype, const struct stk_shape *shape,
                 struct stoker_err *err)
{
    struct stk_col *c = &r->out[k];
    STK_ASSERT(k >= 0 && k < r->n_out && r->n > 0);
    STK_ASSERT(stk_shape_is_known(shape));
    if (c->is_bound && c->dtype == dtype && c->n >= r->n && stk_shape_equal(&c->shape, shape)) {
        return c->data;
    }
    stk_col_clear(c);
    if (!stk_col_uniform(c, r->pool, dtype, shape, r->n)) {
        int64_t count = stk_shape_count(shape);
        if (count < 0) {
            char text[STK_SHAPE_TEXT];
            (void)stk_err_set(err, STOKER_ELIMIT, "%s: a result of shape %s has too many values",
                              r->op->name, stk_shape_text(shape, text));
            return NULL;
        }
        (void)stk_op_no_memory_for(r, (size_t)count * stk_dtype_bytes(dtype) * (size_t)r->n, err);
        return NULL;
    }
    return c->data;
}

enum stoker_status stk_op_no_memory(const struct stk_op_run *r, struct stoker_err *err)
{
    return stk_op_no_memory_for(r, 0, err);
}

enum stoker_status stk_op_no_memory_for(const struct stk_op_run *r, size_t bytes,
                                        struct stoker_err *err)
{
    struct stk_pool_stats s = stk_pool_stats_of(r->pool);
    char wanted[64] = "";
    if (bytes > 0) {
        snprintf(wanted, sizeof wanted, ", which takes %zu bytes", bytes);
    }
    return stk_err_set(err, STOKER_ELIMIT,
                       "%s: out of memory for its result%s (%llu of %llu bytes of %s in use)",
                       r->op->name, wanted, (unsigned long long)s.in_use_bytes,
                       (unsigned long long)s.cap_bytes, s.cap_name);
}

enum stoker_status stk_op_pass(struct stk_op_run *r, int k, int j, const struct stk_shape *shape,
                               struct stoker_err *err)
{
    const struct stk_col *in = r->in[j];
    struct stk_col *c = &r->out[k];
    STK_ASSERT(j >= 0 && j < r->n_in && k >= 0 && k < r->n_out);
    STK_ASSERT(!shape || in->is_varied || stk_shape_count(shape) == stk_shape_count(&in->shape));
    (void)err;
    stk_col_clear(c);
    stk_col_share(c, in);
    c->n = r->n;
    if (shape) {
        c->shape = *shape;
    }
    return STOKER_OK;
}

enum stoker_status stk_op_fail(struct stk_op_run *r, int64_t i, enum stoker_status code,
                               const char *fmt, ...)
{
    STK_ASSERT(i >= 0 && i < r->n && code != STOKER_OK);
    if (i >= r->failed) {
        return STOKER_OK;
    }
    char text[400];
    va_list args;
    va_start(args, fmt);
    stk_text_vprintf(text, sizeof text, fmt, args);
    va_end(args);
    r->failed = i;
    stk_err_init(r->err);
    (void)stk_err_set(r->err, code, "%s: %s", r->op->name, text);
    return STOKER_OK;
}

uint64_t stk_random_bits(uint64_t seed, uint64_t salt, int64_t index, uint64_t draw)
{
    // Two rounds of a 64-bit mixer over distinct counters: statistically good, not cryptographic.
    uint64_t x = seed ^ (salt * 0x9e3779b97f4a7c15u);
    x = stk_hash_u64(x + (uint64_t)index * 0xd1342543de82ef95u);
    return stk_hash_u64(x ^ (draw * 0xda942042e4dd58b5u + 0x632be59bd9b4e019u));
}
