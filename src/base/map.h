// SPDX-License-Identifier: Apache-2.0
// Open-addressing hash map from a 128-bit key (two words) to a 32-bit value. Callers hash strings
// themselves (see strpool) or use the words directly.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct stk_map_entry {
    uint64_t a, b;
    uint32_t value;
    uint32_t full;
};

struct stk_map {
    struct stk_map_entry *entries;
    size_t count, capacity, max_count;
};

void stk_map_init(struct stk_map *m, size_t max_count);
void stk_map_deinit(struct stk_map *m);
// Pointer to the value of the key, or NULL. Borrowed until the next put.
uint32_t *stk_map_get(const struct stk_map *m, uint64_t a, uint64_t b);
// Copies of the m->count entries by (a, b); the caller must free them; NULL on failure. The entries
// themselves are in a different order in every process.
struct stk_map_entry *stk_map_sorted(const struct stk_map *m);
// Value slot of the key, created with `initial` if absent; NULL on failure (memory, cap).
uint32_t *stk_map_put(struct stk_map *m, uint64_t a, uint64_t b, uint32_t initial, int *created);
