// SPDX-License-Identifier: Apache-2.0
// Classes and series of collectives (collective_classes.h): two maps from their keys to their rows.
// A text is copied once per class that has it.
#include "profile/model/collectives/collective_classes.h"

#include <string.h>

#include "base/str.h"

#define CLASSES_MAX (UINT32_MAX - 1)

uint64_t stk_collective_group_hash(struct stk_str members, int64_t size)
{
    return (stk_hash_bytes(members.p, members.n) ^ stk_hash_u64((uint64_t)size)) | 1;
}

static void class_list_init(struct stk_class_list *l, struct stk_arena *arena)
{
    l->arena = arena;
    stk_vec_init(&l->classes, sizeof(struct stk_collective_class), CLASSES_MAX);
    stk_vec_init(&l->series, sizeof(struct stk_collective_series), CLASSES_MAX);
    stk_map_init(&l->class_ids, CLASSES_MAX);
    stk_map_init(&l->series_ids, CLASSES_MAX);
}

static bool take(struct stk_vec *v, const void *items, uint32_t count)
{
    void *at = count ? stk_vec_push_n(v, count) : NULL;
    if (at) {
        memcpy(at, items, count * v->item_size);
    }
    return at || !count;
}

bool stk_class_list_begin(struct stk_class_list *l, const struct stk_rank_sum *sum,
                          struct stk_arena *arena)
{
    class_list_init(l, arena);
    return take(&l->classes, sum->collective_classes, sum->collective_class_count) &&
           take(&l->series, sum->collective_series, sum->collective_series_count);
}

// Row of the series; STK_NONE: no memory.
static uint32_t series_of(struct stk_class_list *l, const struct stk_trace *t,
                          const struct stk_class_key *key)
{
    int created;
    uint64_t which = (uint64_t)key->members << 32 | key->name;
    uint32_t *at =
        stk_map_put(&l->series_ids, which, key->device, (uint32_t)l->series.count, &created);
    if (!at || !created) {
        return at ? *at : STK_NONE;
    }
    struct stk_collective_series *s = stk_vec_push(&l->series);
    if (!s) {
        return STK_NONE;
    }
    struct stk_str name = stk_strpool_get(&t->strings, key->name);
    *s = (struct stk_collective_series){.name_hash = stk_hash_bytes(name.p, name.n),
                                        .group_hash = key->group_hash,
                                        .device = key->device};
    return *at;
}

static const char *text_of(struct stk_class_list *l, const struct stk_trace *t, uint32_t id)
{
    struct stk_str text = stk_strpool_get(&t->strings, id);
    return stk_arena_strndup(l->arena, text.p, text.n);
}

static struct stk_collective_class *class_add(struct stk_class_list *l, const struct stk_trace *t,
                                              const struct stk_class_key *key)
{
    uint32_t series = series_of(l, t, key);
    struct stk_collective_class *c = series == STK_NONE ? NULL : stk_vec_push(&l->classes);
    if (!c) {
        return NULL;
    }
    *c = (struct stk_collective_class){.name = text_of(l, t, key->name),
                                       .group = key->group == STK_NONE ? NULL
                                                                       : text_of(l, t, key->group),
                                       .bytes = key->bytes,
                                       .group_size = key->group_size,
                                       .members_hash = key->members_hash,
                                       .series = series,
                                       .device = key->device,
                                       .kind = key->kind};
    return c->name && (c->group || key->group == STK_NONE) ? c : NULL;
}

bool stk_class_list_place(struct stk_class_list *l, const struct stk_trace *t,
                          const struct stk_class_key *key, struct stk_collective *c)
{
    uint64_t name = (uint64_t)key->name << 32 | key->device;
    uint64_t parts[] = {(uint64_t)key->group << 32 | key->members, (uint64_t)key->bytes,
                        (uint64_t)key->group_size, key->members_hash, key->kind};
    int created;
    uint32_t *at = stk_map_put(&l->class_ids, stk_hash_bytes(parts, sizeof parts), name,
                               (uint32_t)l->classes.count, &created);
    if (!at) {
        return false;
    }
    uint32_t index = *at;
    const struct stk_collective_class *class =
        created ? class_add(l, t, key) : stk_vec_at(&l->classes, index);
    if (!class) {
        return false;
    }
    struct stk_collective_series *s = stk_vec_at(&l->series, class->series);
    stk_collective_set_class(c, index);
    c->ordinal = s->count++;
    return true;
}

bool stk_class_list_end(struct stk_class_list *l, bool ok, struct stk_rank_sum *sum)
{
    if (ok) {
        sum->collective_classes = stk_arena_items(l->arena, &l->classes);
        sum->collective_series = stk_arena_items(l->arena, &l->series);
        ok = (sum->collective_classes || !l->classes.count) &&
             (sum->collective_series || !l->series.count);
        sum->collective_class_count = ok ? (uint32_t)l->classes.count : 0;
        sum->collective_series_count = ok ? (uint32_t)l->series.count : 0;
    }
    stk_vec_deinit(&l->classes);
    stk_vec_deinit(&l->series);
    stk_map_deinit(&l->class_ids);
    stk_map_deinit(&l->series_ids);
    return ok;
}
