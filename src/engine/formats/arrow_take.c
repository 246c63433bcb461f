// SPDX-License-Identifier: Apache-2.0
// Turns record batches into blocks: descends from the batch through structs and lists to each leaf,
// whose values (arrow_values.c) get the shapes of the lists. See arrow.h.
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "engine/formats/arrow_impl.h"

static void free_view(struct stk_arrow_view *v)
{
    stk_free(v->bounds);
    stk_free(v->is_hidden);
    *v = (struct stk_arrow_view){0};
}

static bool has_elements(const struct stk_arrow_view *v)
{
    const struct ArrowArray *a = v->array;
    return a->length >= 0 && a->offset >= 0 && a->length <= STK_VALUES_MAX &&
           a->offset <= STK_VALUES_MAX && v->first >= 0 && v->n >= 0 &&
           v->first <= a->length - v->n && a->n_buffers >= 1 && a->buffers;
}

// Null or hidden elements hide their children, `each` per element. False: no memory.
static bool hide(struct stk_arrow_view *to, const struct stk_arrow_view *from, int64_t each)
{
    if (!stk_arrow_may_be_null(from) || to->n == 0) {
        return true;
    }
    to->is_hidden = stk_alloc_array((size_t)to->n, 1);
    for (int64_t i = 0; to->is_hidden && i < from->n; i++) {
        bool is_hidden = stk_arrow_is_null(from, i) || (from->is_hidden && from->is_hidden[i]);
        memset(to->is_hidden + i * each, is_hidden, (size_t)each);
    }
    return to->is_hidden != NULL;
}

static enum stoker_status enter_struct(struct stk_arrow_taking *t, int64_t child)
{
    struct stk_arrow_view *v = &t->view, in = *v;
    if (!has_elements(v) || child >= v->array->n_children || !v->array->children ||
        !v->array->children[child]) {
        return stk_arrow_damage(t, "lacks a field");
    }
    in.schema = v->schema->children[child];
    in.array = v->array->children[child];
    in.first = v->array->offset + v->first;
    in.is_hidden = NULL;
    if (!hide(&in, v, 1)) {
        return stk_arrow_no_memory(t);
    }
    stk_free(v->is_hidden);
    *v = in;
    return has_elements(v) ? STOKER_OK : stk_arrow_damage(t, "has fewer values than rows");
}

struct lists { // where a view's lists start in the values
    const int32_t *narrow;
    const int64_t *wide;
    int64_t width, first; // fixed size: values per list, and the first list
};

static bool lists_of(const struct stk_arrow_view *v, struct lists *l)
{
    const struct ArrowArray *a = v->array;
    const char *format = v->schema->format;
    const void *offsets = a->n_buffers > 1 ? a->buffers[1] : NULL;
    int64_t at = a->offset + v->first;
    *l = (struct lists){.first = at};
    if (format[1] == 'w') {
        l->width = 0;
        for (const char *p = format + 3; *p; p++) {
            l->width = l->width * 10 + (*p - '0');
        }
        return at + v->n <= STK_VALUES_MAX && l->width <= STK_VALUES_MAX / (at + v->n + 1);
    }
    l->wide = format[1] == 'L' && offsets ? (const int64_t *)offsets + at : NULL;
    l->narrow = format[1] == 'l' && offsets ? (const int32_t *)offsets + at : NULL;
    return v->n == 0 || (offsets && (uintptr_t)offsets % (format[1] == 'L' ? 8 : 4) == 0);
}

static int64_t begin_of(const struct lists *l, int64_t i)
{
    return l->narrow ? l->narrow[i] : l->wide ? l->wide[i] : (l->first + i) * l->width;
}

// Checks the lists' lengths: as the leaf says, and 0 for a null.
static enum stoker_status check_lists(struct stk_arrow_taking *t, const struct lists *l,
                                      int64_t dim, int64_t values)
{
    struct stk_arrow_view *v = &t->view;
    bool has_nulls = stk_arrow_may_be_null(v), is_fixed = !l->narrow && !l->wide;
    int64_t before = v->n ? begin_of(l, 0) : 0;
    if (before < 0) {
        return stk_arrow_damage(t, "has offsets of lists below 0");
    }
    for (int64_t i = 0; i < v->n; i++) {
        int64_t end = begin_of(l, i + 1);
        bool is_null = has_nulls && (stk_arrow_is_null(v, i) || (v->is_hidden && v->is_hidden[i]));
        if (end < before || end > values) {
            return stk_arrow_damage(t, "has offsets of lists that fall, or lie beyond the values");
        }
        if (is_null && !is_fixed) {
            if (end > before || dim > 0) {
                return stk_err_set(t->err, STOKER_EINVAL,
                                   "column '%.200s' has a null list where its length can't be "
                                   "empty, at element %lld; fill it in before",
                                   stk_arrow_leaf_of(t)->name, (long long)i);
            }
            if (!stk_arrow_note_null(t, i)) {
                return stk_arrow_no_memory(t);
            }
        } else if (dim >= 0 && end - before != dim) {
            return stk_err_set(t->err, STOKER_EINVAL,
                               "column '%.200s' has a list of %lld values, not of %lld as declared",
                               stk_arrow_leaf_of(t)->name, (long long)(end - before),
                               (long long)dim);
        }
        before = end;
    }
    return STOKER_OK;
}

