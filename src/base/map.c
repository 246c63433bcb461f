// SPDX-License-Identifier: Apache-2.0
// Hash map with open addressing and linear probing: a power of two of slots, at most 2/3 full.
// Sorts many entries byte by byte from the lowest one (radix sort), skipping bytes in which all
// agree; few entries, or without memory for a second array, by comparing.
#include "base/map.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/hash.h"
#include "base/sort.h"

#define SLOTS_MIN 16
#define RADIX_FROM 2048 // entries
#define KEY_BYTES 16u

void stk_map_init(struct stk_map *m, size_t max_count)
{
    *m = (struct stk_map){.max_count = max_count};
}

void stk_map_deinit(struct stk_map *m)
{
    stk_free(m->entries);
    stk_map_init(m, m->max_count);
}

static size_t slot_of(uint64_t a, uint64_t b, size_t capacity)
{
    STK_ASSERT(capacity > 0 && (capacity & (capacity - 1)) == 0);
    return (size_t)stk_hash_table_pair(a, b) & (capacity - 1);
}

// The key's entry, or the empty one where it belongs. There is always an empty one.
static struct stk_map_entry *find(struct stk_map_entry *entries, size_t capacity, uint64_t a,
                                  uint64_t b)
{
    size_t i = slot_of(a, b, capacity);
    while (entries[i].full && (entries[i].a != a || entries[i].b != b)) {
        i = (i + 1) & (capacity - 1);
    }
    return &entries[i];
}

uint32_t *stk_map_get(const struct stk_map *m, uint64_t a, uint64_t b)
{
    STK_ASSERT(m->count <= m->capacity && m->count <= m->max_count);
    if (m->count == 0) {
        return NULL;
    }
    struct stk_map_entry *e = find(m->entries, m->capacity, a, b);
    return e->full ? &e->value : NULL;
}

static int grow(struct stk_map *m)
{
    size_t capacity = m->capacity ? m->capacity * 2 : SLOTS_MIN;
    STK_ASSERT(m->count < capacity);
    struct stk_map_entry *entries = stk_alloc_large(capacity, sizeof *entries);
    if (!entries) {
        return -1;
    }
    memset(entries, 0, capacity * sizeof *entries); // zeroed pages that are read first fault twice
    for (size_t i = 0; i < m->capacity; i++) {
        if (m->entries[i].full) {
            *find(entries, capacity, m->entries[i].a, m->entries[i].b) = m->entries[i];
        }
    }
    stk_free(m->entries);
    m->entries = entries;
    m->capacity = capacity;
    return 0;
}

uint32_t *stk_map_put(struct stk_map *m, uint64_t a, uint64_t b, uint32_t initial, int *created)
{
    if (created) {
        *created = 0;
    }
    uint32_t *value = stk_map_get(m, a, b);
    if (value) {
        return value;
    }
    if (m->count >= m->max_count) {
        return stk_alloc_refuse();
    }
    if (m->count + 1 > m->capacity / 3 * 2 && grow(m)) {
        return NULL;
    }
    struct stk_map_entry *e = find(m->entries, m->capacity, a, b);
    STK_ASSERT(!e->full && m->count < m->capacity);
    *e = (struct stk_map_entry){.a = a, .b = b, .value = initial, .full = 1};
    m->count++;
    if (created) {
        *created = 1;
    }
    return &e->value;
}

STK_ORDER(compare_keys, struct stk_map_entry, STK_UP(a) STK_UP(b))

// Byte of the key, 0 the lowest of b.
static unsigned key_byte(const struct stk_map_entry *e, unsigned byte)
{
    return (byte < 8 ? e->b >> 8 * byte : e->a >> 8 * (byte - 8)) & 0xff;
}

// Moves entries to the other array by one byte; stable. False: all agree, and nothing was done.
static bool scatter(const struct stk_map_entry *from, struct stk_map_entry *to, size_t n,
                    unsigned byte)
{
    size_t at[257] = {0};
    for (size_t i = 0; i < n; i++) {
        at[key_byte(&from[i], byte) + 1]++;
    }
    if (at[key_byte(&from[0], byte) + 1] == n) {
        return false;
    }
    for (unsigned k = 0; k < 256; k++) {
        at[k + 1] += at[k];
    }
    for (size_t i = 0; i < n; i++) {
        to[at[key_byte(&from[i], byte)]++] = from[i];
    }
    return true;
}

// The sorted array, one of the two; frees the other.
static struct stk_map_entry *radix_sort(struct stk_map_entry *entries, struct stk_map_entry *other,
                                        size_t n)
{
    for (unsigned byte = 0; byte < KEY_BYTES; byte++) {
        if (scatter(entries, other, n, byte)) {
            struct stk_map_entry *swapped = entries;
            entries = other;
            other = swapped;
        }
    }
    stk_free(other);
    return entries;
}

struct stk_map_entry *stk_map_sorted(const struct stk_map *m)
{
    struct stk_map_entry *sorted = stk_alloc_array(m->count + 1, sizeof *sorted), *other = NULL;
    size_t n = 0;
    for (size_t i = 0; sorted && i < m->capacity; i++) {
        if (m->entries[i].full) {
            sorted[n++] = m->entries[i];
        }
    }
    if (sorted && n >= RADIX_FROM && (other = stk_alloc_array(n, sizeof *other))) {
        return radix_sort(sorted, other, n);
    }
    stk_sort(sorted, n, sizeof *sorted, compare_keys);
    return sorted;
}
