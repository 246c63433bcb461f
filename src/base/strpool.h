// SPDX-License-Identifier: Apache-2.0
// Interned strings: each distinct byte string is stored once and identified by a small id. Id 0 is
// the empty string. Not thread-safe: readers with workers use one pool each and merge.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

#define STK_STRPOOL_FAILED UINT32_MAX

struct stk_strpool {
    struct stk_strpool_slot *slots; // hash table: hash tag and id
    size_t slot_count;
    const char **strings; // id -> NUL-terminated bytes
    uint32_t *lengths;    // id -> length
    uint32_t count, capacity;
    struct stk_strpool_chunk *chunks;
    size_t used_bytes, cap_bytes;
};

// cap_bytes bounds the stored text; 0 means 4 GiB.
int stk_strpool_init(struct stk_strpool *p, size_t cap_bytes); // 0 ok, -1 no memory
void stk_strpool_deinit(struct stk_strpool *p);
// Id of the string, or STK_STRPOOL_FAILED (memory or cap).
uint32_t stk_strpool_intern(struct stk_strpool *p, const char *s, size_t n);
// Id if present, else STK_STRPOOL_FAILED.
uint32_t stk_strpool_find(const struct stk_strpool *p, const char *s, size_t n);
// Call it after changing strings[] and lengths[]: finds the new texts from then on, not the old
// ones. Of equal texts the first id is found.
void stk_strpool_reindex(struct stk_strpool *p);
// Borrowed until deinit; NUL-terminated.
static inline struct stk_str stk_strpool_get(const struct stk_strpool *p, uint32_t id)
{
    return id < p->count ? (struct stk_str){p->strings[id], p->lengths[id]} : STK_STR("");
}
