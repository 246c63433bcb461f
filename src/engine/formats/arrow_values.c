// SPDX-License-Identifier: Apache-2.0
// Converts an Arrow array to scalars of a column. Numbers, and the bytes of strings, stay in place;
// values that are null, bit-packed, unaligned, or in a dictionary are copied. See arrow.h.
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "engine/formats/arrow_impl.h"

static const void *buffer_of(const struct ArrowArray *a, int k)
{
    return k < a->n_buffers && a->buffers ? a->buffers[k] : NULL;
}

static bool bit(const uint8_t *bits, int64_t i)
{
    return (bits[i >> 3] >> (i & 7)) & 1;
}

bool stk_arrow_is_null(const struct stk_arrow_view *v, int64_t i)
{
    const uint8_t *valid = v->array->null_count != 0 ? buffer_of(v->array, 0) : NULL;
    return valid && !bit(valid, v->array->offset + v->first + i);
}

bool stk_arrow_may_be_null(const struct stk_arrow_view *v)
{
    return v->is_hidden || (v->array->null_count != 0 && buffer_of(v->array, 0));
}

static int64_t row_of(const struct stk_arrow_view *v, int64_t i)
{
    int64_t low = 0, high = v->rows - 1;
    while (v->bounds && low < high) { // the last row that starts at or before it
        int64_t middle = (low + high + 1) / 2;
        low = v->bounds[middle] <= i ? middle : low;
        high = v->bounds[middle] <= i ? high : middle - 1;
    }
    return v->bounds ? low : i;
}

bool stk_arrow_note_null(struct stk_arrow_taking *t, int64_t i)
{
    if (stk_arrow_leaf_of(t)->fill) {
        return true;
    }
    struct stk_arrow_rows *out = t->out;
    if (!out->failed) {
        out->failed = stk_alloc_zero((size_t)t->view.rows + 1, sizeof out->failed[0]);
    }
    if (!out->failed) {
        return false;
    }
    int64_t row = row_of(&t->view, i);
    STK_ASSERT(row >= 0 && row < t->view.rows);
    out->n_failed += out->failed[row] == 0;
    out->failed[row] = out->failed[row] ? out->failed[row] : (uint16_t)(t->leaf + 1);
    return true;
}

// Writes the value for a null: zeros if the row fails.
static void put_fill(const struct stk_arrow_leaf *leaf, void *to, size_t each)
{
    if (leaf->fill) {
        memcpy(to, leaf->fill->data, each);
    } else {
        memset(to, 0, each);
    }
}

// Replaces nulls by their fill values; *out has its own memory. False: no memory.
static bool fill_nulls(struct stk_arrow_taking *t, struct stk_col *out)
{
    const struct stk_arrow_view *v = &t->view;
    const struct stk_arrow_leaf *leaf = stk_arrow_leaf_of(t);
    size_t each = stk_dtype_bytes(out->dtype);
    bool ok = true;
    STK_ASSERT(out->n == v->n && (v->n == 0 || out->stride == each));
    for (int64_t i = 0; ok && i < v->n; i++) {
        if (stk_arrow_is_null(v, i) || (v->is_hidden && v->is_hidden[i])) {
            put_fill(leaf, out->data + (size_t)i * each, each);
            ok = stk_arrow_note_null(t, i);
        }
    }
    return ok && (!leaf->fill || stk_keep_join(&out->keep, leaf->fill->keep)) &&
           (!leaf->fill || out->dtype != STK_DT_STRING || !leaf->fill->data_buf ||
            stk_keep_add(&out->keep, leaf->fill->data_buf));
}

static bool is_sound(const struct ArrowArray *a, int buffers)
{
    return a->length >= 0 && a->offset >= 0 && a->length <= STK_VALUES_MAX &&
           a->offset <= STK_VALUES_MAX && a->n_buffers >= buffers && a->buffers;
}

static struct stk_col scalars(enum stk_dtype dtype, int64_t n)
{
    return (struct stk_col){.dtype = dtype, .n = n, .stride = stk_dtype_bytes(dtype)};
}

