// SPDX-License-Identifier: Apache-2.0
// Compares and copies attributes, for rewrites. Limit: tensors count as equal only if they are the
// same tensor, or numbers of at most COMPARE_MAX bytes with the same values.
#include <string.h>

#include "engine/graph/attr.h"

#define COMPARE_MAX ((size_t)64 << 10)

struct stk_attrs *stk_attrs_copy(const struct stk_attrs *a)
{
    struct stk_attrs *copy = stk_attrs_new();
    for (int i = 0; copy && i < stk_attrs_count(a); i++) {
        if (!stk_attrs_set(copy, stk_attrs_at(a, i))) {
            stk_attrs_drop(copy);
            return NULL;
        }
    }
    return copy;
}

static bool cols_equal(const struct stk_col *a, const struct stk_col *b)
{
    struct stk_shape x = stk_col_shape(a, 0), y = stk_col_shape(b, 0);
    size_t bytes = (size_t)stk_shape_count(&x) * stk_dtype_bytes(a->dtype);
    bool is_plain = a->dtype != STK_DT_STRING && a->dtype != STK_DT_DATASET;
    return is_plain && a->dtype == b->dtype && stk_shape_equal(&x, &y) && bytes <= COMPARE_MAX &&
           memcmp(stk_col_at(a, 0), stk_col_at(b, 0), bytes) == 0;
}

static bool attr_equal(const struct stk_attr *a, const struct stk_attr *b)
{
    if (a->kind != b->kind || a->count != b->count || strcmp(a->name, b->name) != 0) {
        return false;
    }
    size_t n = (size_t)a->count;
    switch (a->kind) {
    case STK_ATTR_INT:
        return a->i == b->i;
    case STK_ATTR_FLOAT:
        return memcmp(&a->f, &b->f, sizeof a->f) == 0;
    case STK_ATTR_TEXT:
        return memcmp(a->text, b->text, n) == 0;
    case STK_ATTR_INTS:
        return memcmp(a->ints, b->ints, n * sizeof a->ints[0]) == 0;
    case STK_ATTR_FLOATS:
        return memcmp(a->floats, b->floats, n * sizeof a->floats[0]) == 0;
    case STK_ATTR_COLS:
        return n == 1 && cols_equal(&a->cols[0], &b->cols[0]);
    case STK_ATTR_FN:
        return a->fn == b->fn;
    default:
        return false;
    }
}

bool stk_attrs_equal(const struct stk_attrs *a, const struct stk_attrs *b)
{
    int n = stk_attrs_count(a);
    bool is_equal = a == b || n == stk_attrs_count(b);
    for (int i = 0; a != b && is_equal && i < n; i++) {
        is_equal = attr_equal(stk_attrs_at(a, i), stk_attrs_at(b, i));
    }
    return is_equal;
}
