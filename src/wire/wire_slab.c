// SPDX-License-Identifier: Apache-2.0
// Slabs of a mapped file; see wire_slab.h. After the process was killed, a reader relies on the
// order of stores: payload and the rest of the header, then the magic.
#include "wire/wire_slab.h"

#include <string.h>

#include "base/assert.h"
#include "base/crc32c.h"

#define STRING_MAX 4096u
#define HEAD sizeof(struct stk_wire_block)

_Static_assert(sizeof(struct stk_wire_header) + 2048 < STK_WIRE_EPILOGUE_BYTES,
               "the epilogue has some sentences");

uint64_t stk_wire_slabs_bytes(uint64_t slabs)
{
    return STK_WIRE_EPILOGUE_BYTES + slabs * STK_WIRE_SLAB_BYTES;
}

void stk_wire_slabs_begin(struct stk_wire_slabs *s, uint8_t *base, uint64_t bytes,
                          const char *producer, uint64_t pid, uint64_t mono_ns, uint64_t real_ns)
{
    struct stk_wire_header h = {.version = STK_WIRE_VERSION,
                                .header_bytes = sizeof h,
                                .flags = STK_WIRE_HAS_ELEMENTS,
                                .pid = pid,
                                .mono_ns = mono_ns,
                                .real_ns = real_ns};
    STK_ASSERT(bytes >= STK_WIRE_EPILOGUE_BYTES);
    memcpy(h.magic, STK_WIRE_MAGIC, sizeof h.magic);
    memcpy(h.producer, producer, strnlen(producer, sizeof h.producer - 1));
    memcpy(base, &h, sizeof h);
    s->base = base;
    atomic_store(&s->next, 0);
    atomic_store(&s->next_id, 1);
    atomic_store(&s->next_writer, 0);
    atomic_store(&s->lost, 0);
    atomic_store(&s->end, bytes);
}

void stk_wire_slabs_grow(struct stk_wire_slabs *s, uint64_t bytes)
{
    atomic_store_explicit(&s->end, bytes, memory_order_release);
}

static uint64_t slabs_laid_out(const struct stk_wire_slabs *s)
{
    uint64_t end = atomic_load_explicit(&s->end, memory_order_acquire);
    return (end - STK_WIRE_EPILOGUE_BYTES) / STK_WIRE_SLAB_BYTES;
}

uint64_t stk_wire_slabs_left(const struct stk_wire_slabs *s)
{
    uint64_t laid_out = slabs_laid_out(s), taken = atomic_load(&s->next);
    return laid_out > taken ? laid_out - taken : 0;
}

struct stk_wire_slab stk_wire_slabs_epilogue(struct stk_wire_slabs *s)
{
    return (struct stk_wire_slab){.slabs = s,
                                  .at = sizeof(struct stk_wire_header),
                                  .end = STK_WIRE_EPILOGUE_BYTES - HEAD}; // minus the END mark
}

// Takes a new slab. The counter only moves if there is one, so it counts the slabs taken.
static bool take_slab(struct stk_wire_slab *w)
{
    struct stk_wire_slabs *s = w->slabs;
    uint64_t n = atomic_load(&s->next);
    do {
        if (n >= slabs_laid_out(s)) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(&s->next, &n, n + 1));
    w->at = stk_wire_slabs_bytes(n);
    w->end = w->at + STK_WIRE_SLAB_BYTES;
    return true;
}

static bool has_room(const struct stk_wire_slab *w, size_t size)
{
    return w->at + size <= w->end;
}

// Opens a block of the type with room for `size` bytes.
static bool open_block(struct stk_wire_slab *w, enum stk_wire_type type, size_t size)
{
    if (!has_room(w, HEAD + size) && (w->end == STK_WIRE_EPILOGUE_BYTES - HEAD || !take_slab(w))) {
        return false;
    }
    if (!w->is_numbered) {
        w->number = atomic_fetch_add(&w->slabs->next_writer, 1);
        w->is_numbered = true;
    }
    w->block = w->at;
    w->at += HEAD;
    w->type = (uint16_t)type;
    w->count = 0;
    w->first_ns = w->last_ns = 0;
    w->crc = 0;
    w->published = w->at;
    return true;
}

