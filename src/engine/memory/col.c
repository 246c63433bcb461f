// SPDX-License-Identifier: Apache-2.0
// Columns: sharing, slicing and building them.
#include "engine/memory/col.h"

#include <string.h>

#include "base/assert.h"

#define ROOM_BYTES ((size_t)16 << 10) // bytes allocated at once for strings

STK_HOT void stk_col_clear(struct stk_col *c)
{
    stk_buf_drop(c->data_buf);
    stk_buf_drop(c->meta_buf);
    stk_keep_drop(c->keep);
    *c = (struct stk_col){0};
}

STK_HOT void stk_col_share(struct stk_col *to, const struct stk_col *from)
{
    STK_ASSERT(to != from);
    *to = *from;
    to->is_bound = false;
    stk_buf_hold(to->data_buf);
    stk_buf_hold(to->meta_buf);
    stk_keep_hold(to->keep);
}

STK_HOT void stk_col_slice(struct stk_col *to, const struct stk_col *from, int64_t first, int64_t n)
{
    STK_ASSERT(first >= 0 && n >= 0 && first <= from->n - n);
    stk_col_share(to, from);
    to->n = n;
    if (to->is_varied) {
        to->shapes += first;
        to->offsets += first;
    } else {
        to->data += (size_t)first * to->stride;
    }
}

