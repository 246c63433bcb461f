// SPDX-License-Identifier: Apache-2.0
// Encodes Example and SequenceExample. Nested messages start with their length, so each part is
// measured first and then written.
#include "base/alloc.h"
#include "base/assert.h"
#include "engine/formats/example_impl.h"

// Size of a field with a length: tag, length, n bytes.
static size_t chunk_size(size_t n)
{
    return 1 + stk_varint_size(n) + n;
}

static uint8_t *put_head(uint8_t *p, unsigned field, size_t n)
{
    *p++ = (uint8_t)(field << 3 | 2);
    return stk_varint_put(p, n);
}

// Size of values [from, from + n) of a feature, without the tag and length of a packed run.
static size_t run_size(const struct stk_example_value *v, size_t from, size_t n)
{
    STK_ASSERT(from <= v->count && n <= v->count - from);
    size_t size = v->type == STK_EXAMPLE_FLOAT ? 4 * n : 0;
    for (size_t i = from; i < from + n && v->type != STK_EXAMPLE_FLOAT; i++) {
        if (v->type == STK_EXAMPLE_BYTES) {
            size += chunk_size(((const struct stk_example_bytes *)v->values)[i].size);
        } else {
            size += stk_varint_size((uint64_t)((const int64_t *)v->values)[i]);
        }
    }
    return size;
}

static size_t list_size(const struct stk_example_value *v, size_t from, size_t n)
{
    size_t size = run_size(v, from, n);
    if (v->type == STK_EXAMPLE_BYTES || n == 0) {
        return size;
    }
    return v->is_unpacked ? size + n : chunk_size(size);
}

static uint8_t *put_value(uint8_t *p, const struct stk_example_value *v, size_t i)
{
    STK_ASSERT(i < v->count);
    if (v->type == STK_EXAMPLE_INT64) {
        if (v->is_unpacked) {
            *p++ = 1 << 3 | 0;
        }
        return stk_varint_put(p, (uint64_t)((const int64_t *)v->values)[i]);
    }
    if (v->type == STK_EXAMPLE_FLOAT) {
        if (v->is_unpacked) {
            *p++ = 1 << 3 | 5;
        }
        memcpy(p, (const float *)v->values + i, 4);
        return p + 4;
    }
    struct stk_example_bytes bytes = ((const struct stk_example_bytes *)v->values)[i];
    p = put_head(p, 1, bytes.size);
    if (bytes.size) {
        memcpy(p, bytes.data, bytes.size);
    }
    return p + bytes.size;
}

static size_t feature_size(const struct stk_example_value *v, size_t from, size_t n)
{
    return v->type ? chunk_size(list_size(v, from, n)) : 0;
}

static uint8_t *put_feature(uint8_t *p, const struct stk_example_value *v, size_t from, size_t n)
{
    if (!v->type) {
        return p;
    }
    p = put_head(p, v->type, list_size(v, from, n));
    if (v->type != STK_EXAMPLE_BYTES && !v->is_unpacked && n > 0) {
        p = put_head(p, 1, run_size(v, from, n));
    }
    for (size_t i = from; i < from + n; i++) {
        p = put_value(p, v, i);
    }
    return p;
}

// Size of a Feature, or of a FeatureList with its steps.
static size_t body_size(const struct stk_example_value *v)
{
    if (!v->is_list) {
        return feature_size(v, 0, v->count);
    }
    size_t size = 0, from = 0;
    for (size_t i = 0; i < v->step_count; from += v->steps[i++]) {
        size += chunk_size(feature_size(v, from, v->steps[i]));
    }
    return size;
}

static size_t entry_size(const struct stk_example_value *v)
{
    return chunk_size(strlen(v->name)) + chunk_size(body_size(v));
}

static uint8_t *put_entry(uint8_t *p, const struct stk_example_value *v)
{
    size_t name = strlen(v->name);
    p = put_head(p, 1, entry_size(v));
    p = put_head(p, 1, name);
    memcpy(p, v->name, name);
    p = put_head(p + name, 2, body_size(v));
    if (!v->is_list) {
        return put_feature(p, v, 0, v->count);
    }
    size_t from = 0;
    for (size_t i = 0; i < v->step_count; from += v->steps[i++]) {
        p = put_head(p, 1, feature_size(v, from, v->steps[i]));
        p = put_feature(p, v, from, v->steps[i]);
    }
    return p;
}

static size_t map_size(const struct stk_example_value *values, size_t count, bool of_lists)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size += values[i].is_list == of_lists ? chunk_size(entry_size(&values[i])) : 0;
    }
    return size;
}

static uint8_t *put_map(uint8_t *p, const struct stk_example_value *values, size_t count,
                        bool of_lists)
{
    p = put_head(p, of_lists ? 2 : 1, map_size(values, count, of_lists));
    for (size_t i = 0; i < count; i++) {
        if (values[i].is_list == of_lists) {
            p = put_entry(p, &values[i]);
        }
    }
    return p;
}

static enum stoker_status check(enum stk_example_message message, const struct stk_example_value *v,
                                struct stoker_err *err)
{
    size_t sum = 0;
    for (size_t i = 0; v->is_list && i < v->step_count; i++) {
        sum += v->steps[i];
    }
    if (!v->name || (unsigned)v->type > STK_EXAMPLE_INT64 ||
        (v->is_list && (message == STK_EXAMPLE_SINGLE || sum != v->count))) {
        return stk_err_set(err, STOKER_EINVAL,
                           "feature %.200s can't be written: it has no name or type, or "
                           "steps that don't fit",
                           v->name ? v->name : "(none)");
    }
    return STOKER_OK;
}

enum stoker_status stk_example_encode(struct stk_example_buffer *out,
                                      enum stk_example_message message,
                                      const struct stk_example_value *values, size_t count,
                                      struct stoker_err *err)
{
    enum stoker_status status = STOKER_OK;
    for (size_t i = 0; i < count && !status; i++) {
        status = check(message, &values[i], err);
    }
    if (status) {
        return status;
    }
    size_t size = chunk_size(map_size(values, count, false));
    if (message == STK_EXAMPLE_SEQUENCE) {
        size += chunk_size(map_size(values, count, true));
    }
    if (size > out->capacity) {
        uint8_t *grown = stk_realloc_array(out->data, size, 1);
        if (!grown) {
            return stk_err_nomem(err);
        }
        out->data = grown;
        out->capacity = size;
    }
    uint8_t *p = put_map(out->data, values, count, false);
    if (message == STK_EXAMPLE_SEQUENCE) {
        p = put_map(p, values, count, true);
    }
    out->size = (size_t)(p - out->data);
    STK_ASSERT(out->size == size);
    return STOKER_OK;
}

void stk_example_buffer_free(struct stk_example_buffer *b)
{
    stk_free(b->data);
    *b = (struct stk_example_buffer){0};
}
