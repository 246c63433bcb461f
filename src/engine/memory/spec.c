// SPDX-License-Identifier: Apache-2.0
// Types and shapes: names, sizes, what two shapes have in common.
#include "engine/memory/spec.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

struct dtype_row {
    const char *name;
    size_t bytes;
};

static const struct dtype_row dtypes[] = {
#define X(name, text, type, bytes) {text, bytes},
#include "engine/memory/dtypes.def"
#undef X
};

size_t stk_dtype_bytes(enum stk_dtype t)
{
    return dtypes[t].bytes;
}

const char *stk_dtype_name(enum stk_dtype t)
{
    return t < STK_DT_COUNT ? dtypes[t].name : "?";
}

bool stk_dtype_find(const char *name, enum stk_dtype *out)
{
    if (strcmp(name, "string") == 0) {
        name = "bytes";
    }
    for (int i = 0; i < STK_DT_COUNT; i++) {
        if (strcmp(dtypes[i].name, name) == 0) {
            *out = (enum stk_dtype)i;
            return true;
        }
    }
    return false;
}

bool stk_dtype_is_float(enum stk_dtype t)
{
    return t >= STK_DT_F16 && t <= STK_DT_F64;
}

bool stk_dtype_is_int(enum stk_dtype t)
{
    return t >= STK_DT_U8 && t <= STK_DT_I64;
}

struct stk_specs *stk_specs_new(int count)
{
    struct stk_specs *s = stk_alloc_zero(1, sizeof *s + (size_t)count * sizeof(struct stk_spec));
    if (s) {
        s->refs = 1;
        s->count = count;
    }
    return s;
}

struct stk_specs *stk_specs_hold(struct stk_specs *s)
{
    if (s) {
        __atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);
    }
    return s;
}

void stk_specs_drop(struct stk_specs *s)
{
    if (!s || __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    STK_ASSERT(s->refs == 0);
    for (int i = 0; i < s->count; i++) {
        stk_specs_drop(s->items[i].nested);
    }
    stk_free(s);
}

void stk_spec_copy(struct stk_spec *to, const struct stk_spec *from)
{
    *to = *from;
    stk_specs_hold(to->nested);
}

bool stk_spec_fits(const struct stk_spec *a, const struct stk_spec *b)
{
    return a->dtype == b->dtype && stk_specs_fit(a->nested, b->nested);
}

bool stk_specs_fit(const struct stk_specs *a, const struct stk_specs *b)
{
    bool fits = a == b || !a || !b || a->count == b->count;
    for (int i = 0; fits && a != b && a && b && i < a->count; i++) {
        fits = stk_spec_fits(&a->items[i], &b->items[i]);
    }
    return fits;
}

bool stk_spec_join(struct stk_spec *to, const struct stk_spec *more)
{
    STK_ASSERT(stk_spec_fits(to, more));
    to->shape = stk_shape_join(&to->shape, &more->shape);
    if (to->nested == more->nested) {
        return true;
    }
    struct stk_specs *own = to->nested, *joined = NULL;
    bool ok = true;
    if (own && more->nested) {
        joined = stk_specs_new(own->count);
        ok = joined != NULL;
    }
    for (int i = 0; joined && i < own->count; i++) {
        stk_spec_copy(&joined->items[i], &own->items[i]);
        ok = stk_spec_join(&joined->items[i], &more->nested->items[i]) && ok;
    }
    stk_specs_drop(own);
    to->nested = joined;
    return ok;
}

bool stk_shape_equal(const struct stk_shape *a, const struct stk_shape *b)
{
    return a->rank == b->rank &&
           (a->rank <= 0 || memcmp(a->dim, b->dim, (size_t)a->rank * sizeof a->dim[0]) == 0);
}

bool stk_shape_is_known(const struct stk_shape *s)
{
    STK_ASSERT(s->rank <= STK_RANK_MAX);
    for (int i = 0; i < s->rank; i++) {
        if (s->dim[i] < 0) {
            return false;
        }
    }
    return s->rank >= 0;
}

int64_t stk_shape_count(const struct stk_shape *s)
{
    STK_ASSERT(s->rank <= STK_RANK_MAX);
    if (s->rank < 0) {
        return -1;
    }
    int64_t count = 1; // without the dimensions of 0
    bool is_empty = false;
    for (int i = 0; i < s->rank; i++) {
        is_empty = is_empty || s->dim[i] == 0;
        int64_t length = s->dim[i] ? s->dim[i] : 1;
        if (length < 0 || __builtin_mul_overflow(count, length, &count)) {
            return -1;
        }
    }
    return is_empty ? (count <= STK_EMPTY_MAX ? 0 : -1) : count <= STK_VALUES_MAX ? count : -1;
}

struct stk_shape stk_shape_join(const struct stk_shape *a, const struct stk_shape *b)
{
    struct stk_shape s = *a;
    if (a->rank != b->rank) {
        s.rank = STK_UNKNOWN;
        return s;
    }
    for (int i = 0; i < s.rank; i++) {
        if (a->dim[i] != b->dim[i]) {
            s.dim[i] = STK_UNKNOWN;
        }
    }
    return s;
}

bool stk_shape_fits(const struct stk_shape *spec, const struct stk_shape *value)
{
    if (spec->rank < 0 || value->rank < 0) {
        return true;
    }
    if (spec->rank != value->rank) {
        return false;
    }
    for (int i = 0; i < spec->rank; i++) {
        if (spec->dim[i] >= 0 && value->dim[i] >= 0 && spec->dim[i] != value->dim[i]) {
            return false;
        }
    }
    return true;
}

char *stk_shape_text(const struct stk_shape *s, char buf[STK_SHAPE_TEXT])
{
    if (s->rank < 0) {
        snprintf(buf, STK_SHAPE_TEXT, "<unknown>");
        return buf;
    }
    size_t used = 0;
    buf[used++] = '(';
    for (int i = 0; i < s->rank && used < STK_SHAPE_TEXT; i++) {
        const char *comma = i ? ", " : "";
        int n = s->dim[i] < 0 ? snprintf(buf + used, STK_SHAPE_TEXT - used, "%sNone", comma)
                              : snprintf(buf + used, STK_SHAPE_TEXT - used, "%s%lld", comma,
                                         (long long)s->dim[i]);
        used += (size_t)n;
    }
    if (used + 3 > STK_SHAPE_TEXT) {
        used = STK_SHAPE_TEXT - 3;
    }
    strcpy(buf + used, s->rank == 1 ? ",)" : ")");
    return buf;
}

bool stk_shape_prepend(struct stk_shape *s, int64_t dim)
{
    if (s->rank < 0) {
        return true;
    }
    if (s->rank >= STK_RANK_MAX) {
        return false;
    }
    memmove(s->dim + 1, s->dim, (size_t)s->rank * sizeof s->dim[0]);
    s->dim[0] = dim;
    s->rank++;
    return true;
}
