// SPDX-License-Identifier: Apache-2.0
// Growable array: capacity doubles, never beyond max_count items.
#include "base/vec.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

void stk_vec_init(struct stk_vec *v, size_t item_size, size_t max_count)
{
    *v = (struct stk_vec){.item_size = item_size, .max_count = max_count};
}

void stk_vec_deinit(struct stk_vec *v)
{
    stk_free(v->items);
    stk_vec_init(v, v->item_size, v->max_count);
}

int stk_vec_reserve(struct stk_vec *v, size_t count)
{
    STK_ASSERT(v->count <= v->capacity && v->capacity <= v->max_count);
    if (count <= v->capacity) {
        return 0;
    }
    if (count > v->max_count) {
        stk_alloc_refuse();
        return -1;
    }
    size_t capacity = v->capacity < 8 ? 8 : v->capacity;
    while (capacity < count) {
        capacity = capacity > v->max_count / 2 ? v->max_count : capacity * 2;
    }
    if (capacity > v->max_count) {
        capacity = v->max_count;
    }
    void *items = stk_realloc_array(v->items, capacity, v->item_size);
    if (!items) {
        return -1;
    }
    v->items = items;
    v->capacity = capacity;
    return 0;
}

void *stk_vec_push_n(struct stk_vec *v, size_t n)
{
    STK_ASSERT(v->item_size > 0 && v->count <= v->max_count);
    if (n > v->max_count - v->count) {
        return stk_alloc_refuse();
    }
    if (stk_vec_reserve(v, v->count + n)) {
        return NULL;
    }
    // Pushing nothing onto an empty array must not look like a failure.
    if (!v->items && stk_vec_reserve(v, v->max_count ? 1 : 0)) {
        return NULL;
    }
    void *slots = stk_vec_at(v, v->count);
    v->count += n;
    STK_ASSERT(v->count <= v->capacity);
    return slots;
}

void *stk_vec_push(struct stk_vec *v)
{
    void *slot = stk_vec_push_n(v, 1);
    if (slot) {
        memset(slot, 0, v->item_size);
    }
    return slot;
}
