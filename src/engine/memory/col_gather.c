// SPDX-License-Identifier: Apache-2.0
// Makes columns from columns: picks, joins, folds (batches) and unfolds elements. Values are moved
// as bytes; string views and datasets stay alive through `keep`.
#include <string.h>

#include "base/assert.h"
#include "engine/memory/col.h"
#include "engine/memory/split.h"
#include "engine/memory/stream_copy.h"

struct picking {
    uint8_t *to;
    const struct stk_col *from;
    const int64_t *index;
};

static void pick_streamed(void *arg, int64_t first, int64_t n)
{
    const struct picking *p = arg;
    size_t size = stk_col_bytes_each(p->from);
    for (int64_t i = first; i < first + n; i++) {
        stk_copy_streamed(p->to + (size_t)i * size,
                          p->from->data + (size_t)p->index[i] * p->from->stride, size);
    }
}

// Copies of 1, 4, 8 and 16 bytes are common, and a call would cost more than the copy.
static void copy_each(uint8_t *to, struct stk_pool *pool, const struct stk_col *from,
                      const int64_t *index, int64_t n)
{
    size_t size = stk_col_bytes_each(from);
    const uint8_t *base = from->data;
    size_t stride = from->stride;
    if (stk_copy_is_streamed(size, size * (size_t)n)) {
        struct picking p = {to, from, index};
        stk_split_run(pool, size * (size_t)n, n, pick_streamed, &p);
        return;
    }
#define COPY(bytes)                                                                                \
    for (int64_t i = 0; i < n; i++) {                                                              \
        memcpy(to + (size_t)i * (bytes), base + (size_t)index[i] * stride, bytes);                 \
    }
    switch (size) {
    case 1:
        COPY(1) break;
    case 2:
        COPY(2) break;
    case 4:
        COPY(4) break;
    case 8:
        COPY(8) break;
    case 16:
        COPY(16) break;
    default:
        COPY(size) break;
    }
#undef COPY
}

static bool gather_varied(struct stk_col *to, struct stk_pool *pool, const struct stk_col *from,
                          const int64_t *index, int64_t n)
{
    int64_t values = 0;
    for (int64_t i = 0; i < n; i++) {
        values += from->offsets[index[i] + 1] - from->offsets[index[i]];
    }
    if (!stk_col_varied(to, pool, from->dtype, n, values)) {
        return false;
    }
    size_t each = stk_dtype_bytes(from->dtype);
    for (int64_t i = 0; i < n; i++) {
        void *at = stk_col_append(to, pool, &from->shapes[index[i]]);
        if (!at) {
            return false;
        }
        size_t count = (size_t)(from->offsets[index[i] + 1] - from->offsets[index[i]]);
        memcpy(at, stk_col_at(from, index[i]), count * each);
    }
    stk_col_settle(to);
    return true;
}

bool stk_col_gather(struct stk_col *to, struct stk_pool *pool, const struct stk_col *from,
                    const int64_t *index, int64_t n)
{
    STK_ASSERT(to != from && n >= 0);
    for (int64_t i = 0; STOKER_ASSERTIONS && i < n; i++) {
        STK_ASSERT(index[i] >= 0 && index[i] < from->n);
    }
    *to = (struct stk_col){0};
    bool ok;
    if (from->is_varied) {
        ok = gather_varied(to, pool, from, index, n);
    } else if (from->stride == 0) {
        stk_col_share(to, from);
        to->n = n;
        return true;
    } else {
        ok = stk_col_uniform(to, pool, from->dtype, &from->shape, n);
        if (ok) {
            copy_each(to->data, pool, from, index, n);
        }
    }
    ok = ok && stk_keep_join(&to->keep, from->keep);
    if (!ok) {
        stk_col_clear(to);
    }
    return ok;
}