// The rows' bounds in the lists' values. NULL: no memory.
static int64_t *bounds_of(const struct stk_arrow_view *v, const struct lists *l, int64_t first)
{
    int64_t *bounds = stk_alloc_array((size_t)v->rows + 1, sizeof bounds[0]);
    for (int64_t i = 0; bounds && i <= v->rows; i++) {
        int64_t at = v->bounds ? v->bounds[i] : i;
        bounds[i] = v->n ? begin_of(l, at) - first : 0;
    }
    return bounds;
}

// Do the bounds still rise from 0 to the number of values, in lists of the same length where that
// is known? The offsets may be those of a mapped file that somebody writes to since they were
// checked.
static bool are_bounds_whole(const struct stk_arrow_view *in, const struct stk_arrow_view *of,
                             int64_t dim)
{
    bool ok = in->bounds[0] == 0 && in->bounds[in->rows] == in->n;
    for (int64_t i = 0; ok && i < in->rows; i++) {
        int64_t lists = of->bounds ? of->bounds[i + 1] - of->bounds[i] : 1;
        int64_t values = in->bounds[i + 1] - in->bounds[i];
        ok = values >= 0 && (dim < 0 || values == lists * dim);
    }
    return ok;
}

static enum stoker_status enter_list(struct stk_arrow_taking *t, int64_t dim)
{
    struct stk_arrow_view *v = &t->view, in = {.rows = v->rows};
    struct lists l;
    const struct ArrowArray *child =
        v->array->n_children == 1 && v->array->children ? v->array->children[0] : NULL;
    if (!has_elements(v) || !child || !lists_of(v, &l) || child->length < 0) {
        return stk_arrow_damage(t, "has lists without values or offsets");
    }
    enum stoker_status s = check_lists(t, &l, dim, child->length);
    if (s != STOKER_OK) {
        return s;
    }
    in.schema = v->schema->children[0];
    in.array = child;
    in.first = v->n ? begin_of(&l, 0) : 0;
    in.n = v->n ? begin_of(&l, v->n) - in.first : 0;
    in.bounds = bounds_of(v, &l, in.first);
    bool is_fixed = !l.narrow && !l.wide;
    if (!in.bounds || (is_fixed && !hide(&in, v, l.width))) {
        free_view(&in);
        return stk_arrow_no_memory(t);
    }
    bool is_whole = are_bounds_whole(&in, v, dim);
    free_view(v);
    *v = in;
    if (!is_whole) {
        return stk_arrow_damage(t, "has offsets of lists that changed while they were read");
    }
    return has_elements(v) ? STOKER_OK : stk_arrow_damage(t, "has fewer values than its lists say");
}

// The row splits of a level: for each row, where each of its lists starts in the row's values.
static enum stoker_status take_splits(struct stk_arrow_taking *t, struct stk_col *out)
{
    const struct stk_arrow_view *v = &t->view;
    struct lists l;
    if (!has_elements(v) || !lists_of(v, &l)) {
        return stk_arrow_damage(t, "has lists without values or offsets");
    }
    if (!stk_col_varied(out, t->from->pool, STK_DT_I64, v->rows, v->n + v->rows)) {
        return stk_arrow_no_memory(t);
    }
    STK_ASSERT(v->bounds && v->bounds[v->rows] == v->n);
    for (int64_t i = 0; i < v->rows; i++) {
        int64_t first = v->bounds[i], n = v->bounds[i + 1] - first;
        struct stk_shape shape = {.rank = 1, .dim = {n + 1}};
        int64_t *to = stk_col_append(out, t->from->pool, &shape);
        if (!to) {
            return stk_arrow_no_memory(t);
        }
        to[0] = 0;
        for (int64_t k = 0; k < n; k++) {
            to[k + 1] = begin_of(&l, first + k + 1) - begin_of(&l, first);
        }
    }
    return STOKER_OK;
}

