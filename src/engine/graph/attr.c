// SPDX-License-Identifier: Apache-2.0
// Lists of named arguments. Each attribute owns copies of its name and lists, in one allocation
// each, and holds references to what it points to (columns, specs, functions, datasets).
#include "engine/graph/attr.h"

#include <string.h>

#include "base/alloc.h"
#include "engine/graph/refs.h"
#include "engine/memory/whole.h"

#define ATTRS_MAX 4096

struct stk_attrs {
    int refs, count, capacity;
    struct stk_attr *items;
};

struct stk_attrs *stk_attrs_new(void)
{
    struct stk_attrs *a = stk_alloc_zero(1, sizeof *a);
    if (a) {
        a->refs = 1;
    }
    return a;
}

struct stk_attrs *stk_attrs_hold(struct stk_attrs *a)
{
    if (a) {
        __atomic_add_fetch(&a->refs, 1, __ATOMIC_RELAXED);
    }
    return a;
}

static void attr_free(struct stk_attr *t)
{
    stk_free((void *)(uintptr_t)t->name);
    switch (t->kind) {
    case STK_ATTR_INT:
    case STK_ATTR_FLOAT:
        break;
    case STK_ATTR_TEXT:
        stk_free((void *)(uintptr_t)t->text);
        break;
    case STK_ATTR_INTS:
        stk_free((void *)(uintptr_t)t->ints);
        break;
    case STK_ATTR_FLOATS:
        stk_free((void *)(uintptr_t)t->floats);
        break;
    case STK_ATTR_TEXTS:
        stk_free((void *)(uintptr_t)t->texts);
        break;
    case STK_ATTR_COLS:
        for (int64_t i = 0; i < t->count; i++) {
            stk_col_clear(&t->cols[i]);
        }
        stk_free(t->cols);
        break;
    case STK_ATTR_SPECS:
    case STK_ATTR_BOUND:
        stk_specs_drop(t->specs);
        break;
    case STK_ATTR_FN:
        stk_fn_drop(t->fn);
        break;
    case STK_ATTR_DATASETS:
        for (int64_t i = 0; i < t->count; i++) {
            stk_dataset_drop(t->datasets[i]);
        }
        stk_free(t->datasets);
        break;
    }
    *t = (struct stk_attr){0};
}