// Copies a column's elements back to back to `at`. `total`: bytes of the whole copy it is part of.
static void copy_all(uint8_t *at, const struct stk_col *c, size_t total)
{
    size_t each = stk_dtype_bytes(c->dtype);
    if (c->is_varied) {
        memcpy(at, stk_col_at(c, 0), (size_t)(c->offsets[c->n] - c->offsets[0]) * each);
        return;
    }
    size_t size = stk_col_bytes_each(c);
    if (stk_col_is_dense(c)) {
        stk_copy_part(at, c->data, size * (size_t)c->n, total);
        return;
    }
    for (int64_t i = 0; i < c->n; i++) {
        memcpy(at + (size_t)i * size, c->data + (size_t)i * c->stride, size);
    }
}

static bool are_alike(const struct stk_col *const *parts, int count)
{
    for (int k = 0; k < count; k++) {
        if (parts[k]->is_varied || !stk_shape_equal(&parts[k]->shape, &parts[0]->shape)) {
            return false;
        }
    }
    return true;
}

struct joining {
    uint8_t *to;
    const struct stk_col *const *parts;
    size_t stride, total;
};

static void join_parts(void *arg, int64_t first, int64_t n)
{
    const struct joining *j = arg;
    uint8_t *at = j->to;
    for (int64_t k = 0; k < first + n; k++) {
        if (k >= first) {
            copy_all(at, j->parts[k], j->total);
        }
        at += j->stride * (size_t)j->parts[k]->n;
    }
}

static bool concat_uniform(struct stk_col *to, struct stk_pool *pool,
                           const struct stk_col *const *parts, int count, int64_t n)
{
    if (!stk_col_uniform(to, pool, parts[0]->dtype, &parts[0]->shape, n)) {
        return false;
    }
    struct joining j = {to->data, parts, to->stride, to->stride * (size_t)n};
    stk_split_run(pool, j.total, count, join_parts, &j);
    return true;
}

static int64_t values_of(const struct stk_col *c)
{
    return c->is_varied ? c->offsets[c->n] - c->offsets[0] : c->n * stk_shape_count(&c->shape);
}

static bool concat_varied(struct stk_col *to, struct stk_pool *pool,
                          const struct stk_col *const *parts, int count, int64_t n)
{
    int64_t values = 0;
    for (int k = 0; k < count; k++) {
        values += values_of(parts[k]);
    }
    if (!stk_col_varied(to, pool, parts[0]->dtype, n, values)) {
        return false;
    }
    size_t each = stk_dtype_bytes(to->dtype);
    for (int k = 0; k < count; k++) {
        for (int64_t i = 0; i < parts[k]->n; i++) {
            struct stk_shape shape = stk_col_shape(parts[k], i);
            void *at = stk_col_append(to, pool, &shape);
            if (!at) {
                return false;
            }
            memcpy(at, stk_col_at(parts[k], i), (size_t)stk_shape_count(&shape) * each);
        }
    }
    stk_col_settle(to);
    return true;
}

bool stk_col_concat(struct stk_col *to, struct stk_pool *pool, const struct stk_col *const *parts,
                    int count)
{
    STK_ASSERT(count > 0);
    if (count == 1) {
        stk_col_share(to, parts[0]);
        return true;
    }
    int64_t n = 0;
    for (int k = 0; k < count; k++) {
        STK_ASSERT(parts[k]->dtype == parts[0]->dtype);
        n += parts[k]->n;
    }
    *to = (struct stk_col){0};
    bool ok = are_alike(parts, count) ? concat_uniform(to, pool, parts, count, n)
                                      : concat_varied(to, pool, parts, count, n);
    for (int k = 0; ok && k < count; k++) {
        ok = stk_keep_join(&to->keep, parts[k]->keep);
    }
    if (!ok) {
        stk_col_clear(to);
    }
    return ok;
}

