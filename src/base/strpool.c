// SPDX-License-Identifier: Apache-2.0
// Interned strings: a table of (32-bit hash, id) slots, open addressing, at most half full. The
// slot's hash gives its place and a check, so growing reads no string again and a lookup rarely
// reads one that differs. Text is stored in chunks and never moves.
#include "base/strpool.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/hash.h"

#define SLOTS_MIN ((size_t)256)
#define CHUNK_MIN ((size_t)16 << 10)
#define CHUNK_MAX ((size_t)1 << 20)

struct stk_strpool_slot {
    uint32_t tag;
    uint32_t id; // 0: empty slot (the empty string needs none)
};

struct stk_strpool_chunk {
    struct stk_strpool_chunk *next;
    size_t used, size;
    char bytes[];
};

static uint32_t tag_of(const char *s, size_t n)
{
    return (uint32_t)(stk_hash_table_bytes(s, n) >> 32);
}

int stk_strpool_init(struct stk_strpool *p, size_t cap_bytes)
{
    *p = (struct stk_strpool){.cap_bytes = cap_bytes ? cap_bytes : (size_t)4 << 30};
    p->capacity = (uint32_t)SLOTS_MIN / 2;
    p->slot_count = SLOTS_MIN;
    p->slots = stk_alloc_zero(p->slot_count, sizeof *p->slots);
    p->strings = stk_alloc_array(p->capacity, sizeof *p->strings);
    p->lengths = stk_alloc_array(p->capacity, sizeof *p->lengths);
    if (!p->slots || !p->strings || !p->lengths) {
        stk_strpool_deinit(p);
        return -1;
    }
    p->strings[0] = "";
    p->lengths[0] = 0;
    p->count = 1;
    return 0;
}

void stk_strpool_deinit(struct stk_strpool *p)
{
    struct stk_strpool_chunk *c = p->chunks;
    while (c) {
        struct stk_strpool_chunk *next = c->next;
        stk_free(c);
        c = next;
    }
    stk_free(p->slots);
    stk_free(p->strings);
    stk_free(p->lengths);
    *p = (struct stk_strpool){0};
}

// Index of the string's slot, or of the empty slot where it belongs.
static size_t find_slot(const struct stk_strpool *p, uint32_t tag, const char *s, size_t n)
{
    STK_ASSERT((p->slot_count & (p->slot_count - 1)) == 0);
    STK_ASSERT(p->count <= p->slot_count / 2);
    size_t mask = p->slot_count - 1;
    for (size_t i = tag & mask;; i = (i + 1) & mask) {
        const struct stk_strpool_slot *slot = &p->slots[i];
        if (slot->id == 0) {
            return i;
        }
        if (slot->tag == tag && p->lengths[slot->id] == n &&
            memcmp(p->strings[slot->id], s, n) == 0) {
            return i;
        }
    }
}

// The table holds at most slot_count / 2 ids; ids and slots grow together.
static int grow(struct stk_strpool *p)
{
    STK_ASSERT(p->capacity == p->slot_count / 2 && p->count <= p->capacity);
    size_t slot_count = p->slot_count * 2, capacity = slot_count / 2;
    if (capacity >= STK_STRPOOL_FAILED) {
        return -1;
    }
    const char **strings = stk_realloc_array(p->strings, capacity, sizeof *strings);
    if (!strings) {
        return -1;
    }
    p->strings = strings;
    uint32_t *lengths = stk_realloc_array(p->lengths, capacity, sizeof *lengths);
    if (!lengths) {
        return -1;
    }
    p->lengths = lengths;
    struct stk_strpool_slot *slots = stk_alloc_zero(slot_count, sizeof *slots);
    if (!slots) {
        return -1;
    }
    for (size_t k = 0; k < p->slot_count; k++) {
        if (p->slots[k].id == 0) {
            continue;
        }
        size_t i = p->slots[k].tag & (slot_count - 1);
        while (slots[i].id) {
            i = (i + 1) & (slot_count - 1);
        }
        slots[i] = p->slots[k];
    }
    stk_free(p->slots);
    p->slots = slots;
    p->slot_count = slot_count;
    p->capacity = (uint32_t)capacity;
    return 0;
}

// Room for n bytes of text, NULL on failure. A long string gets its own chunk after the current
// one.
static char *text_capacity(struct stk_strpool *p, size_t n)
{
    if (n > p->cap_bytes - p->used_bytes) {
        return NULL;
    }
    struct stk_strpool_chunk *c = p->chunks;
    if (!c || c->size - c->used < n) {
        struct stk_strpool_chunk *head = c;
        size_t want = head ? head->size * 2 : CHUNK_MIN;
        if (want > CHUNK_MAX) {
            want = CHUNK_MAX;
        }
        int own = n > want / 4;
        size_t size = own ? n : want;
        c = stk_alloc(sizeof *c + size);
        if (!c) {
            return NULL;
        }
        *c = (struct stk_strpool_chunk){.size = size};
        if (own && head) {
            c->next = head->next;
            head->next = c;
        } else {
            c->next = head;
            p->chunks = c;
        }
    }
    char *capacity = c->bytes + c->used;
    c->used += n;
    p->used_bytes += n;
    STK_ASSERT(c->used <= c->size && p->used_bytes <= p->cap_bytes);
    return capacity;
}

uint32_t stk_strpool_find(const struct stk_strpool *p, const char *s, size_t n)
{
    if (n == 0) {
        return 0;
    }
    if (n >= UINT32_MAX || p->count == 0) {
        return STK_STRPOOL_FAILED;
    }
    uint32_t id = p->slots[find_slot(p, tag_of(s, n), s, n)].id;
    return id ? id : STK_STRPOOL_FAILED;
}

void stk_strpool_reindex(struct stk_strpool *p)
{
    memset(p->slots, 0, p->slot_count * sizeof *p->slots);
    for (uint32_t id = 1; id < p->count; id++) {
        uint32_t tag = tag_of(p->strings[id], p->lengths[id]);
        size_t i = find_slot(p, tag, p->strings[id], p->lengths[id]);
        if (p->slots[i].id == 0) {
            p->slots[i] = (struct stk_strpool_slot){tag, id};
        }
    }
}

uint32_t stk_strpool_intern(struct stk_strpool *p, const char *s, size_t n)
{
    STK_ASSERT(s || n == 0);
    if (n == 0) {
        return 0;
    }
    if (n >= UINT32_MAX || p->count == 0) {
        return STK_STRPOOL_FAILED;
    }
    uint32_t tag = tag_of(s, n);
    size_t i = find_slot(p, tag, s, n);
    if (p->slots[i].id) {
        return p->slots[i].id;
    }
    if (p->count == p->capacity) {
        if (grow(p)) {
            return STK_STRPOOL_FAILED;
        }
        i = find_slot(p, tag, s, n);
    }
    char *text = text_capacity(p, n + 1);
    if (!text) {
        return STK_STRPOOL_FAILED;
    }
    memcpy(text, s, n);
    text[n] = '\0';
    uint32_t id = p->count++;
    p->strings[id] = text;
    p->lengths[id] = (uint32_t)n;
    p->slots[i] = (struct stk_strpool_slot){tag, id};
    return id;
}