static bool own_scalars(struct stk_arrow_taking *t, struct stk_col *out, enum stk_dtype dtype,
                        int64_t n)
{
    struct stk_shape scalar = {0};
    t->out->bytes += (uint64_t)n * stk_dtype_bytes(dtype);
    return stk_col_uniform(out, t->from->pool, dtype, &scalar, n);
}

static enum stoker_status take_plain(struct stk_arrow_taking *t, const struct stk_arrow_view *v,
                                     enum stk_dtype dtype, bool is_copied, struct stk_col *out)
{
    size_t each = stk_dtype_bytes(dtype), bytes = (size_t)v->n * each;
    STK_ASSERT(v->first >= 0 && v->n >= 0 && v->first <= v->array->length - v->n);
    const uint8_t *data = buffer_of(v->array, 1);
    if (v->n > 0 && !data) {
        return stk_arrow_damage(t, "has no values");
    }
    const uint8_t *from = data ? data + (size_t)(v->array->offset + v->first) * each : NULL;
    if (is_copied || !from || (uintptr_t)from % each != 0) {
        if (!own_scalars(t, out, dtype, v->n)) {
            return stk_arrow_no_memory(t);
        }
        if (bytes) {
            memcpy(out->data, from, bytes);
        }
        return STOKER_OK;
    }
    *out = scalars(dtype, v->n);
    out->data = (uint8_t *)(uintptr_t)from;
    out->data_buf = stk_arrow_buf(t, from, bytes, !t->from->is_private);
    return out->data_buf ? STOKER_OK : stk_arrow_no_memory(t);
}

static enum stoker_status take_bits(struct stk_arrow_taking *t, const struct stk_arrow_view *v,
                                    struct stk_col *out)
{
    const uint8_t *bits = buffer_of(v->array, 1);
    if (v->n > 0 && !bits) {
        return stk_arrow_damage(t, "has no values");
    }
    if (!own_scalars(t, out, STK_DT_BOOL, v->n)) {
        return stk_arrow_no_memory(t);
    }
    for (int64_t i = 0; i < v->n; i++) {
        out->data[i] = bit(bits, v->array->offset + v->first + i);
    }
    return STOKER_OK;
}

// Views of the bytes between offsets, which must not decrease.
#define TAKE_OFFSETS(type)                                                                         \
    {                                                                                              \
        const type *o = (const type *)buffer_of(v->array, 1) + v->array->offset + v->first;        \
        for (int64_t i = 0; i < v->n; i++) {                                                       \
            if (o[i] < 0 || o[i + 1] < o[i]) {                                                     \
                return stk_arrow_damage(t, "has offsets of strings that fall");                    \
            }                                                                                      \
            to[i] = (struct stk_bytes){bytes + o[i], (size_t)(o[i + 1] - o[i])};                   \
        }                                                                                          \
        first = v->n ? (int64_t)o[0] : 0;                                                          \
        end = v->n ? (int64_t)o[v->n] : 0;                                                         \
    }

static enum stoker_status take_strings(struct stk_arrow_taking *t, const struct stk_arrow_view *v,
                                       bool is_large, struct stk_col *out)
{
    const uint8_t *bytes = buffer_of(v->array, 2);
    bytes = bytes ? bytes : (const uint8_t *)"";
    if (!own_scalars(t, out, STK_DT_STRING, v->n)) {
        return stk_arrow_no_memory(t);
    }
    if (v->n == 0) {
        return STOKER_OK;
    }
    if (!buffer_of(v->array, 1) || (uintptr_t)buffer_of(v->array, 1) % (is_large ? 8 : 4)) {
        return stk_arrow_damage(t, "has no offsets of strings");
    }
    struct stk_bytes *to = (struct stk_bytes *)out->data;
    int64_t first, end;
    if (is_large) {
        TAKE_OFFSETS(int64_t)
    } else {
        TAKE_OFFSETS(int32_t)
    }
    if (end > first && !buffer_of(v->array, 2)) {
        return stk_arrow_damage(t, "has no bytes of strings");
    }
    struct stk_buf *b = stk_arrow_buf(t, bytes + first, (size_t)(end - first), true);
    bool ok = b && stk_keep_add(&out->keep, b);
    stk_buf_drop(b);
    return ok ? STOKER_OK : stk_arrow_no_memory(t);
}