bool stk_col_fold(struct stk_col *to, struct stk_pool *pool, const struct stk_col *from,
                  int64_t group, int64_t *unequal)
{
    STK_ASSERT(group > 0 && from->n % group == 0);
    *unequal = -1;
    *to = (struct stk_col){0};
    struct stk_col uniform = {0};
    stk_col_share(&uniform, from);
    if (from->is_varied) {
        for (int64_t i = 0; i < from->n; i++) {
            int64_t first = i / group * group; // only elements within a group must have equal
                                               // shapes
            if (!stk_shape_equal(&from->shapes[i], &from->shapes[first])) {
                *unequal = i;
                stk_col_clear(&uniform);
                return false;
            }
        }
        // Groups may differ from each other: each becomes an element with its own shape.
        bool ok = stk_col_varied(to, pool, from->dtype, from->n / group, values_of(from));
        for (int64_t g = 0; ok && g < from->n / group; g++) {
            struct stk_shape shape = from->shapes[g * group];
            void *at = stk_shape_prepend(&shape, group) ? stk_col_append(to, pool, &shape) : NULL;
            size_t each = stk_dtype_bytes(from->dtype);
            ok = at != NULL;
            if (ok) {
                memcpy(at, stk_col_at(from, g * group), (size_t)stk_shape_count(&shape) * each);
            }
        }
        ok = ok && stk_keep_join(&to->keep, from->keep);
        stk_col_clear(&uniform);
        if (!ok) {
            stk_col_clear(to);
            return false;
        }
        stk_col_settle(to);
        return true;
    }
    if (!stk_col_is_dense(from)) {
        const struct stk_col *part = from;
        stk_col_clear(&uniform);
        if (!concat_uniform(&uniform, pool, &part, 1, from->n) ||
            !stk_keep_join(&uniform.keep, from->keep)) {
            stk_col_clear(&uniform);
            return false;
        }
    }
    if (!stk_shape_prepend(&uniform.shape, group) || stk_shape_count(&uniform.shape) < 0) {
        stk_col_clear(&uniform);
        return false;
    }
    *to = uniform;
    to->n = from->n / group;
    to->stride = stk_col_bytes_each(to);
    return true;
}

static bool unfold_varied(struct stk_col *to, struct stk_pool *pool, const struct stk_col *from)
{
    int64_t n = 0;
    for (int64_t i = 0; i < from->n; i++) {
        n += from->shapes[i].dim[0];
    }
    if (!stk_col_varied(to, pool, from->dtype, n, values_of(from))) {
        return false;
    }
    size_t each = stk_dtype_bytes(from->dtype);
    for (int64_t i = 0; i < from->n; i++) {
        struct stk_shape inner = from->shapes[i];
        int64_t count = inner.dim[0];
        inner.rank--;
        memmove(inner.dim, inner.dim + 1, (size_t)inner.rank * sizeof inner.dim[0]);
        size_t bytes = (size_t)stk_shape_count(&inner) * each;
        for (int64_t k = 0; k < count; k++) {
            void *at = stk_col_append(to, pool, &inner);
            if (!at) {
                return false;
            }
            memcpy(at, (uint8_t *)stk_col_at(from, i) + (size_t)k * bytes, bytes);
        }
    }
    stk_col_settle(to);
    return true;
}

bool stk_col_unfold(struct stk_col *to, struct stk_pool *pool, const struct stk_col *from)
{
    *to = (struct stk_col){0};
    bool ok = true;
    if (from->is_varied) {
        ok = unfold_varied(to, pool, from) && stk_keep_join(&to->keep, from->keep);
    } else if (stk_col_is_dense(from)) {
        stk_col_share(to, from);
    } else {
        const struct stk_col *part = from;
        ok = concat_uniform(to, pool, &part, 1, from->n) && stk_keep_join(&to->keep, from->keep);
    }
    if (!ok) {
        stk_col_clear(to);
        return false;
    }
    if (!from->is_varied) {
        to->n = from->n * to->shape.dim[0];
        to->shape.rank--;
        memmove(to->shape.dim, to->shape.dim + 1, (size_t)to->shape.rank * sizeof to->shape.dim[0]);
        to->stride = stk_col_bytes_each(to);
    }
    return true;
}
