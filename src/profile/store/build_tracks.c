// SPDX-License-Identifier: Apache-2.0
// Table of tracks by key: open addressing over an array of entries, so that an entry's index is
// its id and entries stay in order of first appearance. A slot also has a part of the key's hash:
// in a full table, most requested keys are missing, and then no entry is read.
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "profile/store/build_impl.h"

#define INDEX_BITS 18u // of a slot: index + 1; the rest is of the hash
#define INDEX_MASK ((1u << INDEX_BITS) - 1)
_Static_assert(STK_TRACKS_MAX < INDEX_MASK, "an index and one fit into a slot");

struct key_words {
    int64_t kind, process, device, id, sid;
};

static uint64_t hash_key(const struct stk_track_entry *e)
{
    struct key_words w = {e->kind, e->process, e->device, e->id, e->sid};
    return stk_hash_table_bytes(&w, sizeof w);
}

static bool same_key(const struct stk_track_entry *a, const struct stk_track_entry *b)
{
    return a->id == b->id && a->process == b->process && a->device == b->device &&
           a->kind == b->kind && a->sid == b->sid;
}

void stk_tracks_init(struct stk_track_table *t)
{
    stk_vec_init(&t->entries, sizeof(struct stk_track_entry), STK_TRACKS_MAX);
    t->slots = NULL;
    t->slot_count = 0;
}

void stk_tracks_deinit(struct stk_track_table *t)
{
    stk_vec_deinit(&t->entries);
    stk_free(t->slots);
    stk_tracks_init(t);
}

// The key's slot: it has the key's entry, or is the free one where it belongs. *tag gets the slot's
// part of the hash.
static uint32_t *find_slot(uint32_t *slots, uint32_t slot_count, const struct stk_track_table *t,
                           const struct stk_track_entry *e, uint32_t *tag)
{
    uint64_t hash = hash_key(e);
    uint32_t mask = slot_count - 1, i = (uint32_t)hash & mask;
    *tag = (uint32_t)(hash >> 32) & ~INDEX_MASK;
    while (slots[i] && ((slots[i] & ~INDEX_MASK) != *tag ||
                        !same_key(stk_tracks_at(t, (slots[i] & INDEX_MASK) - 1), e))) {
        i = (i + 1) & mask;
    }
    return &slots[i];
}

static bool grow(struct stk_track_table *t)
{
    uint32_t slot_count = t->slot_count ? t->slot_count * 2 : 64;
    uint32_t *slots = stk_alloc_large(slot_count, sizeof *slots);
    if (!slots) {
        return false;
    }
    memset(slots, 0, slot_count * sizeof *slots); // zeroed pages that are read first fault twice
    for (uint32_t i = 0; i < t->entries.count; i++) {
        uint32_t tag;
        uint32_t *slot = find_slot(slots, slot_count, t, stk_tracks_at(t, i), &tag);
        *slot = tag | (i + 1);
    }
    stk_free(t->slots);
    t->slots = slots;
    t->slot_count = slot_count;
    return true;
}

uint32_t stk_tracks_put(struct stk_track_table *t, const struct stk_track_entry *e)
{
    if ((t->entries.count + 1) * 2 > t->slot_count && !grow(t)) {
        return STK_NONE;
    }
    uint32_t tag;
    uint32_t *slot = find_slot(t->slots, t->slot_count, t, e, &tag);
    if (*slot) {
        return (*slot & INDEX_MASK) - 1;
    }
    if (stk_tracks_full(t)) {
        return STK_NONE;
    }
    struct stk_track_entry *added = stk_vec_push(&t->entries);
    if (!added) {
        return STK_NONE;
    }
    added->kind = e->kind;
    added->process = e->process;
    added->device = e->device;
    added->id = e->id;
    added->sid = e->sid;
    uint32_t index = (uint32_t)t->entries.count - 1;
    *slot = tag | (index + 1);
    return index;
}