// Gives scalars the rows' shapes: the known dimensions of the levels after `ragged`, preceded by
// the row's number of elements.
static bool shape_rows(struct stk_arrow_taking *t, struct stk_col *c)
{
    const struct stk_arrow_leaf *leaf = stk_arrow_leaf_of(t);
    const struct stk_arrow_view *v = &t->view;
    int ragged = stk_arrow_leaf_ragged(leaf);
    STK_ASSERT(c->n == v->n && !c->is_varied);
    STK_ASSERT(ragged >= 0 || v->n == v->rows * stk_shape_count(&leaf->shape));
    struct stk_shape shape = {.rank = 1};
    int64_t inner = 1;
    if (ragged < 0) {
        c->shape = leaf->shape;
        c->stride = stk_col_bytes_each(c);
        c->n = v->rows;
        return true;
    }
    for (int level = ragged + 1; level < leaf->n_levels; level++) {
        inner *= leaf->dim[level];
        shape.dim[shape.rank++] = leaf->dim[level];
    }
    struct stk_col varied;
    if (!stk_col_varied(&varied, t->from->pool, c->dtype, v->rows, 0)) {
        stk_col_clear(&varied);
        return false;
    }
    for (int64_t i = 0; i < v->rows; i++) {
        int64_t count = v->bounds[i + 1] - v->bounds[i];
        shape.dim[0] = inner > 0 ? count / inner : 0;
        varied.shapes[i] = shape;
        varied.offsets[i + 1] = v->bounds[i + 1];
    }
    stk_buf_drop(varied.data_buf);
    varied.n = v->rows;
    varied.n_max = varied.value_max = 0;
    varied.data = c->data;
    varied.data_buf = c->data_buf;
    varied.keep = c->keep;
    *c = varied;
    return true;
}

static enum stoker_status take_leaf(struct stk_arrow_taking *t, struct stk_col *out)
{
    const struct stk_arrow_leaf *leaf = stk_arrow_leaf_of(t);
    int at = 0, level = 0, ragged = stk_arrow_leaf_ragged(leaf);
    enum stoker_status s = STOKER_OK;
    while (s == STOKER_OK && t->view.schema->format[0] == '+') {
        if (t->view.schema->format[1] == 's') {
            s = enter_struct(t, leaf->path[at++]);
            continue;
        }
        if (level > 0 && level <= ragged) { // row splits describe this level
            s = take_splits(t, &out[level]);
        }
        s = s == STOKER_OK ? enter_list(t, leaf->dim[level++]) : s;
    }
    s = s == STOKER_OK ? stk_arrow_values(t, &out[0]) : s;
    if (s == STOKER_OK && !shape_rows(t, &out[0])) {
        s = stk_arrow_no_memory(t);
    }
    for (int k = 0; s == STOKER_OK && k < stk_arrow_leaf_columns(leaf); k++) {
        stk_col_settle(&out[k]);
    }
    return s;
}

void stk_arrow_rows_free(struct stk_arrow_rows *r)
{
    stk_block_free(&r->block);
    stk_free(r->failed);
    *r = (struct stk_arrow_rows){0};
}

enum stoker_status stk_arrow_take(const struct stk_arrow_import *from, struct ArrowArray *array,
                                  struct stk_arrow_rows *out, struct stoker_err *err)
{
    struct stk_arrow_held *held = stk_alloc_zero(1, sizeof *held);
    struct stk_arrow_taking t = {.from = from, .held = held, .out = out, .err = err};
    int columns = 0;
    for (int k = 0; k < from->n_leaves; k++) {
        columns += stk_arrow_leaf_columns(&from->leaves[k]);
    }
    if (!held) {
        array->release(array);
        return stk_err_nomem(err);
    }
    *held = (struct stk_arrow_held){1, *array, stk_buf_hold(from->mapped)};
    *array = (struct ArrowArray){0};
    bool is_batch = held->array.length >= 0 && held->array.n_buffers >= 1 && held->array.buffers;
    enum stoker_status s = !is_batch
                               ? stk_err_set(err, STOKER_EDAMAGE, "a record batch has no length")
                           : stk_block_reset(&out->block, columns) ? STOKER_OK
                                                                   : stk_err_nomem(err);
    for (int column = 0; s == STOKER_OK && t.leaf < from->n_leaves; t.leaf++) {
        t.view = (struct stk_arrow_view){.schema = from->schema,
                                         .array = &held->array,
                                         .n = held->array.length,
                                         .rows = held->array.length};
        s = take_leaf(&t, &out->block.cols[column]);
        column += stk_arrow_leaf_columns(&from->leaves[t.leaf]);
        free_view(&t.view);
    }
    out->block.n = held->array.length;
    if (s != STOKER_OK) {
        stk_arrow_rows_free(out);
    }
    stk_arrow_drop_held(held);
    return s;
}
