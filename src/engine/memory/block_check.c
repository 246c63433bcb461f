// SPDX-License-Identifier: Apache-2.0
// Checks columns and blocks; see block_check.h. Of values, it checks only the views of strings.
// Limit: the size of memory that isn't the engine's (no buffer, or one without a size) is unknown.
#include "engine/memory/block_check.h"

#include <inttypes.h>

#define STRINGS_LOOKED_AT 64

static const char *check_holders(const struct stk_col *c)
{
    const struct stk_buf *bufs[2] = {c->data_buf, c->meta_buf};
    for (int i = 0; i < 2; i++) {
        if (bufs[i] && __atomic_load_n(&bufs[i]->refs, __ATOMIC_RELAXED) < 1) {
            return i ? "shapes are in a buffer without owner"
                     : "values are in a buffer without owner";
        }
    }
    if (!c->keep) {
        return NULL;
    }
    if (__atomic_load_n(&c->keep->refs, __ATOMIC_RELAXED) < 1 || c->keep->count < 0 ||
        c->keep->count > c->keep->capacity) {
        return "the list of buffers that strings point into has no owner, or is too long";
    }
    for (int i = 0; i < c->keep->count; i++) {
        if (!c->keep->bufs[i] || __atomic_load_n(&c->keep->bufs[i]->refs, __ATOMIC_RELAXED) < 1) {
            return "strings point into a buffer without owner";
        }
    }
    return NULL;
}

static bool is_known(const struct stk_shape *s)
{
    return s->rank >= 0 && s->rank <= STK_RANK_MAX && stk_shape_count(s) >= 0;
}

// Does the buffer contain the bytes [first, first + size)?
static bool lies_in(const struct stk_buf *b, const uint8_t *first, size_t size)
{
    return !b || b->size == 0 || size == 0 ||
           (first >= b->data && size <= b->size && first - b->data <= (ptrdiff_t)(b->size - size));
}

static const char *check_uniform(const struct stk_col *c)
{
    if (c->shapes || c->offsets) {
        return "elements of one shape, but also a shape of each";
    }
    if (!is_known(&c->shape)) {
        return "the shape of its elements is unknown";
    }
    size_t each = stk_col_bytes_each(c);
    if (c->stride != 0 && c->stride < each) {
        return "elements overlap";
    }
    if (c->n > 0 && each > 0 && !c->data) {
        return "elements, and no values";
    }
    size_t size = c->n > 0 ? (size_t)(c->n - 1) * c->stride + each : 0;
    return lies_in(c->data_buf, c->data, size) ? NULL : "values beyond their buffer";
}

static const char *check_varied(const struct stk_col *c)
{
    if (!c->offsets || (c->n > 0 && !c->shapes)) {
        return "elements of different shapes, and no shapes";
    }
    for (int64_t i = 0; i < c->n; i++) {
        if (!is_known(&c->shapes[i])) {
            return "the shape of an element is unknown";
        }
        if (c->offsets[i + 1] - c->offsets[i] != stk_shape_count(&c->shapes[i])) {
            return "an element's number of values doesn't match its shape";
        }
    }
    size_t each = stk_dtype_bytes(c->dtype);
    int64_t values = c->offsets[c->n] - c->offsets[0];
    if (values > 0 && !c->data) {
        return "elements, and no values";
    }
    return values <= 0 || lies_in(c->data_buf, c->data + (size_t)c->offsets[0] * each,
                                  (size_t)values * each)
               ? NULL
               : "values beyond their buffer";
}

static const char *check_strings(const struct stk_col *c)
{
    int64_t values = c->is_varied ? c->offsets[c->n] - c->offsets[0]
                                  : stk_shape_count(&c->shape) * (c->stride ? c->n : 1);
    const struct stk_bytes *s = stk_col_at(c, 0);
    for (int64_t i = 0; i < values && i < STRINGS_LOOKED_AT; i++) {
        if (s[i].size > 0 && !s[i].data) {
            return "a string without bytes";
        }
    }
    return NULL;
}

const char *stk_col_check(const struct stk_col *c)
{
    if ((unsigned)c->dtype >= STK_DT_COUNT) {
        return "no type";
    }
    if (c->n < 0) {
        return "a negative number of elements";
    }
    const char *why = check_holders(c);
    why = why ? why : c->is_varied ? check_varied(c) : check_uniform(c);
    return why || c->dtype != STK_DT_STRING || c->n == 0 ? why : check_strings(c);
}

const char *stk_block_check(const struct stk_block *b)
{
    if (b->count < 0 || b->n < 0) {
        return "a negative number of columns or elements";
    }
    if (b->count > 0 && !b->cols) {
        return "columns, and no memory of them";
    }
    for (int k = 0; k < b->count; k++) {
        const char *why = stk_col_check(&b->cols[k]);
        if (why) {
            return why;
        }
        if (b->cols[k].n != b->n) {
            return "a column of another length than the block";
        }
    }
    return NULL;
}

void stk_col_dump(const struct stk_col *c, FILE *to)
{
    char shape[STK_SHAPE_TEXT];
    const char *why = stk_col_check(c);
    to = to ? to : stderr;
    bool has_type = (unsigned)c->dtype < STK_DT_COUNT;
    fprintf(to, "%s%s n=%" PRId64 " %s stride=%zu data=%p",
            has_type ? stk_dtype_name(c->dtype) : "?",
            c->is_varied  ? " varied"
            : c->is_bound ? " bound"
                          : "",
            c->n, c->is_varied ? "" : stk_shape_text(&c->shape, shape), c->stride, (void *)c->data);
    if (c->data_buf) {
        fprintf(to, " in %p+%zu refs=%d%s%s", (void *)c->data_buf->data, c->data_buf->size,
                c->data_buf->refs, c->data_buf->is_readonly ? " readonly" : "",
                c->data_buf->is_foreign ? " foreign" : "");
    }
    if (c->keep) {
        fprintf(to, " keeps %d", c->keep->count);
    }
    fprintf(to, "%s%s\n", why ? "  BROKEN: " : "", why ? why : "");
}

void stk_block_dump(const struct stk_block *b, FILE *to)
{
    const char *why = stk_block_check(b);
    to = to ? to : stderr;
    fprintf(to, "block n=%" PRId64 " columns=%d capacity=%d%s%s\n", b->n, b->count, b->capacity,
            why ? "  BROKEN: " : "", why ? why : "");
    for (int k = 0; k < b->count && b->cols; k++) {
        fprintf(to, "  %d ", k);
        stk_col_dump(&b->cols[k], to);
    }
}

void stk_block_assert(const struct stk_block *b, const char *file, int line, const char *func)
{
    const char *why = stk_block_check(b);
    if (why) {
        stk_block_dump(b, stderr);
        stk_assert_fail(why, file, line, func);
    }
}