static enum stoker_status take_fixed(struct stk_arrow_taking *t, const struct stk_arrow_view *v,
                                     size_t width, struct stk_col *out)
{
    const uint8_t *data = buffer_of(v->array, 1);
    if (!own_scalars(t, out, STK_DT_STRING, v->n)) {
        return stk_arrow_no_memory(t);
    }
    if (v->n == 0 || width == 0) {
        return STOKER_OK;
    }
    if (!data) {
        return stk_arrow_damage(t, "has no values");
    }
    data += (size_t)(v->array->offset + v->first) * width;
    struct stk_bytes *to = (struct stk_bytes *)out->data;
    for (int64_t i = 0; i < v->n; i++) {
        to[i] = (struct stk_bytes){data + (size_t)i * width, width};
    }
    struct stk_buf *b = stk_arrow_buf(t, data, (size_t)v->n * width, true);
    bool ok = b && stk_keep_add(&out->keep, b);
    stk_buf_drop(b);
    return ok ? STOKER_OK : stk_arrow_no_memory(t);
}

#define VIEW_INLINE 12 // bytes of a string that are in its view

// A view: the length, then up to 12 bytes; or 4 bytes, a buffer index and an offset. The array's
// last buffer has the sizes of the others.
static enum stoker_status take_views(struct stk_arrow_taking *t, const struct stk_arrow_view *v,
                                     struct stk_col *out)
{
    const struct ArrowArray *a = v->array;
    const uint8_t *views = buffer_of(a, 1);
    const int64_t *sizes = buffer_of(a, (int)a->n_buffers - 1);
    int64_t others = a->n_buffers - 3;
    if (!own_scalars(t, out, STK_DT_STRING, v->n)) {
        return stk_arrow_no_memory(t);
    }
    if (v->n > 0 && !views) {
        return stk_arrow_damage(t, "has no values");
    }
    struct stk_bytes *to = (struct stk_bytes *)out->data;
    for (int64_t i = 0; i < v->n; i++) {
        const uint8_t *view = views + (size_t)(a->offset + v->first + i) * 16;
        int32_t part[4];
        memcpy(part, view, sizeof part);
        bool is_null = stk_arrow_is_null(v, i), is_far = part[0] > VIEW_INLINE && !is_null;
        if (!is_null &&
            (part[0] < 0 ||
             (is_far && (part[2] < 0 || part[2] >= others || !sizes || part[3] < 0 ||
                         part[3] > sizes[part[2]] - part[0] || !a->buffers[2 + part[2]])))) {
            return stk_arrow_damage(t, "has a string outside of its buffers");
        }
        to[i] = is_null  ? (struct stk_bytes){0}
                : is_far ? (struct stk_bytes){(const uint8_t *)a->buffers[2 + part[2]] + part[3],
                                              (size_t)part[0]}
                         : (struct stk_bytes){view + 4, (size_t)part[0]};
        t->out->bytes += t->held->mapped ? 0 : to[i].size;
    }
    struct stk_buf *b = stk_arrow_buf(t, NULL, 0, true);
    bool ok = b && stk_keep_add(&out->keep, b);
    stk_buf_drop(b);
    return ok ? STOKER_OK : stk_arrow_no_memory(t);
}

