// SPDX-License-Identifier: Apache-2.0
// Columns of parsed Examples: growth by doubling, kept between batches.
#include "base/alloc.h"
#include "base/assert.h"
#include "engine/formats/example_impl.h"

// Makes *p hold at least `want` items. 0 ok, -1 not.
static int enlarge(void **p, size_t *capacity, size_t want, size_t item_size)
{
    if (want <= *capacity) {
        return 0;
    }
    size_t n = *capacity + *capacity / 2;
    n = n < want ? want : n;
    n = n < 16 ? 16 : n;
    void *grown = n > STK_EXAMPLE_VALUES_MAX ? NULL : stk_realloc_array(*p, n, item_size);
    if (!grown) {
        return -1;
    }
    *p = grown;
    *capacity = n;
    return 0;
}

int stk_example_reserve(struct stk_example_column *c, size_t more)
{
    STK_ASSERT(c->count <= c->capacity);
    if (more <= c->capacity - c->count) {
        return 0;
    }
    if (c->is_bound || more > STK_EXAMPLE_VALUES_MAX - c->count) {
        return -1;
    }
    return enlarge(&c->values, &c->capacity, c->count + more, stk_example_value_size(c->type));
}

int stk_example_reserve_steps(struct stk_example_column *c, size_t more)
{
    if (more > STK_EXAMPLE_VALUES_MAX) {
        return -1;
    }
    void *p = c->step_splits;
    int result = enlarge(&p, &c->step_capacity, c->steps + more + 1, sizeof *c->step_splits);
    c->step_splits = p;
    if (!result) {
        c->step_splits[0] = 0;
    }
    return result;
}

enum stoker_status stk_example_reserve_rows(struct stk_example_batch *b, size_t more,
                                            struct stoker_err *err)
{
    size_t want;
    if (__builtin_add_overflow(b->rows, more, &want) || want >= STK_EXAMPLE_VALUES_MAX) {
        return stk_err_nomem(err);
    }
    for (size_t i = 0; i < b->column_count; i++) {
        struct stk_example_column *c = &b->columns[i];
        bool is_plain = c->kind == STK_EXAMPLE_FIXED && !c->is_list;
        size_t values;
        if (is_plain && (__builtin_mul_overflow(c->elements, more, &values) ||
                         stk_example_reserve(c, values))) {
            if (c->is_bound) {
                return stk_err_set(err, STOKER_ELIMIT,
                                   "the buffer for feature %.200s has no room for %zu more rows",
                                   b->spec->features[i].name, more);
            }
            return stk_err_nomem(err);
        }
        if (is_plain) {
            continue;
        }
        void *p = c->row_splits;
        int failed = enlarge(&p, &c->row_capacity, want + 1, sizeof *c->row_splits);
        c->row_splits = p;
        if (failed) {
            return stk_err_nomem(err);
        }
        c->row_splits[0] = 0;
    }
    return STOKER_OK;
}

enum stoker_status stk_example_batch_open(struct stk_example_batch *b,
                                          const struct stk_example_spec *spec,
                                          struct stoker_err *err)
{
    *b = (struct stk_example_batch){.spec = spec};
    b->columns = stk_alloc_zero(spec->count + 1, sizeof *b->columns);
    if (!b->columns) {
        return stk_err_nomem(err);
    }
    b->column_count = spec->count;
    for (size_t i = 0; i < spec->count; i++) {
        const struct stk_example_feature *f = &spec->features[i];
        struct stk_example_column *c = &b->columns[i];
        *c = (struct stk_example_column){
            .type = f->type, .kind = f->kind, .is_list = f->is_list, .elements = f->elements};
        bool ragged_steps = f->is_list && f->kind == STK_EXAMPLE_RAGGED;
        if (ragged_steps && stk_example_reserve_steps(c, 1)) {
            return stk_err_nomem(err);
        }
    }
    return stk_example_reserve_rows(b, 0, err);
}

void stk_example_batch_close(struct stk_example_batch *b)
{
    for (size_t i = 0; i < b->column_count; i++) {
        struct stk_example_column *c = &b->columns[i];
        if (!c->is_bound) {
            stk_free(c->values);
        }
        stk_free(c->row_splits);
        stk_free(c->step_splits);
    }
    stk_free(b->columns);
    *b = (struct stk_example_batch){0};
}

void stk_example_batch_clear(struct stk_example_batch *b)
{
    b->rows = 0;
    for (size_t i = 0; i < b->column_count; i++) {
        b->columns[i].count = b->columns[i].steps = 0;
        b->columns[i].row_max = 0;
    }
}

enum stoker_status stk_example_bind(struct stk_example_batch *b, size_t column, void *values,
                                    size_t rows, struct stoker_err *err)
{
    struct stk_example_column *c = column < b->column_count ? &b->columns[column] : NULL;
    size_t capacity;
    if (!c || b->rows > 0 || c->kind != STK_EXAMPLE_FIXED || c->is_list ||
        __builtin_mul_overflow(rows, c->elements, &capacity)) {
        return stk_err_set(err, STOKER_EINVAL,
                           "only a fixed-length column of an empty batch can be bound");
    }
    if (!c->is_bound) {
        stk_free(c->values);
    }
    c->values = values;
    c->capacity = capacity;
    c->is_bound = true;
    return STOKER_OK;
}
