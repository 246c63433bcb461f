// SPDX-License-Identifier: Apache-2.0
// Bump allocator. Blocks start at 4 KiB and double up to 1 MiB. A request larger than a block gets
// its own block, linked after the current one, whose rest stays usable. Blocks come zeroed from the
// system, so nothing is cleared twice.
#include "base/arena.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"
#include "base/vec.h"

#define ALIGNMENT 16
#define BLOCK_MIN ((size_t)4 << 10)
#define BLOCK_MAX ((size_t)1 << 20)

struct stk_arena_block {
    struct stk_arena_block *next;
    size_t used, size; // of bytes[]
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

void stk_arena_init(struct stk_arena *a, size_t cap_bytes)
{
    *a = (struct stk_arena){.cap_bytes = cap_bytes ? cap_bytes : (size_t)1 << 30};
}

void stk_arena_deinit(struct stk_arena *a)
{
    struct stk_arena_block *b = a->head;
    while (b) {
        struct stk_arena_block *next = b->next;
        stk_free(b);
        b = next;
    }
    *a = (struct stk_arena){.cap_bytes = a->cap_bytes};
}

void stk_arena_adopt(struct stk_arena *a, struct stk_arena *from)
{
    STK_ASSERT(a != from);
    STK_ASSERT(from->used_bytes <= from->cap_bytes);
    struct stk_arena_block *last = from->head;
    while (last && last->next) {
        last = last->next;
    }
    if (last) {
        // after the current block of `a`, whose rest stays usable
        last->next = a->head ? a->head->next : NULL;
        if (a->head) {
            a->head->next = from->head;
        } else {
            a->head = from->head;
        }
    }
    a->used_bytes += from->used_bytes;
    if (a->used_bytes > a->cap_bytes) {
        a->cap_bytes = a->used_bytes; // it allows no more, as before
    }
    *from = (struct stk_arena){.cap_bytes = from->cap_bytes};
}

static struct stk_arena_block *new_block(size_t size)
{
    struct stk_arena_block *b = stk_alloc_zero(1, sizeof *b + size);
    if (b) {
        b->size = size;
    }
    return b;
}

// A block with room for `size`: the current one, a new current one, or its own.
static struct stk_arena_block *block_for(struct stk_arena *a, size_t size)
{
    struct stk_arena_block *head = a->head;
    STK_ASSERT(size > 0 && size % ALIGNMENT == 0);
    STK_ASSERT(!head || head->used <= head->size);
    if (head && head->size - head->used >= size) {
        return head;
    }
    size_t want = head ? head->size * 2 : BLOCK_MIN;
    if (want > BLOCK_MAX) {
        want = BLOCK_MAX;
    }
    bool own = size > want / 4;
    struct stk_arena_block *b = new_block(own ? size : want);
    if (!b) {
        return NULL;
    }
    if (own && head) {
        b->next = head->next;
        head->next = b;
    } else {
        b->next = head;
        a->head = b;
    }
    return b;
}

void *stk_arena_alloc(struct stk_arena *a, size_t size)
{
    STK_ASSERT(a->used_bytes <= a->cap_bytes);
    if (size > PTRDIFF_MAX) {
        return NULL;
    }
    size_t rounded = ((size ? size : 1) + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (a->cap_bytes - a->used_bytes < rounded) {
        return stk_alloc_refuse();
    }
    struct stk_arena_block *b = block_for(a, rounded);
    if (!b) {
        return NULL;
    }
    void *p = b->bytes + b->used;
    b->used += rounded;
    STK_ASSERT(b->used <= b->size);
    a->used_bytes += rounded;
    return p;
}

void *stk_arena_array(struct stk_arena *a, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        return NULL;
    }
    return stk_arena_alloc(a, total);
}

void *stk_arena_items(struct stk_arena *a, const struct stk_vec *v)
{
    void *copy = stk_arena_array(a, v->count + 1, v->item_size);
    if (copy && v->count) {
        memcpy(copy, v->items, v->count * v->item_size);
    }
    return copy;
}

char *stk_arena_strndup(struct stk_arena *a, const char *p, size_t n)
{
    if (n == SIZE_MAX) {
        return NULL;
    }
    char *copy = stk_arena_alloc(a, n + 1);
    if (copy && n) {
        memcpy(copy, p, n);
    }
    return copy;
}

char *stk_arena_strdup(struct stk_arena *a, const char *p)
{
    return stk_arena_strndup(a, p, p ? strlen(p) : 0);
}

char *stk_arena_vprintf(struct stk_arena *a, const char *fmt, va_list args)
{
    char text[512];
    va_list again;
    va_copy(again, args);
    char *copy = NULL;
    int n = stk_text_vprintf(text, sizeof text, fmt, args);
    if (n >= 0 && (size_t)n < sizeof text) {
        copy = stk_arena_strndup(a, text, (size_t)n);
    } else if (n >= 0) {
        copy = stk_arena_alloc(a, (size_t)n + 1);
        if (copy) {
            stk_text_vprintf(copy, (size_t)n + 1, fmt, again);
        }
    }
    va_end(again);
    return copy;
}

char *stk_arena_printf(struct stk_arena *a, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *copy = stk_arena_vprintf(a, fmt, args);
    va_end(args);
    return copy;
}
