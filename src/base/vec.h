// SPDX-License-Identifier: Apache-2.0
// Growable array of fixed-size items with a cap. Use through the typed macros:
//   struct stk_vec v; stk_vec_init(&v, sizeof(struct item), max_items);
//   struct item *it = stk_vec_push(&v);  // NULL: out of memory or at the cap
#pragma once

#include <stddef.h>

struct stk_vec {
    void *items;
    size_t count, capacity, item_size, max_count;
};

void stk_vec_init(struct stk_vec *v, size_t item_size, size_t max_count);
void stk_vec_deinit(struct stk_vec *v);
void *stk_vec_push(struct stk_vec *v);                // zeroed slot; NULL on failure
void *stk_vec_push_n(struct stk_vec *v, size_t n);    // n uninitialized slots
int stk_vec_reserve(struct stk_vec *v, size_t count); // 0 ok, -1 failed
// Like stk_vec_push, uninitialized.
static inline void *stk_vec_push_raw(struct stk_vec *v)
{
    if (v->count < v->capacity) {
        return (char *)v->items + v->count++ * v->item_size;
    }
    return stk_vec_push_n(v, 1);
}
static inline void *stk_vec_at(const struct stk_vec *v, size_t i)
{
    return (char *)v->items + i * v->item_size;
}