void stk_attrs_drop(struct stk_attrs *a)
{
    if (!a || __atomic_sub_fetch(&a->refs, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    for (int i = 0; i < a->count; i++) {
        attr_free(&a->items[i]);
    }
    stk_free(a->items);
    stk_free(a);
}

static void *copy_bytes(const void *from, size_t n, size_t size)
{
    char *to = stk_alloc_array(n * size + 1, 1);
    if (to) {
        if (n) {
            memcpy(to, from, n * size);
        }
        to[n * size] = 0;
    }
    return to;
}

static const struct stk_bytes *copy_texts(const struct stk_bytes *from, int64_t n)
{
    size_t bytes = (size_t)n * sizeof from[0];
    for (int64_t i = 0; i < n; i++) {
        bytes += from[i].size + 1;
    }
    struct stk_bytes *to = stk_alloc(bytes + 1);
    if (!to) {
        return NULL;
    }
    uint8_t *at = (uint8_t *)(to + n);
    for (int64_t i = 0; i < n; i++) {
        to[i] = (struct stk_bytes){at, from[i].size};
        if (from[i].size) {
            memcpy(at, from[i].data, from[i].size);
        }
        at[from[i].size] = 0;
        at += from[i].size + 1;
    }
    return to;
}

static bool copy_refs(struct stk_attr *to, const struct stk_attr *from)
{
    size_t n = (size_t)from->count;
    if (from->kind == STK_ATTR_COLS) {
        to->cols = stk_alloc_zero(n ? n : 1, sizeof to->cols[0]);
        for (size_t i = 0; to->cols && i < n; i++) {
            stk_col_share(&to->cols[i], &from->cols[i]);
        }
        return to->cols != NULL;
    }
    to->datasets = stk_alloc_zero(n ? n : 1, sizeof to->datasets[0]);
    for (size_t i = 0; to->datasets && i < n; i++) {
        to->datasets[i] = stk_dataset_hold(from->datasets[i]);
    }
    return to->datasets != NULL;
}

static bool copy_value(struct stk_attr *to, const struct stk_attr *from)
{
    size_t n = (size_t)from->count;
    switch (from->kind) {
    case STK_ATTR_INT:
    case STK_ATTR_FLOAT:
        return true;
    case STK_ATTR_TEXT:
        return (to->text = copy_bytes(from->text, n, 1)) != NULL;
    case STK_ATTR_INTS:
        return (to->ints = copy_bytes(from->ints, n, 8)) != NULL;
    case STK_ATTR_FLOATS:
        return (to->floats = copy_bytes(from->floats, n, 8)) != NULL;
    case STK_ATTR_TEXTS:
        return (to->texts = copy_texts(from->texts, from->count)) != NULL;
    case STK_ATTR_COLS:
    case STK_ATTR_DATASETS:
        return copy_refs(to, from);
    case STK_ATTR_SPECS:
    case STK_ATTR_BOUND:
        to->specs = stk_specs_hold(from->specs);
        return true;
    case STK_ATTR_FN:
        to->fn = stk_fn_hold(from->fn);
        return true;
    }
    return false;
}

bool stk_attrs_set(struct stk_attrs *a, const struct stk_attr *attr)
{
    struct stk_attr own = *attr;
    own.text = NULL;
    own.name = copy_bytes(attr->name, strlen(attr->name), 1);
    if (!own.name) {
        return false;
    }
    if (!copy_value(&own, attr)) {
        stk_free((void *)(uintptr_t)own.name);
        return false;
    }
    for (int i = 0; i < a->count; i++) {
        if (strcmp(a->items[i].name, attr->name) == 0) {
            attr_free(&a->items[i]);
            a->items[i] = own;
            return true;
        }
    }
    if (a->count == a->capacity) {
        int capacity = a->capacity ? 2 * a->capacity : 8;
        struct stk_attr *items =
            capacity > ATTRS_MAX ? NULL
                                 : stk_realloc_array(a->items, (size_t)capacity, sizeof items[0]);
        if (!items) {
            attr_free(&own);
            return false;
        }
        a->items = items;
        a->capacity = capacity;
    }
    a->items[a->count++] = own;
    return true;
}

bool stk_attrs_set_int(struct stk_attrs *a, const char *name, int64_t value)
{
    return stk_attrs_set(a, &(struct stk_attr){.name = name, .kind = STK_ATTR_INT, .i = value});
}

bool stk_attrs_set_float(struct stk_attrs *a, const char *name, double value)
{
    return stk_attrs_set(a, &(struct stk_attr){.name = name, .kind = STK_ATTR_FLOAT, .f = value});
}

bool stk_attrs_set_text(struct stk_attrs *a, const char *name, const char *text, size_t n)
{
    return stk_attrs_set(
        a,
        &(struct stk_attr){.name = name, .kind = STK_ATTR_TEXT, .count = (int64_t)n, .text = text});
}

int stk_attrs_count(const struct stk_attrs *a)
{
    return a ? a->count : 0;
}

const struct stk_attr *stk_attrs_at(const struct stk_attrs *a, int i)
{
    return &a->items[i];
}

const struct stk_attr *stk_attrs_get(const struct stk_attrs *a, const char *name)
{
    for (int i = 0; a && i < a->count; i++) {
        if (strcmp(a->items[i].name, name) == 0) {
            return &a->items[i];
        }
    }
    return NULL;
}

static bool col_number(const struct stk_attr *t, double *f, int64_t *i)
{
    if (t->kind != STK_ATTR_COLS || t->count != 1 || t->cols[0].n < 1) {
        return false;
    }
    const struct stk_col *c = &t->cols[0];
    struct stk_shape shape = stk_col_shape(c, 0);
    const void *p = stk_col_at(c, 0);
    if (stk_shape_count(&shape) != 1) {
        return false;
    }
    switch (c->dtype) {
    case STK_DT_BOOL:
    case STK_DT_U8:
        *i = *(const uint8_t *)p;
        break;
    case STK_DT_I8:
        *i = *(const int8_t *)p;
        break;
    case STK_DT_U16:
        *i = *(const uint16_t *)p;
        break;
    case STK_DT_I16:
        *i = *(const int16_t *)p;
        break;
    case STK_DT_U32:
        *i = *(const uint32_t *)p;
        break;
    case STK_DT_I32:
        *i = *(const int32_t *)p;
        break;
    case STK_DT_U64:
    case STK_DT_I64:
        *i = *(const int64_t *)p;
        break;
    case STK_DT_F32:
        *f = *(const float *)p;
        *i = stk_whole_of(*f);
        return true;
    case STK_DT_F64:
        *f = *(const double *)p;
        *i = stk_whole_of(*f);
        return true;
    default:
        return false;
    }
    *f = (double)*i;
    return true;
}

int64_t stk_attrs_int(const struct stk_attrs *a, const char *name, int64_t fallback)
{
    const struct stk_attr *t = stk_attrs_get(a, name);
    double f;
    int64_t i;
    if (!t) {
        return fallback;
    }
    return t->kind == STK_ATTR_INT ? t->i : col_number(t, &f, &i) ? i : fallback;
}

double stk_attrs_float(const struct stk_attrs *a, const char *name, double fallback)
{
    const struct stk_attr *t = stk_attrs_get(a, name);
    double f;
    int64_t i;
    if (!t) {
        return fallback;
    }
    return t->kind == STK_ATTR_FLOAT ? t->f
           : t->kind == STK_ATTR_INT ? (double)t->i
           : col_number(t, &f, &i)   ? f
                                     : fallback;
}

const char *stk_attrs_text(const struct stk_attrs *a, const char *name, const char *fallback)
{
    const struct stk_attr *t = stk_attrs_get(a, name);
    return t && t->kind == STK_ATTR_TEXT ? t->text : fallback;
}