static enum stoker_status take_type(struct stk_arrow_taking *t, const struct stk_arrow_view *v,
                                    bool is_copied, struct stk_col *out)
{
    struct stk_arrow_type type;
    if (!stk_arrow_type_of(v->schema->format, &type) ||
        !is_sound(v->array, type.layout == STK_ARROW_BYTES || type.layout == STK_ARROW_LARGE ||
                                    type.layout == STK_ARROW_VIEWS
                                ? 3
                                : 2) ||
        v->first > v->array->length - v->n) {
        return stk_arrow_damage(t, "has lengths that contradict each other");
    }
    switch (type.layout) {
    case STK_ARROW_PLAIN:
        return take_plain(t, v, type.dtype, is_copied, out);
    case STK_ARROW_BITS:
        return take_bits(t, v, out);
    case STK_ARROW_BYTES:
    case STK_ARROW_LARGE:
        return take_strings(t, v, type.layout == STK_ARROW_LARGE, out);
    case STK_ARROW_VIEWS:
        return take_views(t, v, out);
    case STK_ARROW_FIXED:
        return take_fixed(t, v, (size_t)type.width, out);
    }
    return stk_arrow_damage(t, "is of no known type");
}

static int64_t place_at(const struct stk_col *places, int64_t i)
{
    const uint8_t *at = places->data + (size_t)i * places->stride;
    int64_t wide = 0;
    switch (places->dtype) {
#define PLACE(name, type)                                                                          \
    case STK_DT_##name: {                                                                          \
        type value;                                                                                \
        memcpy(&value, at, sizeof value);                                                          \
        wide = (int64_t)value;                                                                     \
        break;                                                                                     \
    }
        PLACE(U8, uint8_t)
        PLACE(I8, int8_t)
        PLACE(U16, uint16_t)
        PLACE(I16, int16_t)
        PLACE(U32, uint32_t)
        PLACE(I32, int32_t)
        PLACE(U64, uint64_t)
        PLACE(I64, int64_t)
#undef PLACE
    default:
        return -1;
    }
    return wide;
}

// Looks values up in a dictionary. A null in the dictionary makes each element that uses it null.
static enum stoker_status take_dictionary(struct stk_arrow_taking *t, struct stk_col *out)
{
    const struct stk_arrow_view *v = &t->view;
    struct stk_arrow_view words = {.schema = v->schema->dictionary, .array = v->array->dictionary};
    struct stk_col places = {0}, all = {0};
    if (!words.array || words.array->length < 0) {
        return stk_arrow_damage(t, "has no dictionary");
    }
    words.n = words.array->length;
    enum stoker_status s = take_type(t, v, false, &places);
    s = s == STOKER_OK ? take_type(t, &words, false, &all) : s;
    if (s == STOKER_OK && !own_scalars(t, out, all.dtype, v->n)) {
        s = stk_arrow_no_memory(t);
    }
    size_t each = s == STOKER_OK ? stk_dtype_bytes(all.dtype) : 0;
    for (int64_t i = 0; s == STOKER_OK && i < v->n; i++) {
        if (stk_arrow_is_null(v, i) || (v->is_hidden && v->is_hidden[i])) {
            continue; // fill_nulls() handles it
        }
        int64_t k = place_at(&places, i);
        if (k < 0 || k >= words.n) {
            s = stk_arrow_damage(t, "has a place outside of its dictionary");
        } else if (!stk_arrow_is_null(&words, k)) {
            memcpy(out->data + (size_t)i * each, all.data + (size_t)k * each, each);
        } else {
            put_fill(stk_arrow_leaf_of(t), out->data + (size_t)i * each, each);
            s = stk_arrow_note_null(t, i) ? s : stk_arrow_no_memory(t);
        }
    }
    if (s == STOKER_OK && !stk_keep_join(&out->keep, all.keep)) {
        s = stk_arrow_no_memory(t);
    }
    stk_col_clear(&places);
    stk_col_clear(&all);
    return s;
}

enum stoker_status stk_arrow_values(struct stk_arrow_taking *t, struct stk_col *out)
{
    bool is_filled = stk_arrow_may_be_null(&t->view);
    enum stoker_status s = t->view.schema->dictionary ? take_dictionary(t, out)
                                                      : take_type(t, &t->view, is_filled, out);
    bool has_filled_words = t->view.schema->dictionary && stk_arrow_leaf_of(t)->fill;
    if (s == STOKER_OK && (is_filled || has_filled_words) && !fill_nulls(t, out)) {
        s = stk_arrow_no_memory(t);
    }
    return s;
}
