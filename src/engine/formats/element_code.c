// SPDX-License-Identifier: Apache-2.0
// Encodes elements as bytes and decodes them; input isn't trusted (element_code.h).
#include "engine/formats/element_code.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

struct component { // the layout in the file
    int64_t dtype, rank, dim[STK_RANK_MAX];
};
_Static_assert(STK_ELEMENT_SPECS_BYTES(1) == 8 + sizeof(struct component), "no gaps");

static bool add(struct stk_element_bytes *to, const void *bytes, size_t n)
{
    STK_ASSERT(to->size <= to->capacity);
    if (n > to->capacity - to->size) {
        size_t capacity = to->size + n + to->capacity;
        uint8_t *data = stk_realloc_array(to->data, capacity, 1);
        if (!data) {
            return false;
        }
        to->data = data;
        to->capacity = capacity;
    }
    if (n) {
        memcpy(to->data + to->size, bytes, n);
    }
    to->size += n;
    return true;
}

static bool pad(struct stk_element_bytes *to)
{
    static const uint8_t zeros[8];
    return add(to, zeros, (8 - to->size % 8) % 8);
}

static bool add_component(struct stk_element_bytes *to, const struct stk_spec *spec,
                          const struct stk_col *c, int64_t i)
{
    struct stk_shape shape = stk_col_shape(c, i);
    int64_t count = stk_shape_count(&shape), rank = shape.rank;
    const void *p = stk_col_at(c, i);
    bool ok = spec->shape.rank >= 0 || add(to, &rank, sizeof rank);
    if (ok && !stk_shape_is_known(&spec->shape)) {
        ok = add(to, shape.dim, (size_t)rank * sizeof shape.dim[0]);
    }
    if (c->dtype != STK_DT_STRING) {
        return ok && add(to, p, (size_t)count * stk_dtype_bytes(c->dtype)) && pad(to);
    }
    const struct stk_bytes *s = p;
    for (int64_t k = 0; ok && k < count; k++) {
        uint64_t size = s[k].size;
        ok = add(to, &size, sizeof size) && add(to, s[k].data, s[k].size) && pad(to);
    }
    return ok;
}

bool stk_element_encode(struct stk_element_bytes *to, const struct stk_specs *specs,
                        const struct stk_block *block, int64_t i)
{
    STK_ASSERT(block->count == specs->count);
    STK_ASSERT(i >= 0);
    bool ok = true;
    to->size = 0;
    for (int k = 0; ok && k < block->count; k++) {
        ok = add_component(to, &specs->items[k], &block->cols[k], i);
    }
    return ok;
}

void stk_element_bytes_free(struct stk_element_bytes *b)
{
    stk_free(b->data);
    *b = (struct stk_element_bytes){0};
}

bool stk_element_encode_specs(struct stk_element_bytes *to, const struct stk_specs *specs)
{
    uint64_t count = (uint64_t)specs->count;
    to->size = 0;
    bool ok = add(to, &count, sizeof count);
    for (int k = 0; ok && k < specs->count; k++) {
        struct component c = {.dtype = (int64_t)specs->items[k].dtype,
                              .rank = specs->items[k].shape.rank};
        for (int d = 0; d < c.rank; d++) {
            c.dim[d] = specs->items[k].shape.dim[d];
        }
        ok = add(to, &c, sizeof c);
    }
    return ok;
}

enum stk_element_read stk_element_decode_specs(const uint8_t *bytes, size_t size,
                                               struct stk_specs **out)
{
    uint64_t count = 0;
    *out = NULL;
    if (size >= sizeof count) {
        memcpy(&count, bytes, sizeof count);
    }
    if (size < sizeof count || count > STK_COMPONENTS_MAX ||
        STK_ELEMENT_SPECS_BYTES(count) > size) {
        return STK_ELEMENT_BAD;
    }
    struct stk_specs *specs = stk_specs_new((int)count);
    if (!specs) {
        return STK_ELEMENT_NO_MEMORY;
    }
    for (int k = 0; k < specs->count; k++) {
        struct component c;
        struct stk_spec *spec = &specs->items[k];
        memcpy(&c, bytes + STK_ELEMENT_SPECS_BYTES((size_t)k), sizeof c);
        if (c.dtype < 0 || c.dtype >= STK_DT_DATASET || c.rank < -1 || c.rank > STK_RANK_MAX) {
            stk_specs_drop(specs);
            return STK_ELEMENT_BAD;
        }
        spec->dtype = (enum stk_dtype)c.dtype;
        spec->shape.rank = (int)c.rank;
        for (int d = 0; d < spec->shape.rank; d++) {
            spec->shape.dim[d] = c.dim[d] < 0 ? STK_UNKNOWN : c.dim[d];
        }
    }
    *out = specs;
    return STK_ELEMENT_OK;
}