void *stk_wire_slab_put(struct stk_wire_slab *w, enum stk_wire_type type, size_t size,
                        uint64_t first_ns, uint64_t last_ns)
{
    STK_ASSERT(size && size % 8 == 0 && HEAD + size <= STK_WIRE_SLAB_BYTES);
    if (w->block && (w->type != type || !has_room(w, size))) {
        stk_wire_slab_commit(w);
    }
    if (!w->block && !open_block(w, type, size)) {
        atomic_fetch_add_explicit(&w->slabs->lost, 1, memory_order_relaxed);
        return NULL;
    }
    w->first_ns = w->count == 0 || first_ns < w->first_ns ? first_ns : w->first_ns;
    w->last_ns = last_ns > w->last_ns ? last_ns : w->last_ns;
    w->count++;
    void *room = w->slabs->base + w->at;
    w->at += size;
    return room;
}

static void put_head(struct stk_wire_slab *w, struct stk_wire_block *h, uint64_t at)
{
    uint8_t *to = w->slabs->base + at;
    h->magic = STK_WIRE_BLOCK_MAGIC;
    h->head_crc = 0;
    h->head_crc = stk_crc32c(0, h, sizeof *h);
    memcpy(to + sizeof h->magic, (const uint8_t *)h + sizeof h->magic, HEAD - sizeof h->magic);
    atomic_thread_fence(memory_order_release);
    memcpy(to, &h->magic, sizeof h->magic);
}

void stk_wire_slab_publish(struct stk_wire_slab *w)
{
    if (!w->block || w->published == w->at) {
        return;
    }
    w->crc = stk_crc32c(w->crc, w->slabs->base + w->published, w->at - w->published);
    w->published = w->at;
    struct stk_wire_block h = {.type = w->type,
                               .length = (uint32_t)(w->at - w->block - HEAD),
                               .count = w->count,
                               .writer = w->number,
                               .sequence = w->sequence,
                               .crc = w->crc,
                               .first_ns = w->first_ns,
                               .last_ns = w->last_ns};
    put_head(w, &h, w->block);
}

void stk_wire_slab_commit(struct stk_wire_slab *w)
{
    if (w->block) {
        stk_wire_slab_publish(w);
        w->sequence++;
        w->block = 0;
    }
}

uint32_t stk_wire_slab_string(struct stk_wire_slab *w, const char *text, size_t n)
{
    n = n < STRING_MAX ? n : STRING_MAX;
    struct stk_wire_string s = {0, (uint32_t)n};
    size_t padded = (n + 7) & ~(size_t)7;
    uint8_t *room = stk_wire_slab_put(w, STK_WIRE_STRINGS, sizeof s + padded, 0, 0);
    if (!room) {
        return 0;
    }
    s.id = atomic_fetch_add_explicit(&w->slabs->next_id, 1, memory_order_relaxed);
    memcpy(room, &s, sizeof s);
    memset(room + sizeof s, 0, padded);
    memcpy(room + sizeof s, text, n);
    return s.id;
}

uint32_t stk_wire_slab_track(struct stk_wire_slab *w, enum stk_wire_track_kind kind, int64_t number,
                             int device, uint32_t name)
{
    struct stk_wire_track t = {.kind = kind, .number = number, .device = device, .name = name};
    void *room = stk_wire_slab_put(w, STK_WIRE_TRACKS, sizeof t, 0, 0);
    if (!room) {
        return 0;
    }
    t.id = atomic_fetch_add_explicit(&w->slabs->next_id, 1, memory_order_relaxed);
    memcpy(room, &t, sizeof t);
    return t.id;
}

void stk_wire_slab_end(struct stk_wire_slab *w)
{
    struct stk_wire_block end = {.type = STK_WIRE_END};
    stk_wire_slab_commit(w);
    put_head(w, &end, STK_WIRE_EPILOGUE_BYTES - HEAD);
}