static bool mul_size(size_t a, size_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

bool stk_col_uniform(struct stk_col *c, struct stk_pool *pool, enum stk_dtype dtype,
                     const struct stk_shape *shape, int64_t n)
{
    int64_t values = stk_shape_count(shape);
    size_t bytes;
    *c = (struct stk_col){.dtype = dtype, .n = n, .shape = *shape};
    if (values < 0 || n < 0 || !mul_size((size_t)values, stk_dtype_bytes(dtype), &c->stride) ||
        !mul_size(c->stride, (size_t)n, &bytes)) {
        return false;
    }
    c->data_buf = stk_buf_get(pool, bytes);
    if (!c->data_buf) {
        return false;
    }
    c->data = c->data_buf->data;
    if (dtype == STK_DT_STRING || dtype == STK_DT_DATASET) {
        memset(c->data, 0, bytes);
    }
    return true;
}

static bool grow_meta(struct stk_col *c, struct stk_pool *pool, int64_t n_max)
{
    size_t each = sizeof(struct stk_shape) + sizeof(int64_t), bytes;
    STK_ASSERT(n_max > c->n && n_max > 0);
    if (!mul_size((size_t)n_max, each, &bytes)) {
        return false;
    }
    struct stk_buf *b = stk_buf_get(pool, bytes + sizeof(int64_t));
    if (!b) {
        return false;
    }
    int64_t *offsets = (int64_t *)b->data;
    struct stk_shape *shapes = (struct stk_shape *)(offsets + n_max + 1);
    if (c->meta_buf) {
        memcpy(offsets, c->offsets, (size_t)(c->n + 1) * sizeof offsets[0]);
        memcpy(shapes, c->shapes, (size_t)c->n * sizeof shapes[0]);
    } else {
        offsets[0] = 0;
    }
    stk_buf_drop(c->meta_buf);
    c->meta_buf = b;
    c->offsets = offsets;
    c->shapes = shapes;
    c->n_max = n_max;
    return true;
}

static bool grow_data(struct stk_col *c, struct stk_pool *pool, int64_t value_max)
{
    size_t each = stk_dtype_bytes(c->dtype), bytes;
    if (!mul_size((size_t)value_max, each, &bytes)) {
        return false;
    }
    struct stk_buf *b = stk_buf_get(pool, bytes);
    if (!b) {
        return false;
    }
    if (c->data_buf) {
        STK_ASSERT(c->offsets[c->n] <= value_max);
        memcpy(b->data, c->data, (size_t)c->offsets[c->n] * each);
    }
    stk_buf_drop(c->data_buf);
    c->data_buf = b;
    c->data = b->data;
    c->value_max = (int64_t)(b->size / each);
    return true;
}

bool stk_col_varied(struct stk_col *c, struct stk_pool *pool, enum stk_dtype dtype, int64_t n,
                    int64_t values)
{
    *c = (struct stk_col){.dtype = dtype, .is_varied = true};
    return grow_meta(c, pool, n > 0 ? n : 1) && grow_data(c, pool, values > 0 ? values : 1);
}

void *stk_col_append(struct stk_col *c, struct stk_pool *pool, const struct stk_shape *shape)
{
    int64_t count = stk_shape_count(shape);
    STK_ASSERT(c->is_varied && c->n <= c->n_max && stk_buf_is_sole(c->meta_buf));
    if (count < 0 || (c->n == c->n_max && !grow_meta(c, pool, 2 * c->n_max))) {
        return NULL;
    }
    int64_t used = c->offsets[c->n], need = used + count;
    if (need > c->value_max && !grow_data(c, pool, need > 2 * used ? need : 2 * used)) {
        return NULL;
    }
    size_t each = stk_dtype_bytes(c->dtype);
    uint8_t *at = c->data + (size_t)used * each;
    STK_ASSERT(need >= used && need <= c->value_max);
    c->shapes[c->n] = *shape;
    c->offsets[++c->n] = need;
    if (c->dtype == STK_DT_STRING || c->dtype == STK_DT_DATASET) {
        memset(at, 0, (size_t)count * each);
    }
    return at;
}

void stk_col_settle(struct stk_col *c)
{
    if (!c->is_varied || c->n == 0) {
        return;
    }
    for (int64_t i = 1; i < c->n; i++) {
        if (!stk_shape_equal(&c->shapes[i], &c->shapes[0])) {
            return;
        }
    }
    c->shape = c->shapes[0];
    c->data = stk_col_at(c, 0);
    c->is_varied = false;
    c->stride = stk_col_bytes_each(c);
    c->shapes = NULL;
    c->offsets = NULL;
    stk_buf_drop(c->meta_buf);
    c->meta_buf = NULL;
}

void stk_col_share_first(struct stk_col *to, const struct stk_col *from)
{
    struct stk_shape shape = stk_col_shape(from, 0);
    stk_col_share(to, from);
    to->data = stk_col_at(from, 0);
    to->shape = shape;
    to->n = 1;
    to->is_varied = false;
    to->stride = stk_col_bytes_each(to);
    to->shapes = NULL;
    to->offsets = NULL;
    stk_buf_drop(to->meta_buf);
    to->meta_buf = NULL;
}

bool stk_col_own_bytes(struct stk_col *c, struct stk_pool *pool, const void *data, size_t size,
                       struct stk_bytes *out)
{
    struct stk_buf *b = stk_buf_get(pool, size);
    if (!b) {
        return false;
    }
    if (size) {
        memcpy(b->data, data, size);
    }
    *out = (struct stk_bytes){b->data, size};
    bool ok = stk_keep_add(&c->keep, b);
    stk_buf_drop(b);
    return ok;
}

uint8_t *stk_col_capacity_for(struct stk_col *c, struct stk_pool *pool,
                              struct stk_col_capacity *capacity, size_t size)
{
    if (!capacity->at || size > capacity->left) {
        struct stk_buf *b = stk_buf_get(pool, size > ROOM_BYTES ? size : ROOM_BYTES);
        if (!b || !stk_keep_add(&c->keep, b)) {
            stk_buf_drop(b);
            return NULL;
        }
        *capacity = (struct stk_col_capacity){b->data, b->size};
        stk_buf_drop(b); // the column holds it
    }
    STK_ASSERT(size <= capacity->left);
    uint8_t *at = capacity->at;
    capacity->at += size;
    capacity->left -= size;
    return at;
}

static int64_t value_count(const struct stk_col *c)
{
    return c->is_varied ? c->offsets[c->n] - c->offsets[0]
           : c->stride  ? c->n * stk_shape_count(&c->shape)
                        : stk_shape_count(&c->shape);
}

bool stk_col_own(struct stk_col *c, struct stk_pool *pool)
{
    STK_ASSERT(c->dtype == STK_DT_STRING);
    int64_t count = value_count(c);
    STK_ASSERT(count >= 0);
    const struct stk_bytes *from = stk_col_at(c, 0);
    size_t total = 0;
    for (int64_t i = 0; i < count; i++) {
        total += from[i].size;
    }
    struct stk_col own = *c;
    own.keep = NULL;
    own.is_bound = false;
    struct stk_buf *bytes = stk_buf_get(pool, total);
    own.data_buf = stk_buf_get(pool, (size_t)count * sizeof from[0]);
    bool ok = bytes && own.data_buf && stk_keep_add(&own.keep, bytes);
    stk_buf_drop(bytes);
    if (!ok) {
        stk_buf_drop(own.data_buf);
        stk_keep_drop(own.keep);
        return false;
    }
    struct stk_bytes *to = (struct stk_bytes *)own.data_buf->data;
    uint8_t *at = bytes->data;
    for (int64_t i = 0; i < count; i++) {
        to[i] = (struct stk_bytes){at, from[i].size};
        if (from[i].size) {
            memcpy(at, from[i].data, from[i].size);
        }
        at += from[i].size;
    }
    // A slice's offsets start above 0, but its values were copied to the buffer's start.
    own.data = own.data_buf->data - (c->is_varied ? (size_t)c->offsets[0] * sizeof from[0] : 0);
    stk_buf_drop(c->data_buf);
    stk_keep_drop(c->keep);
    *c = own;
    return true;
}