struct cursor {
    const uint8_t *at, *end;
};

static const void *take(struct cursor *c, uint64_t n)
{
    STK_ASSERT(c->at <= c->end);
    const uint8_t *p = c->at;
    uint64_t padded = n + (8 - n % 8) % 8;
    if (n > (uint64_t)(c->end - c->at) || padded > (uint64_t)(c->end - c->at)) {
        return NULL;
    }
    c->at += padded;
    return p;
}

// A component's dimensions, from its spec or from the record.
static bool read_shape(struct cursor *c, const struct stk_spec *spec, struct stk_shape *shape)
{
    *shape = spec->shape;
    if (stk_shape_is_known(shape)) {
        return true;
    }
    if (shape->rank < 0) {
        const int64_t *at = take(c, 8);
        int64_t rank = at ? __atomic_load_n(at, __ATOMIC_RELAXED) : -1;
        if (rank < 0 || rank > STK_RANK_MAX) {
            return false;
        }
        shape->rank = (int)rank;
    }
    const int64_t *dim = take(c, (uint64_t)shape->rank * 8);
    if (!dim) {
        return false;
    }
    memcpy(shape->dim, dim, (size_t)shape->rank * sizeof dim[0]);
    return stk_shape_is_known(shape) && stk_shape_fits(&spec->shape, shape) &&
           stk_shape_count(shape) >= 0;
}

static bool read_strings(struct cursor *c, struct stk_bytes *to, int64_t count)
{
    for (int64_t k = 0; k < count; k++) {
        const uint64_t *at = take(c, 8);
        uint64_t size = at ? __atomic_load_n(at, __ATOMIC_RELAXED) : 0;
        const void *bytes = at ? take(c, size) : NULL;
        if (!bytes) {
            return false;
        }
        to[k] = (struct stk_bytes){bytes, (size_t)size};
    }
    return true;
}

static enum stk_element_read read_component(struct cursor *c, const struct stk_spec *spec,
                                            struct stk_pool *pool, struct stk_col *out,
                                            int64_t capacity)
{
    struct stk_shape shape;
    if (!read_shape(c, spec, &shape)) {
        return STK_ELEMENT_BAD;
    }
    int64_t count = stk_shape_count(&shape);
    size_t each = stk_dtype_bytes(spec->dtype);
    // Check against the record's size first, so that a length alone can't claim memory.
    uint64_t least = (uint64_t)count * (spec->dtype == STK_DT_STRING ? 8 : each);
    if (least > (uint64_t)(c->end - c->at)) {
        return STK_ELEMENT_BAD;
    }
    if (!out->is_varied && !stk_col_varied(out, pool, spec->dtype, capacity, capacity * count)) {
        return STK_ELEMENT_NO_MEMORY;
    }
    void *to = stk_col_append(out, pool, &shape);
    if (!to) {
        return STK_ELEMENT_NO_MEMORY;
    }
    if (spec->dtype == STK_DT_STRING) {
        return read_strings(c, to, count) ? STK_ELEMENT_OK : STK_ELEMENT_BAD;
    }
    const void *from = take(c, (uint64_t)count * each);
    if (from) {
        memcpy(to, from, (size_t)count * each);
    }
    return from ? STK_ELEMENT_OK : STK_ELEMENT_BAD;
}

enum stk_element_read stk_element_decode(const uint8_t *bytes, size_t size,
                                         const struct stk_specs *specs, struct stk_pool *pool,
                                         struct stk_block *out, int64_t capacity)
{
    STK_ASSERT(out->count <= specs->count && capacity > 0);
    struct cursor c = {bytes, bytes + size};
    for (int k = 0; k < out->count; k++) {
        enum stk_element_read r =
            read_component(&c, &specs->items[k], pool, &out->cols[k], capacity);
        if (r != STK_ELEMENT_OK) {
            return r;
        }
    }
    return c.at == c.end ? STK_ELEMENT_OK : STK_ELEMENT_BAD;
}
