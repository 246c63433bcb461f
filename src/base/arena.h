// SPDX-License-Identifier: Apache-2.0
// Bump allocator: many small objects with the same lifetime (trace, result, request), freed
// together.
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct stk_arena {
    struct stk_arena_block *head; // newest first
    size_t used_bytes;            // allocated
    size_t cap_bytes;             // grows no further than this
};

// cap_bytes 0 means 1 GiB. Nothing is allocated until the first request.
void stk_arena_init(struct stk_arena *a, size_t cap_bytes);
void stk_arena_deinit(struct stk_arena *a);
// Zeroed, aligned to 16 bytes; NULL when memory or the cap is exhausted. Valid until deinit.
void *stk_arena_alloc(struct stk_arena *a, size_t size);
void *stk_arena_array(struct stk_arena *a, size_t count, size_t size);
// Moves everything in `from` to `a`: it now lives as long as `a`, and `from` is empty.
void stk_arena_adopt(struct stk_arena *a, struct stk_arena *from);
// A copy of the vector's items; not NULL even without items.
struct stk_vec;
void *stk_arena_items(struct stk_arena *a, const struct stk_vec *v);
// NUL-terminated copy of n bytes; NULL on failure.
char *stk_arena_strndup(struct stk_arena *a, const char *p, size_t n);
char *stk_arena_strdup(struct stk_arena *a, const char *p);
char *stk_arena_vprintf(struct stk_arena *a, const char *fmt, va_list args);
char *stk_arena_printf(struct stk_arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
